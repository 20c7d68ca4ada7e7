"""A person's bookings: list, make, change, cancel, and what happened to each."""

from datetime import datetime
from typing import Any

from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from booking import services
from booking.api.fields import (
    Day,
    Instant,
    Text,
    Whole,
    headcount,
    title,
    valid_body,
    valid_query,
)
from booking.api.offers import offering
from booking.api.paging import Pages
from booking.api.person import person_of
from booking.changing import change_booking
from booking.forms.cancelling import REASON_LENGTH
from booking.models import Booking, BookingChange, Occurrence, Source, Status, Visibility
from booking.models.agreements import KEY_LENGTH
from booking.selectors import bookings_of, history_of, visible_booking

LARGEST = 2**31 - 1
"""The largest version there can be."""
IDEMPOTENCY_KEY = OpenApiParameter(
    name="Idempotency-Key",
    type={"type": "string", "minLength": 1, "maxLength": KEY_LENGTH, "pattern": r"^[!-~]+$"},
    location=OpenApiParameter.HEADER,
    required=True,
    description="Of your choice, new for every booking: sent again it makes no second one.",
)


class OccurrenceSerializer(serializers.ModelSerializer[Occurrence]):
    """One use of one room; `date` is the day the rule of a series gave."""

    room = serializers.CharField(source="room.code")
    time_zone = serializers.CharField(source="room.floor.building.site.time_zone")
    starts_at = serializers.SerializerMethodField()
    ends_at = serializers.SerializerMethodField()
    status = serializers.SerializerMethodField()
    date = serializers.DateField(source="recurrence_date", allow_null=True)

    class Meta:
        model = Occurrence
        fields = ["room", "time_zone", "starts_at", "ends_at", "status", "date"]

    @extend_schema_field(serializers.ChoiceField(choices=Status.choices))
    def get_status(self, each: Occurrence) -> str:
        """The one that counts now, whether a chore has written it yet or not."""
        return each.status_at(timezone.now()).value

    def get_starts_at(self, each: Occurrence) -> datetime:
        return _local(each, each.starts_at)

    def get_ends_at(self, each: Occurrence) -> datetime:
        return _local(each, each.ends_at)


def _local(each: Occurrence, instant: datetime) -> datetime:
    return instant.astimezone(each.room.floor.building.site.zone)


class BookingSerializer(serializers.ModelSerializer[Booking]):
    organizer = serializers.SerializerMethodField()
    occurrences = OccurrenceSerializer(many=True)

    class Meta:
        model = Booking
        fields = [
            "id",
            "version",
            "organizer",
            "title",
            "visibility",
            "headcount",
            "recurrence",
            "source",
            "created_at",
            "updated_at",
            "occurrences",
        ]

    def get_organizer(self, booking: Booking) -> str:
        return booking.organizer.get_full_name() or booking.organizer.get_username()


class ChangeSerializer(serializers.ModelSerializer[BookingChange]):
    """One act: `before` and `after` are lists of occurrences, or details such as the title."""

    by = serializers.SerializerMethodField()

    class Meta:
        model = BookingChange
        fields = ["at", "by", "source", "action", "before", "after", "reason"]

    def get_by(self, change: BookingChange) -> str | None:
        if change.by is None:
            return None
        return change.by.get_full_name() or change.by.get_username()


