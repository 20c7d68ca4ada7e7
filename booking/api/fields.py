"""Values as programs write them: strict, because a guess about a booking is a wrong booking."""

import re
from datetime import UTC, date, datetime, time
from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from booking.forms.fields import FIRST_DAY, LAST_DAY, MAX_SEATS
from booking.models.agreements import TITLE_LENGTH

WALL = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]", re.ASCII)


class Text(serializers.CharField):
    """A string and nothing that could be made one, as it was sent."""

    def __init__(self, **more: Any) -> None:
        super().__init__(trim_whitespace=False, **more)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data))


class Whole(serializers.IntegerField):
    """A JSON integer."""

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return int(super().to_internal_value(data))


@extend_schema_field(OpenApiTypes.DATETIME)
class Instant(serializers.Field[datetime, Any, str, Any]):
    """ISO 8601 with an offset; written in the zone of the context's room, if it has one."""

    default_error_messages = {
        "invalid": _("Give a date and time with an offset: 2026-12-01T15:00:00+08:00."),
        "range": _("No booking can be on that day."),
    }

    def to_internal_value(self, data: Any) -> datetime:
        try:
            instant = datetime.fromisoformat(data)
        except (TypeError, ValueError):
            self.fail("invalid")
        if instant.tzinfo is None:
            self.fail("invalid")
        if not FIRST_DAY <= instant.date() <= LAST_DAY:
            self.fail("range")
        return instant.astimezone(UTC)

    def to_representation(self, value: datetime) -> str:
        return value.isoformat()


class Day(serializers.DateField):
    """YYYY-MM-DD, of a day that every zone can tell the time of."""

    default_error_messages = {"range": _("No booking can be on that day.")}

    def __init__(self, **more: Any) -> None:
        super().__init__(input_formats=["%Y-%m-%d"], **more)

    def to_internal_value(self, value: Any) -> date:
        day: date = super().to_internal_value(value)
        if not FIRST_DAY <= day <= LAST_DAY:
            self.fail("range")
        return day


@extend_schema_field(
    {"type": "string", "pattern": r"^([01][0-9]|2[0-3]):[0-5][0-9]$", "example": "09:00"}
)
class Wall(serializers.Field[time, Any, str, Any]):
    """A time of the clock on the wall: HH:MM."""

    default_error_messages = {"invalid": _("Give a time of day: 09:00.")}

    def to_internal_value(self, data: Any) -> time:
        if not isinstance(data, str) or not WALL.fullmatch(data):
            self.fail("invalid")
        return time.fromisoformat(data)

    def to_representation(self, value: time) -> str:
        return f"{value:%H:%M}"


def headcount(**more: Any) -> Whole:
    return Whole(
        min_value=1, max_value=MAX_SEATS, help_text="Everybody, the organizer too.", **more
    )


def title(**more: Any) -> Text:
    return Text(max_length=TITLE_LENGTH, allow_blank=True, **more)


def valid_query(
    kind: type[serializers.Serializer[Any]], request: Request, *, only: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The query by a serializer. As a plain dict: an empty value is wrong, not left out."""
    given = request.query_params.dict()
    query = kind(data={name: given[name] for name in given if not only or name in only})
    query.is_valid(raise_exception=True)
    valid: dict[str, Any] = query.validated_data
    return valid


def valid_body(kind: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    body = kind(data=request.data)
    body.is_valid(raise_exception=True)
    valid: dict[str, Any] = body.validated_data
    return valid
