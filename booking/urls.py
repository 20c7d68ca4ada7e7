"""The portal's addresses, at the root of the site."""

from django.urls import include, path, register_converter
from django.views.generic import RedirectView

from booking.calendar import views as calendar
from booking.converters import CodeConverter
from booking.views import (
    account,
    approvals,
    assistant,
    attendance,
    booking,
    bookings,
    change,
    entry,
    photo,
    profile,
    rooms,
    split,
    swap,
    today,
)

register_converter(CodeConverter, "code")

urlpatterns = [
    path("api/v1/", include("booking.api.urls")),
    path("", RedirectView.as_view(pattern_name="assistant"), name="home"),
    path("language/", account.choose_language, name="choose-language"),
    path("assistant/", assistant.assistant, name="assistant"),
    path("assistant/<str:thread_id>/", assistant.assistant, name="assistant-thread"),
    path("today/", today.today, name="today"),
    path("rooms/", rooms.day_grid, name="rooms"),
    path("rooms/<code:code>/", rooms.room, name="room"),
    path("rooms/<code:code>/photo/", photo.photo, name="room-photo"),
    path("bookings/", bookings.my_bookings, name="my-bookings"),
    path("bookings/new/", entry.book, name="book"),
    path("bookings/split/", split.split, name="split"),
    path("bookings/<int:booking_id>/", booking.show, name="booking"),
    path("bookings/<int:booking_id>/change/", change.change, name="change-booking"),
    path("bookings/<int:booking_id>/swap/", swap.swap, name="swap-booking"),
    path("bookings/<int:booking_id>/cancel/", booking.cancel, name="cancel-booking"),
    path("bookings/<int:booking_id>/restore/", booking.restore, name="restore-booking"),
    path("bookings/<int:booking_id>/check-in/", attendance.check_in, name="check-in"),
    path("bookings/<int:booking_id>/decide/", approvals.decide, name="decide"),
    path("approvals/", approvals.approvals, name="approvals"),
    path("profile/", profile.profile, name="profile"),
    path("profile/token/", profile.renew_token, name="renew-token"),
    path("profile/token/revoke/", profile.revoke_token, name="revoke-token"),
    path("profile/feed/", profile.renew_feed, name="renew-feed"),
    path("profile/feed/revoke/", profile.revoke_feed, name="revoke-feed"),
    path("calendar/<str:token>.ics", calendar.person, name="calendar-feed"),
    path("calendar/<str:token>/rooms/<str:code>.ics", calendar.room, name="room-feed"),
]
