"""What can go wrong with a booking: one root, stable codes, data as attributes, texts in both languages."""

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import get_language, override, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from booking.models import Status
from booking.models.agreements import spoken_instant
from booking.policies import Refusal

REFUSALS: Mapping[str, Promise] = {
    "past": _("That time is already past."),
    "notice": _("These rooms are booked at least %(minutes)s minutes ahead."),
    "horizon": _("Rooms can be booked up to %(days)s days ahead, until %(last_date)s."),
    "min_duration": _("A booking takes at least %(minutes)s minutes."),
    "max_duration": _("A booking takes at most %(minutes)s minutes."),
    "grid": _("Bookings start and end on multiples of %(minutes)s minutes."),
    "holiday": _("The rooms are closed on %(date)s (%(name)s)."),
    "opening_hours": _("The rooms are open %(hours)s on that day."),
    "closed_weekday": _("The rooms are closed on that weekday."),
    "blackout": _("The room is shut until %(until)s: %(reason)s."),
    "not_bookable": _("You may not book %(room)s."),
    "one_room": _("You have %(room)s at that time, and these rooms are one at a time."),
    "quota_bookings": _("You have used up your %(limit)s bookings of that %(period)s."),
    "quota_minutes": _("That is more than your %(limit)s minutes of that %(period)s."),
    "capacity": _("%(room)s seats %(seats)s, too few for %(headcount)s people."),
    "missing_features": _("%(room)s does not have everything that was asked for."),
    "unknown_room": _("There is no room %(room)s that can be booked."),
    "unknown_building": _("There is no building %(building)s with rooms that can be booked."),
    "no_rooms": _("There are no rooms that can be booked."),
}


PERIODS: Mapping[str, Promise] = {
    "day": pgettext_lazy("quota", "day"),
    "week": pgettext_lazy("quota", "week"),
    "month": pgettext_lazy("quota", "month"),
}


def explain(refusal: Refusal) -> str:
    """The refusal in the active language, without the nearest slot."""
    params = dict(refusal.params)
    rule = refusal.rule
    if rule == "opening_hours" and not params["hours"]:
        rule = "closed_weekday"
    if "hours" in params:
        params["hours"] = ", ".join("-".join(pair) for pair in params["hours"])
    if "name" in params:
        is_chinese = (get_language() or "").startswith("zh")
        params["name"] = params["name"]["zh" if is_chinese else "en"]
    if "period" in params:
        params["period"] = PERIODS[params["period"]]
    return str(REFUSALS[rule]) % params


class BookingError(Exception):
    """Something about a booking cannot be done."""

    code = "booking_error"
    template: Promise = _("That cannot be done.")

    def __init__(self, **data: Any) -> None:
        super().__init__(self.code, data)
        self.data = data

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["data"][name]
        except KeyError as error:
            raise AttributeError(name) from error

    def text(self) -> str:
        """What to tell a person, in the active language."""
        return str(self.template) % self.data

    def message(self, language: str) -> str:
        """What to tell a person, in `en` or `zh-hans`."""
        with override(language):
            return self.text()


class RoomUnavailable(BookingError):
    """Somebody else has the room at that time; alternatives are a search away."""

    code = "taken"
    template = _("%(room)s is taken at that time.")


class RoomNotFound(BookingError):
    """No room has that code, or it is no longer in use."""

    code = "room_not_found"
    template = _("There is no room %(room)s that can be booked.")


class PolicyViolation(BookingError):
    """A rule of the room does not allow it; `refusal` says which and what is nearest."""

    code = "policy"
    refusal: Refusal

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal=refusal)

    def text(self) -> str:
        return explain(self.refusal)


class InvalidBooking(BookingError):
    """A value can be no part of any booking; `field` says which."""

    code = "invalid"
    template = _("The %(field)s of a booking cannot be that.")


class BookingNotFound(BookingError):
    """There is no such booking, or no such date of the series."""

    code = "booking_not_found"
    template = _("There is no such booking.")


class NotAllowed(BookingError):
    """The booking is somebody else's."""

    code = "not_allowed"
    template = _("That booking is not yours to change.")


class VersionConflict(BookingError):
    """The booking was changed since it was read; read it again."""

    code = "version_conflict"
    template = _("The booking was changed in the meantime.")


class AlreadyCancelled(BookingError):
    """The booking, or that date of the series, blocks no room any more."""

    code = "already_cancelled"
    template = _("That booking is no longer active.")


class AlreadyOver(BookingError):
    """The booking has ended; it can be neither moved nor cancelled."""

    code = "already_over"
    template = _("That booking is already over.")


class SeriesNeedsDate(BookingError):
    """A series is moved one date at a time; say which."""

    code = "series_needs_date"
    template = _("Say which date of the series to move.")


class AlreadyDecided(BookingError):
    """The request does not wait for a decision any more; `status` says what became of it."""

    code = "already_decided"
    template = _("That request does not wait any more: %(status)s.")

    def text(self) -> str:
        return str(self.template) % {"status": Status(self.status).label}


class NotApproved(BookingError):
    """A request that still waits for approval cannot be checked in to."""

    code = "not_approved"
    template = _("That booking still waits for approval.")


class CheckInTooEarly(BookingError):
    """The check-in opens at `opens_at`."""

    code = "check_in_too_early"
    template = _("You can check in from %(time)s on.")

    def text(self) -> str:
        return str(self.template) % {"time": spoken_instant(self.opens_at)}


class CheckInTooLate(BookingError):
    """Nobody checked in until `closed_at`, and the room was released."""

    code = "check_in_too_late"
    template = _("Nobody checked in by %(time)s, so the room was released.")

    def text(self) -> str:
        return str(self.template) % {"time": spoken_instant(self.closed_at)}


class SeriesClash(BookingError):
    """Some dates of a series cannot be had; `dates` are {date, code, text} for each."""

    code = "series_clash"
    template = _("The room cannot be had on %(dates)s.")

    def text(self) -> str:
        return str(self.template) % {"dates": ", ".join(each["date"] for each in self.dates)}


class BlackoutHits(BookingError):
    """The blackout hits bookings nobody settled (`hits` of them); look at them first."""

    code = "blackout_hits"
    template = _("Bookings are hit that are not settled yet. Look at them again.")


class CannotUndo(BookingError):
    """Only who cancelled can take it back, within minutes, and if nothing happened since."""

    code = "cannot_undo"
    template = _("That can no longer be undone.")


class NonexistentTime(BookingError):
    """The clocks skip that wall time on that day."""

    code = "nonexistent_time"
    template = _("There is no %(time)s on %(date)s: the clocks go forward then.")


class IdempotencyMismatch(BookingError):
    """The key was already used for a different request."""

    code = "idempotency_mismatch"
    template = _("That request was already made with other details.")
