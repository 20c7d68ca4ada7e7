"""What is free and what is taken: of a building on a day, of a room on some days."""

from datetime import timedelta
from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from booking import availability, diary
from booking.api.fields import Day, Instant, Text, valid_query
from booking.api.person import person_of
from booking.availability import RoomDay
from booking.models import Building

MAX_DAYS = 31


class SpanSerializer(serializers.Serializer[Any]):
    starts_at = Instant()
    ends_at = Instant()


class UseSerializer(SpanSerializer):
    status = serializers.CharField()
    booking = serializers.IntegerField(allow_null=True)
    title = serializers.CharField(allow_null=True)
    organizer = serializers.CharField(allow_null=True)
    is_mine = serializers.BooleanField()


class RoomDaySerializer(serializers.Serializer[Any]):
    """`title`, `organizer` and `booking` are null where somebody else's booking is private."""

    room = serializers.CharField()
    date = serializers.DateField()
    time_zone = serializers.CharField()
    free = SpanSerializer(many=True)
    taken = UseSerializer(many=True)


class BuildingQuery(serializers.Serializer[Any]):
    building = Text(help_text="A building's code.")
    site = serializers.IntegerField(
        required=False, min_value=1, help_text="Needed when two sites have a building of that code."
    )
    date = Day()


class DaysQuery(serializers.Serializer[Any]):
    date = Day(help_text="The first day.")
    days = serializers.IntegerField(required=False, default=1, min_value=1, max_value=MAX_DAYS)


class BuildingAvailability(APIView):
    """Every room of a building on one local day."""

    @extend_schema(parameters=[BuildingQuery], responses=RoomDaySerializer(many=True))
    def get(self, request: Request) -> Response:
        query = valid_query(BuildingQuery, request)
        found = Building.objects.select_related("site").filter(code=query["building"])
        if "site" in query:
            found = found.filter(site=query["site"])
        buildings = list(found[:2])
        if not buildings:
            raise Http404
        if len(buildings) > 1:
            raise ValidationError({"site": [_("Say of which site.")]}, code="unknown")
        rooms = availability.of_building(
            buildings[0], day=query["date"], viewer=person_of(request), now=timezone.now()
        )
        return Response([_written(each) for each in rooms])


class RoomAvailability(APIView):
    """One room on some local days."""

    @extend_schema(parameters=[DaysQuery], responses=RoomDaySerializer(many=True))
    def get(self, request: Request, code: str) -> Response:
        query = valid_query(DaysQuery, request)
        room = get_object_or_404(diary.rooms(), code=code, is_active=True)
        days = [query["date"] + timedelta(days=n) for n in range(query["days"])]
        found = availability.of_room(room, days=days, viewer=person_of(request), now=timezone.now())
        if not found:
            raise Http404
        return Response([_written(each) for each in found])


def _written(room: RoomDay) -> dict[str, Any]:
    zone = room.rules.zone
    return {
        "room": room.facts.code,
        "date": room.day.isoformat(),
        "time_zone": zone.key,
        "free": [
            {
                "starts_at": each.starts_at.astimezone(zone).isoformat(),
                "ends_at": each.ends_at.astimezone(zone).isoformat(),
            }
            for each in room.free
        ],
        "taken": [
            {
                "starts_at": each.during.starts_at.astimezone(zone).isoformat(),
                "ends_at": each.during.ends_at.astimezone(zone).isoformat(),
                "status": each.status,
                "booking": each.booking,
                "title": each.title,
                "organizer": each.organizer,
                "is_mine": each.is_mine,
            }
            for each in room.uses
        ],
    }
