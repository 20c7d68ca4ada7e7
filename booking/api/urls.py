"""The addresses below `/api/v1/`."""

from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import SimpleRouter

from booking.api.acts import CheckInBooking, RestoreBooking, SplitBooking, SwapBookings
from booking.api.approvals import Approvals, Approve, Reject
from booking.api.availability import BuildingAvailability, RoomAvailability
from booking.api.bookings import BookingHistory, Bookings, CancelBooking, OneBooking
from booking.api.places import RoomViewSet, SiteViewSet
from booking.api.problems import not_found
from booking.api.series import AllSeries, OneSeries, SeriesPreview

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
    path("bookings/<int:booking_id>/check-in/", CheckInBooking.as_view(), name="api-check-in"),
    path("bookings/<int:booking_id>/restore/", RestoreBooking.as_view(), name="api-restore"),
    path("bookings/split/", SplitBooking.as_view(), name="api-split"),
    path("bookings/swap/", SwapBookings.as_view(), name="api-swap"),
    path("series/", AllSeries.as_view(), name="api-series"),
    path("series/preview/", SeriesPreview.as_view(), name="api-series-preview"),
    path("series/<int:booking_id>/", OneSeries.as_view(), name="api-one-series"),
    path("approvals/", Approvals.as_view(), name="api-approvals"),
    path("approvals/<int:booking_id>/approve/", Approve.as_view(), name="api-approve"),
    path("approvals/<int:booking_id>/reject/", Reject.as_view(), name="api-reject"),
    path("", include(router.urls)),
    re_path("", not_found),
]
