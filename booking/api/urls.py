"""The addresses below `/api/v1/`."""

from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import SimpleRouter

from booking.api.availability import BuildingAvailability, RoomAvailability
from booking.api.bookings import BookingHistory, Bookings, CancelBooking, OneBooking
from booking.api.places import RoomViewSet, SiteViewSet
from booking.api.problems import not_found

router = SimpleRouter(use_regex_path=False)
router.register("sites", SiteViewSet, basename="api-site")
router.register("rooms", RoomViewSet, basename="api-room")

urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("availability/", BuildingAvailability.as_view(), name="api-availability"),
    path(
        "rooms/<code:code>/availability/", RoomAvailability.as_view(), name="api-room-availability"
    ),
    path("bookings/", Bookings.as_view(), name="api-bookings"),
    path("bookings/<int:booking_id>/", OneBooking.as_view(), name="api-booking"),
    path("bookings/<int:booking_id>/cancel/", CancelBooking.as_view(), name="api-cancel"),
    path("bookings/<int:booking_id>/history/", BookingHistory.as_view(), name="api-history"),
    path("", include(router.urls)),
    re_path("", not_found),
]