class ListQuery(serializers.Serializer[Any]):
    starts_at = Instant(required=False, help_text="Nothing that is over by then.")
    ends_at = Instant(required=False, help_text="Nothing that begins later.")
    all = serializers.BooleanField(
        required=False, default=False, help_text="Also what is cancelled or over."
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if "starts_at" in given and "ends_at" in given and given["ends_at"] <= given["starts_at"]:
            raise ValidationError({"ends_at": [_("The end is after the start.")]}, code="order")
        return given


class NewBooking(serializers.Serializer[Any]):
    room = Text(max_length=20, help_text="A room's code.")
    starts_at = Instant()
    ends_at = Instant()
    headcount = headcount()
    title = title(required=False, default="")
    visibility = serializers.ChoiceField(
        choices=Visibility.choices, required=False, default=Visibility.PUBLIC
    )


class BookingPatch(serializers.Serializer[Any]):
    """What is left out stays. A start alone keeps the length; an end alone changes it."""

    version = Whole(min_value=1, max_value=LARGEST, help_text="The one that was read.")
    date = Day(required=False, help_text="Of a series: which of its dates to move.")
    room = Text(required=False, max_length=20)
    starts_at = Instant(required=False)
    ends_at = Instant(required=False)
    headcount = headcount(required=False)
    title = title(required=False)
    visibility = serializers.ChoiceField(choices=Visibility.choices, required=False)


class Cancellation(serializers.Serializer[Any]):
    version = Whole(
        min_value=1, max_value=LARGEST, required=False, help_text="The one that was read."
    )
    date = Day(required=False, help_text="Of a series: only this date, or from it on.")
    scope = serializers.ChoiceField(
        choices=[(each.value, each.value) for each in services.Scope],
        required=False,
        help_text="this (what a date means by itself), following, or all.",
    )
    reason = Text(required=False, max_length=REASON_LENGTH, allow_blank=True)


class Bookings(APIView):
    pagination_class = Pages

    @extend_schema(parameters=[ListQuery], responses=BookingSerializer(many=True))
    def get(self, request: Request) -> Response:
        """My bookings by their first start; without `all` those that still block a room."""
        given = valid_query(ListQuery, request)
        found = bookings_of(
            person_of(request),
            starts_at=given.get("starts_at"),
            ends_at=given.get("ends_at"),
            only_active=not given["all"],
        )
        pages = Pages()
        page = pages.paginate_queryset(found, request, view=self)
        return pages.get_paginated_response(BookingSerializer(page, many=True).data)

    @extend_schema(
        parameters=[IDEMPOTENCY_KEY], request=NewBooking, responses={201: BookingSerializer}
    )
    def post(self, request: Request) -> Response:
        """Book a room, or ask for it where it needs approval."""
        key = key_of(request)
        given = valid_body(NewBooking, request)
        with offering(person_of(request), given):
            booking = services.book_room(
                organizer=person_of(request),
                source=Source.API,
                idempotency_key=key,
                now=timezone.now(),
                **given,
            )
        return Response(BookingSerializer(booking).data, status=status.HTTP_201_CREATED)


class OneBooking(APIView):
    @extend_schema(responses=BookingSerializer)
    def get(self, request: Request, booking_id: int) -> Response:
        """One of mine, or somebody else's that is public."""
        return Response(BookingSerializer(visible_or_404(request, booking_id)).data)

    @extend_schema(request=BookingPatch, responses=BookingSerializer)
    def patch(self, request: Request, booking_id: int) -> Response:
        """Change what it says, when and where it is: all of it or nothing."""
        visible_or_404(request, booking_id)
        given = valid_body(BookingPatch, request)
        booking = change_booking(
            booking_id,
            by=person_of(request),
            source=Source.API,
            now=timezone.now(),
            recurrence_date=given.pop("date", None),
            **given,
        )
        return Response(BookingSerializer(booking).data)


class CancelBooking(APIView):
    @extend_schema(request=Cancellation, responses=BookingSerializer)
    def post(self, request: Request, booking_id: int) -> Response:
        """Cancel what of it is not over yet; with `date` only that date of a series."""
        visible_or_404(request, booking_id)
        given = valid_body(Cancellation, request)
        booking = services.cancel_booking(
            booking_id,
            by=person_of(request),
            now=timezone.now(),
            recurrence_date=given.pop("date", None),
            source=Source.API,
            **given,
        )
        return Response(BookingSerializer(booking).data)


class BookingHistory(APIView):
    @extend_schema(responses=ChangeSerializer(many=True))
    def get(self, request: Request, booking_id: int) -> Response:
        """What happened to a booking one may see, oldest first."""
        booking = visible_or_404(request, booking_id)
        changes = history_of(booking, person_of(request))
        return Response(ChangeSerializer(changes, many=True).data)


def visible_or_404(request: Request, booking_id: int) -> Booking:
    booking = visible_booking(person_of(request), booking_id)
    if booking is None:
        raise Http404
    return booking


def key_of(request: Request) -> str:
    key = request.headers.get("Idempotency-Key", "")
    if not 1 <= len(key) <= KEY_LENGTH or not (key.isascii() and key.isprintable()):
        words = _("Send 1 to %(length)s printable ASCII characters.") % {"length": KEY_LENGTH}
        raise ValidationError({"Idempotency-Key": [words]})
    return key
