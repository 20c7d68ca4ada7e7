"""Bookings, their occurrences and their history in the administration.

Nothing here writes a booking: the form and the actions call the services, which is also why
bookings are cancelled, not deleted.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy as _

from agentruntime.models import Effect
from booking import services
from booking.admin.asking import (
    AskingAdmin,
    approve_selected,
    cancel_selected,
    reject_selected,
)
from booking.admin.forms import (
    PLACE_FIELDS,
    REPEAT_FIELDS,
    SERIES_FIELDS,
    BookingForm,
    SeriesForm,
    ServiceForm,
)
from booking.admin.generic import ModelForm, TabularInline
from booking.exceptions import BookingError
from booking.models import (
    Booking,
    BookingChange,
    Occurrence,
    Series,
    SeriesException,
    Source,
    Status,
    Visibility,
)
from booking.models.agreements import spoken_span
from booking.rights import approved_policies
from booking.visibility import Seen, may_see, seen, visible_to


class ReadOnlyInline(TabularInline[Any, Booking]):
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class OccurrenceInline(ReadOnlyInline):
    model = Occurrence
    fields = (
        "room",
        "starts_at",
        "ends_at",
        "status",
        "lapses_at",
        "recurrence_date",
        "is_shifted",
    )
    readonly_fields = fields
    show_change_link = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("room")


class SeriesInline(ReadOnlyInline):
    model = Series
    fields = ("room", "zone", "first", "start", "minutes")
    readonly_fields = fields


def _effect_link(effect: Effect | None) -> str:
    """A link to what the assistant did it with, "-" for what somebody did by hand."""
    if effect is None:
        return "-"
    try:
        url = reverse("admin:agentruntime_effect_change", args=[effect.pk])
    except NoReverseMatch:
        return str(effect)
    return format_html('<a href="{}">{}</a>', url, effect)


class SkippedDateInline(ReadOnlyInline):
    model = SeriesException
    fields = ("date", "rule")
    readonly_fields = fields


class BookingChangeInline(ReadOnlyInline):
    model = BookingChange
    fields = ("at", "by", "source", "action", "was", "became", "reason", "why")
    readonly_fields = fields

    @admin.display(description=_("effect"))
    def why(self, change: BookingChange) -> str:
        return _effect_link(change.effect)

    @admin.display(description=_("before"))
    def was(self, change: BookingChange) -> str:
        return _in_words(change.before)

    @admin.display(description=_("after"))
    def became(self, change: BookingChange) -> str:
        return _in_words(change.after)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("by", "effect")


@admin.register(Booking)
class BookingAdmin(AskingAdmin):
    form = BookingForm
    actions = (approve_selected, reject_selected, cancel_selected)
    list_display = ("__str__", "about", "status", "room", "when", "by_whom", "source")
    list_filter = (
        "occurrences__status",
        "source",
        "visibility",
        "occurrences__room__floor__building",
        "occurrences__room",
    )
    search_fields = (
        "=id",
        "title",
        "organizer__username",
        "organizer__first_name",
        "organizer__last_name",
        "occurrences__room__code",
    )
    search_help_text = _("Number, title, organizer or room.")
    date_hierarchy = "occurrences__starts_at"
    autocomplete_fields = ("organizer",)
    inlines = (OccurrenceInline, BookingChangeInline)
    series_inlines = (SeriesInline, OccurrenceInline, SkippedDateInline, BookingChangeInline)
    readonly_fields = (
        "source",
        "effect_link",
        "version",
        "recurrence",
        "continues",
        "created_at",
        "updated_at",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Booking]:
        return Booking.objects.with_occurrences().select_related("effect").in_order()

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """The rows know who looks at them."""
        changelist = super().get_changelist_instance(request)
        for booking in changelist.result_list:
            booking.seen = seen(booking, _person(request))
        return changelist

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Booking], search_term: str
    ) -> tuple[QuerySet[Booking], bool]:
        """Words find no private booking of others: the answer alone would tell what it is about."""
        if search_term:
            queryset = queryset.filter(visible_to(_person(request)))
        return super().get_search_results(request, queryset, search_term)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> Any:
        booking = self.get_object(request, object_id)
        if booking is not None and not may_see(booking, _person(request)):
            self.message_user(request, _("That booking is private."), messages.WARNING)
            return HttpResponseRedirect(reverse("admin:booking_booking_changelist"))
        return super().change_view(request, object_id, form_url, extra_context)

    def get_fieldsets(self, request: HttpRequest, obj: Booking | None = None) -> Any:
        asked: tuple[str, ...] = ("organizer", "title", "visibility", "headcount")
        hidden: tuple[str, ...] = ("request_key", "seen_version")
        more: list[Any] = []
        if obj is None:
            more = [(_("Series"), {"fields": REPEAT_FIELDS})]
        if obj is not None and obj.is_series:
            hidden, more = ("seen_version",), [(_("Dates to come"), {"fields": SERIES_FIELDS})]
        else:
            asked = (*asked, *PLACE_FIELDS)
        fieldsets: list[Any] = [(None, {"fields": (*asked, *hidden)}), *more]
        if obj is not None:
            fieldsets.append((_("Where it came from"), {"fields": self.readonly_fields}))
        return fieldsets

    def get_readonly_fields(self, request: HttpRequest, obj: Booking | None = None) -> Any:
        return self.readonly_fields if obj is None else ("organizer", *self.readonly_fields)

    def get_inlines(self, request: HttpRequest, obj: Booking | None) -> Any:
        if obj is None:
            return ()
        return self.series_inlines if obj.is_series else self.inlines

    def get_form(
        self,
        request: HttpRequest,
        obj: Booking | None = None,
        change: bool = False,  # noqa: FBT001, FBT002 - Django's signature
        **kwargs: Any,
    ) -> Any:
        if obj is not None and obj.is_series:
            kwargs["form"] = SeriesForm
        form = super().get_form(request, obj, change, **kwargs)
        return type(form.__name__, (form,), {"acting_user": request.user})

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """The form checks before it writes; what changes in between is told, not a crash."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except BookingError as error:
            self.message_user(request, error.text(), messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())

    def save_model(
        self,
        request: HttpRequest,
        obj: Booking,
        form: ModelForm[Booking],
        change: bool,  # noqa: FBT001 - Django's signature
    ) -> None:
        if isinstance(form, ServiceForm):
            obj.pk = form.write().pk
            obj.refresh_from_db()

    def cancelled(self, request: HttpRequest, row: Booking, reason: str) -> Booking:
        return services.cancel_booking(
            row.pk, by=_person(request), now=timezone.now(), reason=reason, source=Source.ADMIN
        )

    def has_decide_permission(self, request: HttpRequest) -> bool:
        """Whether some request may be this person's to decide; each is checked by the service."""
        return approved_policies(_person(request)).exists()

    def approved(self, request: HttpRequest) -> Callable[[Booking, int | None, str], Booking]:
        def approve(row: Booking, version: int | None, reason: str) -> Booking:
            return services.approve_booking(
                row.pk,
                by=_person(request),
                now=timezone.now(),
                version=version or row.version,
                reason=reason,
                source=Source.ADMIN,
            )

        return approve

    def rejected(self, request: HttpRequest) -> Callable[[Booking, int | None, str], Booking]:
        def reject(row: Booking, version: int | None, reason: str) -> Booking:
            return services.reject_booking(
                row.pk,
                by=_person(request),
                now=timezone.now(),
                version=version or row.version,
                reason=reason,
                source=Source.ADMIN,
            )

        return reject

    def described(self, row: Booking) -> str:
        return f"{row}: {self.room(row)}, {self.when(row)}"

    @admin.display(description=_("title"))
    def about(self, booking: Booking) -> Any:
        known: Seen = booking.seen  # type: ignore[attr-defined]
        return _("(private)") if known.is_masked else known.title or "-"

    @admin.display(description=_("organizer"))
    def by_whom(self, booking: Booking) -> str:
        known: Seen = booking.seen  # type: ignore[attr-defined]
        return known.organizer or "-"

    @admin.display(description=_("room"))
    def room(self, booking: Booking) -> Any:
        return getattr(_first(booking), "room", None)

    @admin.display(description=_("when"), ordering="first_start")
    def when(self, booking: Booking) -> str | None:
        first, dates = _first(booking), len(booking.occurrences.all())
        if first is None:
            return None
        span = spoken_span(first.starts_at, first.ends_at)
        return span if dates == 1 else _("%(span)s and %(n)d more") % {"span": span, "n": dates - 1}

    @admin.display(description=_("status"))
    def status(self, booking: Booking) -> Any:
        first = _first(booking)
        return None if first is None else first.status_at(timezone.now()).label

    @admin.display(description=_("effect"))
    def effect_link(self, booking: Booking) -> str:
        return _effect_link(booking.effect)


