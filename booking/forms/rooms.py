"""Which rooms of which day a person wants to see."""

import datetime as dt
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from booking.forms.fields import ClockField, DayField, PeopleField, lengths
from booking.intervals import Interval
from booking.models import Building, Feature
from booking.policies import instant_of

USUAL_MINUTES = 60


class RoomsForm(forms.Form):
    """Filters of the day grid. All are optional; what is wrong is said, and the rest still counts."""

    building = forms.ModelChoiceField(
        label=_("Building"), queryset=Building.objects.none(), required=False, empty_label=None
    )
    date = DayField(label=_("Date"), required=False)
    seats = PeopleField(label=_("Seats, at least"), required=False)
    starts = ClockField(label=_("Free from"), required=False)
    minutes = forms.TypedChoiceField(label=_("For"), coerce=int, required=False)
    features = forms.MultipleChoiceField(
        label=_("Equipment"), required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, query: QueryDict) -> None:
        given = query.copy()
        given.setdefault("minutes", str(USUAL_MINUTES))
        super().__init__(given)
        self.fields["building"].queryset = Building.objects.select_related("site")  # type: ignore[attr-defined]
        self.fields["features"].choices = [  # type: ignore[attr-defined]
            (each.code, str(each)) for each in Feature.objects.all()
        ]
        self.fields["minutes"].choices = lengths()  # type: ignore[attr-defined]

    def value(self, name: str) -> Any:
        """What was given and is right, else None."""
        return self.cleaned_data.get(name) or None

    @property
    def is_narrowing(self) -> bool:
        return any(self.value(name) for name in ("seats", "starts", "features"))

    def wanted(self, building: Building, day: dt.date) -> Interval | None:
        """The time that has to be free; None if none was asked for or the clocks skip it."""
        starts = self.value("starts")
        first = instant_of(building.site.zone, day, starts) if starts else None
        if first is None:
            return None
        minutes = self.value("minutes") or USUAL_MINUTES
        return Interval(first, first + dt.timedelta(minutes=minutes))


def local_today(building: Building, now: dt.datetime) -> dt.date:
    return now.astimezone(building.site.zone).date()
