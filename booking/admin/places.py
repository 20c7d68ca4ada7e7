"""Sites down to rooms, and profiles, in the administration."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from booking.admin.generic import ModelAdmin, PeopleAdmin, TabularInline
from booking.admin.photos import PHOTO_FIELDS, RoomForm, preview
from booking.models import (
    Building,
    Feature,
    Floor,
    Profile,
    Room,
    RoomPhoto,
    Site,
    SpecialDate,
)


class SpecialDateInline(TabularInline[SpecialDate, Site]):
    model = SpecialDate
    extra = 0


class FloorInline(TabularInline[Floor, Building]):
    model = Floor
    extra = 0
    show_change_link = True


class ProfileInline(TabularInline[Profile, User]):
    model = Profile
    can_delete = False
    verbose_name_plural = _("profile")
    autocomplete_fields = ("building",)


@admin.register(Site)
class SiteAdmin(ModelAdmin[Site]):
    list_display = ("__str__", "name_en", "name_zh", "time_zone")
    search_fields = ("name_en", "name_zh")
    inlines = (SpecialDateInline,)


@admin.register(Building)
class BuildingAdmin(ModelAdmin[Building]):
    list_display = ("code", "name_en", "name_zh", "site")
    list_filter = ("site",)
    list_select_related = ("site",)
    search_fields = ("code", "name_en", "name_zh")
    autocomplete_fields = ("site",)
    inlines = (FloorInline,)


@admin.register(Floor)
class FloorAdmin(ModelAdmin[Floor]):
    list_display = ("__str__", "building", "number")
    list_filter = ("building",)
    list_select_related = ("building",)
    search_fields = ("building__code", "building__name_en", "building__name_zh", "=number")
    autocomplete_fields = ("building",)


@admin.register(Feature)
class FeatureAdmin(ModelAdmin[Feature]):
    list_display = ("code", "name_en", "name_zh")
    search_fields = ("code", "name_en", "name_zh")


@admin.register(Room)
class RoomAdmin(ModelAdmin[Room]):
    form = RoomForm
    readonly_fields = ("photo_now",)
    list_display = (
        "code",
        "__str__",
        "floor",
        "seats",
        "feature_names",
        "policy",
        "needs_approval",
        "is_active",
    )
    list_filter = ("is_active", "floor__building", "features", "policy", "needs_approval")
    search_fields = ("code", "name_en", "name_zh", "aliases")
    autocomplete_fields = ("floor", "policy")
    filter_horizontal = ("features",)
    list_select_related = ("floor__building", "policy")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Room]:
        return super().get_queryset(request).prefetch_related("features")

    def get_fields(self, request: HttpRequest, obj: Room | None = None) -> Any:
        """The photo comes last; a room that has none yet has none to take away."""
        fields = [*super().get_fields(request, obj)]
        rest = [name for name in fields if name not in {"photo_now", *PHOTO_FIELDS}]
        is_kept = obj is not None and RoomPhoto.objects.filter(room=obj.pk).exists()
        return [*rest, *(("photo_now", *PHOTO_FIELDS) if is_kept else PHOTO_FIELDS[:1])]

    def save_model(
        self,
        request: HttpRequest,
        obj: Room,
        form: Any,
        change: bool,  # noqa: FBT001 - Django's signature
    ) -> None:
        super().save_model(request, obj, form, change)
        form.keep_photo(obj)

    @admin.display(description=_("photo"))
    def photo_now(self, room: Room) -> Any:
        return preview(room)

    @admin.display(description=_("features"))
    def feature_names(self, room: Room) -> str:
        return ", ".join(str(feature) for feature in room.features.all())


@admin.register(Profile)
class ProfileAdmin(ModelAdmin[Profile]):
    list_display = ("user", "building", "language")
    list_filter = ("building", "language")
    list_select_related = ("user", "building")
    search_fields = ("user__username", "user__first_name", "user__last_name")
    autocomplete_fields = ("user", "building")


class PersonAdmin(PeopleAdmin):
    """Django's own, with the profile beside the account."""

    inlines = (ProfileInline,)


admin.site.unregister(User)
admin.site.register(User, PersonAdmin)