@admin.register(Occurrence)
class OccurrenceAdmin(AskingAdmin):
    """Every use of every room, to look at and to cancel; moved on the booking's own page."""

    actions = (cancel_selected,)

    list_display = ("starts_at", "ends_at", "room", "status_now", "booking_link")
    list_filter = ("status", "room__floor__building", "room")
    list_select_related = ("room", "booking__organizer")
    search_fields = ("booking__title", "booking__organizer__username", "room__code")
    date_hierarchy = "starts_at"
    ordering = ("-starts_at",)
    readonly_fields = (
        "booking_link",
        "room",
        "starts_at",
        "ends_at",
        "status_now",
        "lapses_at",
        "checked_in_at",
        "recurrence_date",
    )
    fields = readonly_fields

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def cancelled(self, request: HttpRequest, row: Occurrence, reason: str) -> Booking:
        return services.cancel_booking(
            row.booking_id,
            by=_person(request),
            now=timezone.now(),
            reason=reason,
            recurrence_date=row.recurrence_date,
            source=Source.ADMIN,
        )

    def version_of(self, row: Occurrence) -> int:
        return row.booking.version

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Occurrence], search_term: str
    ) -> tuple[QuerySet[Occurrence], bool]:
        if search_term:
            seen_bookings = Booking.objects.filter(visible_to(_person(request)))
            queryset = queryset.filter(booking__in=seen_bookings)
        return super().get_search_results(request, queryset, search_term)

    @admin.display(description=_("status"), ordering="status")
    def status_now(self, occurrence: Occurrence) -> Any:
        return occurrence.status_at(timezone.now()).label

    @admin.display(description=_("booking"))
    def booking_link(self, occurrence: Occurrence) -> str:
        url = reverse("admin:booking_booking_change", args=[occurrence.booking_id])
        return format_html('<a href="{}">{}</a>', url, occurrence.booking)


def _first(booking: Booking) -> Occurrence | None:
    """The first occurrence of those that were loaded, in order."""
    return next(iter(booking.occurrences.all()), None)


def _in_words(pictures: Any) -> str:
    """One side of a change (BookingChange.picture, or details), for people."""
    if isinstance(pictures, dict):
        if not pictures:
            return "-"
        visibility = Visibility(pictures["visibility"]).label
        return f"{pictures['title'] or '-'}, {visibility}, {pictures['headcount']}"
    return format_html_join(
        mark_safe("<br>"),
        "{}, {}, {}",
        (
            (
                each["room"],
                spoken_span(
                    datetime.fromisoformat(each["starts_at"]),
                    datetime.fromisoformat(each["ends_at"]),
                ),
                Status(each["status"]).label,
            )
            for each in pictures
        ),
    )


def _person(request: HttpRequest) -> Any:
    """The signed-in user: the admin lets nobody else in."""
    return request.user
