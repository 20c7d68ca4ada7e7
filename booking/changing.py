"""One change of a booking, made of several services: all of it or nothing."""

from datetime import date, datetime, time

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from booking import services
from booking.models import Booking


def change_booking(
    booking_id: int,
    *,
    by: AbstractBaseUser,
    version: int,
    source: str,
    now: datetime,
    room: str | None = None,
    starts_at: datetime | None = None,
    ends_at: datetime | None = None,
    recurrence_date: date | None = None,
    title: str | None = None,
    visibility: str | None = None,
    headcount: int | None = None,
) -> Booking:
    """Amend and move in one transaction; None leaves a value as it is.

    `version` is the one that was read. Raises as amend_booking and reschedule_booking do.
    """
    with transaction.atomic():
        booking = services.amend_booking(
            booking_id,
            by=by,
            title=title,
            visibility=visibility,
            headcount=headcount,
            version=version,
            source=source,
        )
        if room is None and starts_at is None and ends_at is None:
            return booking
        return services.reschedule_booking(
            booking_id,
            by=by,
            starts_at=starts_at,
            ends_at=ends_at,
            room=room,
            recurrence_date=recurrence_date,
            now=now,
            version=booking.version,
            source=source,
        )


def change_dates(
    booking_id: int,
    *,
    by: AbstractBaseUser,
    version: int,
    source: str,
    now: datetime,
    scope: str,
    recurrence_date: date | None,
    room: str,
    start: time,
    minutes: int,
    title: str,
    visibility: str,
    headcount: int,
    on_clash: str,
    recurrence: str | None = None,
) -> Booking:
    """Amend a series and move its coming dates, all or those from `recurrence_date` on.

    Returns the booking the coming dates belong to. Raises as amend_booking and change_series do.
    """
    with transaction.atomic():
        booking = services.change_series(
            booking_id,
            by=by,
            scope=scope,
            recurrence_date=recurrence_date,
            start=start,
            minutes=minutes,
            room=room,
            recurrence=recurrence,
            on_clash=on_clash,
            now=now,
            version=version,
            source=source,
        )
        return services.amend_booking(
            booking.pk,
            by=by,
            title=title,
            visibility=visibility,
            headcount=headcount,
            source=source,
        )
