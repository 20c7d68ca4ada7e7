"""Series: what one would be, making one, changing what is to come of it."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
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
from booking.api.fields import Day, Instant, Text, Wall, Whole, headcount, title, valid_body
from booking.api.person import person_of
from booking.models import Source, Visibility
from booking.planning import PlannedDate
from booking.recurrence import RULE_LENGTH
from booking.selectors import preview_series
from booking.services import OnClash, Scope

CLASHES = [(each.value, each.value) for each in OnClash]
SCOPES = [(each.value, each.value) for each in (Scope.FOLLOWING, Scope.ALL)]
MAX_MINUTES = 1440


def _rule(**more: Any) -> Text:
    help_text = "RFC 5545, with COUNT or UNTIL and without hours: FREQ=WEEKLY;COUNT=4."
    return Text(max_length=RULE_LENGTH, help_text=help_text, **more)


def _minutes(**more: Any) -> Whole:
    return Whole(min_value=1, max_value=MAX_MINUTES, **more)


class Wish(serializers.Serializer[Any]):
    """Wall times are those of the room's zone."""

    room = Text(max_length=20, help_text="A room's code.")
    first = Day(help_text="From this day on.")
    start = Wall()
    minutes = _minutes()
    recurrence = _rule()


class NewSeries(Wish):
    headcount = headcount()
    title = title(required=False, default="")
    visibility = serializers.ChoiceField(
        choices=Visibility.choices, required=False, default=Visibility.PUBLIC
    )
    on_clash = serializers.ChoiceField(
        choices=CLASHES,
        required=False,
        default=OnClash.REFUSE.value,
        help_text="Whether a date that cannot be had refuses the whole or is skipped for good.",
    )


class SeriesPatch(serializers.Serializer[Any]):
    """What is left out stays. One date alone is moved as a booking, with its `date`."""

    version = Whole(min_value=1, max_value=LARGEST, help_text="The one that was read.")
    scope = serializers.ChoiceField(choices=SCOPES)
    date = Day(required=False, help_text="With scope following: from this date of the series on.")
    room = Text(required=False, max_length=20)
    start = Wall(required=False)
    minutes = _minutes(required=False)
    recurrence = _rule(required=False)
    on_clash = serializers.ChoiceField(
        choices=CLASHES, required=False, default=OnClash.REFUSE.value
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if (given["scope"] == Scope.FOLLOWING) != ("date" in given):
            raise ValidationError({"date": ["following needs it, all has none."]}, code="order")
        return given


class PlannedSerializer(serializers.Serializer[Any]):
    """One date of a series that is not booked yet; `code` says why it cannot be had."""

    date = serializers.DateField()
    starts_at = Instant()
    ends_at = Instant()
    is_shifted = serializers.BooleanField(help_text="The clocks skip its wall time that day.")
    is_possible = serializers.BooleanField()
    code = serializers.SerializerMethodField()

    def get_code(self, planned: PlannedDate) -> str | None:
        return None if planned.is_possible else planned.code


class PreviewSerializer(serializers.Serializer[Any]):
    recurrence = serializers.CharField(source="rule")
    dates = PlannedSerializer(many=True)


class AllSeries(APIView):
    @extend_schema(
        parameters=[IDEMPOTENCY_KEY], request=NewSeries, responses={201: BookingSerializer}
    )
    def post(self, request: Request) -> Response:
        """Book a room on every date of a rule, at one wall time of its zone."""
        key = key_of(request)
        booking = services.book_series(
            organizer=person_of(request),
            source=Source.API,
            idempotency_key=key,
            now=timezone.now(),
            **valid_body(NewSeries, request),
        )
        return Response(BookingSerializer(booking).data, status=status.HTTP_201_CREATED)


class SeriesPreview(APIView):
    @extend_schema(request=Wish, responses=PreviewSerializer)
    def post(self, request: Request) -> Response:
        """What a series would be now; nothing is written."""
        given = valid_body(Wish, request)
        planned = preview_series(
            organizer=person_of(request),
            rule=given.pop("recurrence"),
            now=timezone.now(),
            **given,
        )
        return Response(PreviewSerializer(planned).data)


class OneSeries(APIView):
    @extend_schema(request=SeriesPatch, responses=BookingSerializer)
    def patch(self, request: Request, booking_id: int) -> Response:
        """Change what is to come; answers with the booking the coming dates now belong to."""
        visible_or_404(request, booking_id)
        given = valid_body(SeriesPatch, request)
        booking = services.change_series(
            booking_id,
            by=person_of(request),
            recurrence_date=given.pop("date", None),
            now=timezone.now(),
            source=Source.API,
            **given,
        )
        return Response(BookingSerializer(booking).data)
