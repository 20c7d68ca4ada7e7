"""The portal's addresses, at the root of the site."""

from django.urls import path
from django.views.generic import RedirectView

from booking import views
from booking.calendar import views as calendar

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="assistant"), name="home"),
    path("language/", views.choose_language, name="choose-language"),
    path("assistant/", views.assistant, name="assistant"),
    path("assistant/<str:thread_id>/", views.assistant, name="assistant-thread"),
    path("bookings/", views.my_bookings, name="my-bookings"),
    path("bookings/<int:booking_id>/cancel/", views.cancel, name="cancel-booking"),
    path("calendar/<str:token>.ics", calendar.person, name="calendar-feed"),
    path("calendar/<str:token>/rooms/<str:code>.ics", calendar.room, name="room-feed"),
]
