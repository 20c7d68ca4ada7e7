"""The portal's addresses, at the root of the site."""

from django.urls import path
from django.views.generic import RedirectView

from booking.calendar import views as calendar
from booking.views import account, assistant, bookings

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="assistant"), name="home"),
    path("language/", account.choose_language, name="choose-language"),
    path("assistant/", assistant.assistant, name="assistant"),
    path("assistant/<str:thread_id>/", assistant.assistant, name="assistant-thread"),
    path("bookings/", bookings.my_bookings, name="my-bookings"),
    path("bookings/<int:booking_id>/cancel/", bookings.cancel, name="cancel-booking"),
    path("calendar/<str:token>.ics", calendar.person, name="calendar-feed"),
    path("calendar/<str:token>/rooms/<str:code>.ics", calendar.room, name="room-feed"),
]
