"""Policies with their hours, quotas and rights, and special dates, in the administration."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from booking.admin.generic import ModelAdmin, TabularInline
from booking.models import Grant, OpeningHours, Policy, Quota, QuotaCounter, SpecialDate


class OpeningHoursInline(TabularInline[OpeningHours, Policy]):
    model = OpeningHours
    extra = 0


class QuotaInline(TabularInline[Quota, Policy]):
    model = Quota
    extra = 0


class GrantInline(TabularInline[Grant, Policy]):
    model = Grant
    extra = 0
    autocomplete_fields = ("group",)
    verbose_name_plural = _(
        "who may do what (everybody sees and books, unless you grant that to some)"
    )


@admin.register(Policy)
class PolicyAdmin(ModelAdmin[Policy]):
    list_display = (
        "name",
        "min_minutes",
        "max_minutes",
        "grid_minutes",
        "horizon_days",
        "needs_approval",
        "needs_check_in",
    )
    list_filter = ("needs_approval", "needs_check_in")
    search_fields = ("name",)
    inlines = (OpeningHoursInline, QuotaInline, GrantInline)
    fieldsets = (
        (None, {"fields": ("name",)}),
        (_("Length and grid"), {"fields": ("min_minutes", "max_minutes", "grid_minutes")}),
        (
            _("How early, how late"),
            {"fields": ("horizon_days", "notice_minutes", "grace_minutes")},
        ),
        (
            _("Around a booking"),
            {"fields": ("buffer_before_minutes", "buffer_after_minutes", "one_room_at_a_time")},
        ),
        (
            _("Approval"),
            {
                "fields": (
                    "needs_approval",
                    "approval_over_minutes",
                    "series_need_approval",
                    "request_hours",
                )
            },
        ),
        (
            _("Check-in"),
            {"fields": ("needs_check_in", "check_in_before_minutes", "check_in_grace_minutes")},
        ),
    )


@admin.register(SpecialDate)
class SpecialDateAdmin(ModelAdmin[SpecialDate]):
    list_display = ("date", "site", "name_en", "name_zh", "kind")
    list_filter = ("site", "follows_weekday")
    list_select_related = ("site",)
    search_fields = ("name_en", "name_zh")
    date_hierarchy = "date"

    @admin.display(description=_("open"), ordering="follows_weekday")
    def kind(self, special: SpecialDate) -> Any:
        if special.follows_weekday is None:
            return _("Closed")
        return _("Like a %(weekday)s") % {"weekday": special.get_follows_weekday_display()}


@admin.register(QuotaCounter)
class QuotaCounterAdmin(ModelAdmin[QuotaCounter]):
    """What people have used, as it was when they last booked; nothing to edit."""

    list_display = ("person", "quota", "starts_on", "bookings", "minutes")
    list_filter = ("quota",)
    list_select_related = ("person", "quota__policy")
    search_fields = ("person__username",)
    date_hierarchy = "starts_on"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
