"""What can be done to a booking besides changing it: being there, taking back, swapping."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from booking import services
from booking.api.bookings import (
    IDEMPOTENCY_KEY,
    LARGEST,
    BookingSerializer,
    key_of,
    visible_or_404,
)
from booking.api.fields import Day, Instant, Text, Whole, headcount, title, valid_body
from booking.api.person import person_of
from booking.models import Source, Visibility
from booking.ranking import Part


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


class OnePart(serializers.Serializer[Any]):
    room = Text(max_length=20, help_text="A room's code.")
    headcount = headcount()


class NewSplit(serializers.Serializer[Any]):
    """One meeting in several rooms, as an alternative of the kind `split` has them."""

    parts = serializers.ListField(
        child=OnePart(), min_length=2, max_length=services.MOST_ROOMS, help_text="Different rooms."
    )
    starts_at = Instant()
    ends_at = Instant()
    title = title(required=False, default="")
    visibility = serializers.ChoiceField(
        choices=Visibility.choices, required=False, default=Visibility.PUBLIC
    )


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


class SplitBooking(APIView):
    @extend_schema(
        parameters=[IDEMPOTENCY_KEY],
        request=NewSplit,
        responses={201: BookingSerializer(many=True)},
    )
    def post(self, request: Request) -> Response:
        """Book two or three rooms for one meeting: all of them or none."""
        key = key_of(request)
        given = valid_body(NewSplit, request)
        parts = [Part(**each) for each in given.pop("parts")]
        bookings = services.book_rooms(
            organizer=person_of(request),
            parts=parts,
            source=Source.API,
            idempotency_key=key,
            now=timezone.now(),
            **given,
        )
        return Response(BookingSerializer(bookings, many=True).data, status=status.HTTP_201_CREATED)


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
