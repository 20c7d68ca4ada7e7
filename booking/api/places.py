"""Sites with their buildings, and rooms."""

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import mixins, serializers, viewsets

from booking import diary
from booking.api.fields import Text, valid_query
from booking.forms.fields import MAX_SEATS
from booking.models import Building, Feature, Room, RoomPhoto, Site

NAMES = {"type": "object", "properties": {"en": {"type": "string"}, "zh": {"type": "string"}}}


@extend_schema_field(NAMES)
class Names(serializers.Field[Any, Any, dict[str, str], Any]):
    """A name in both languages."""

    def __init__(self) -> None:
        super().__init__(source="*", read_only=True)

    def to_representation(self, value: Any) -> dict[str, str]:
        return {"en": value.name_en, "zh": value.name_zh}


class BuildingSerializer(serializers.ModelSerializer[Building]):
    name = Names()

    class Meta:
        model = Building
        fields = ["id", "code", "name"]


class SiteSerializer(serializers.ModelSerializer[Site]):
    name = Names()
    buildings = BuildingSerializer(many=True, read_only=True)

    class Meta:
        model = Site
        fields = ["id", "name", "time_zone", "buildings"]


class FeatureSerializer(serializers.ModelSerializer[Feature]):
    name = Names()

    class Meta:
        model = Feature
        fields = ["code", "name"]


class RoomSerializer(serializers.ModelSerializer[Room]):
    name = Names()
    site = serializers.IntegerField(source="floor.building.site_id", read_only=True)
    time_zone = serializers.CharField(source="floor.building.site.time_zone", read_only=True)
    building = serializers.CharField(source="floor.building.code", read_only=True)
    floor = serializers.IntegerField(source="floor.number", read_only=True)
    features = serializers.ListField(
        source="feature_codes", child=serializers.CharField(), read_only=True
    )
    needs_approval = serializers.SerializerMethodField()
    photo = serializers.SerializerMethodField(help_text="Its address, for who is signed in.")

    class Meta:
        model = Room
        fields = [
            "code",
            "name",
            "site",
            "time_zone",
            "building",
            "floor",
            "seats",
            "features",
            "needs_approval",
            "photo",
        ]

    @extend_schema_field({"type": "string", "format": "uri-reference", "nullable": True})
    def get_photo(self, room: Any) -> str | None:
        return reverse("room-photo", args=[room.code]) if room.has_photo else None

    def get_needs_approval(self, room: Room) -> bool:
        return room.needs_approval or room.policy.needs_approval


class RoomsQuery(serializers.Serializer[Any]):
    """Which rooms; every part is optional and all of them have to hold."""

    site = serializers.IntegerField(required=False, min_value=1)
    building = Text(required=False, help_text="A building's code.")
    seats = serializers.IntegerField(
        required=False, min_value=1, max_value=MAX_SEATS, help_text="At least so many."
    )
    features = Text(
        required=False, help_text="Codes of what a room has to have, separated by commas."
    )


class SiteViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Site]):
    """Where there are rooms: a site has one time zone and some buildings."""

    queryset = Site.objects.prefetch_related("buildings").order_by("pk")
    serializer_class = SiteSerializer
    lookup_value_converter = "int"


class RoomViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Room]):
    """Rooms that can be booked."""

    queryset = (
        diary.rooms()
        .filter(is_active=True)
        .annotate(has_photo=Exists(RoomPhoto.objects.filter(room=OuterRef("pk"))))
        .order_by("code")
    )
    serializer_class = RoomSerializer
    lookup_field = "code"
    lookup_value_converter = "code"

    @extend_schema(parameters=[RoomsQuery])
    def list(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        return super().list(request, *args, **kwargs)

    def filter_queryset(self, queryset: Any) -> Any:
        if self.action != "list":
            return queryset
        return _filtered(queryset, valid_query(RoomsQuery, self.request))


def _filtered(rooms: QuerySet[Room], query: dict[str, Any]) -> QuerySet[Room]:
    if "site" in query:
        rooms = rooms.filter(floor__building__site=query["site"])
    if "building" in query:
        rooms = rooms.filter(floor__building__code=query["building"])
    if "seats" in query:
        rooms = rooms.filter(seats__gte=query["seats"])
    for code in filter(None, query.get("features", "").split(",")):
        rooms = rooms.filter(features__code=code.strip())
    return rooms
