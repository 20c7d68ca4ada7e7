"""What can be done to a booking besides changing it: being there, taking back, swapping."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from booking import services
from booking.api.bookings import LARGEST, BookingSerializer, visible_or_404
from booking.api.fields import Day, Whole, valid_body
from booking.api.person import person_of
from booking.models import Source


class Presence(serializers.Serializer[Any]):
    date = Day(required=False, help_text="Of a series: which date; else the one whose time it is.")


class Versioned(serializers.Serializer[Any]):
    version = Whole(
        min_value=1, max_value=LARGEST, required=False, help_text="The one that was read."
    )


class Side(Versioned):
    """One of the two that swap their places."""

    booking = Whole(min_value=1, max_value=2**63 - 1)
    date = Day(required=False, help_text="Of a series: which date.")


class Swap(serializers.Serializer[Any]):
    first = Side()
    second = Side()


class CheckInBooking(APIView):
    @extend_schema(request=Presence, responses=BookingSerializer)
    def post(self, request: Request, booking_id: int) -> Response:
        """Say that I am there; again is the same answer."""
        visible_or_404(request, booking_id)
        given = valid_body(Presence, request)
        booking = services.check_in(
            booking_id,
            by=person_of(request),
            now=timezone.now(),
            recurrence_date=given.get("date"),
            source=Source.API,
        )
        return Response(BookingSerializer(booking).data)


class RestoreBooking(APIView):
    @extend_schema(request=Versioned, responses=BookingSerializer)
    def post(self, request: Request, booking_id: int) -> Response:
        """Take my latest cancellation back, within minutes, where the room is still free."""
        visible_or_404(request, booking_id)
        given = valid_body(Versioned, request)
        booking = services.restore_booking(
            booking_id,
            by=person_of(request),
            now=timezone.now(),
            version=given.get("version"),
            source=Source.API,
        )
        return Response(BookingSerializer(booking).data)


class SwapBookings(APIView):
    @extend_schema(request=Swap, responses=BookingSerializer(many=True))
    def post(self, request: Request) -> Response:
        """Exchange room and time of two of my bookings, in one step."""
        given = valid_body(Swap, request)
        first, second = given["first"], given["second"]
        for each in (first, second):
            visible_or_404(request, each["booking"])
        swapped = services.swap_bookings(
            first["booking"],
            second["booking"],
            by=person_of(request),
            now=timezone.now(),
            first_version=first.get("version"),
            second_version=second.get("version"),
            first_date=first.get("date"),
            second_date=second.get("date"),
            source=Source.API,
        )
        return Response(BookingSerializer(swapped, many=True).data)
