"""Fields as the portal shows them: the browser's own date and time inputs, choices of lengths."""

from datetime import date
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.utils.translation import gettext as _

MAX_SEATS = 100_000
FIRST_DAY, LAST_DAY = date(2000, 1, 1), date(9000, 12, 31)
LENGTHS = (15, 30, 45, 60, 90, 120, 180, 240)


class DayInput(forms.DateInput):
    input_type = "date"

    def __init__(self) -> None:
        super().__init__(format="%Y-%m-%d")


class ClockInput(forms.TimeInput):
    input_type = "time"

    def __init__(self) -> None:
        super().__init__(format="%H:%M", attrs={"step": 300})


class DayField(forms.DateField):
    """A day that every zone can tell the time of; the calendar's ends are none."""

    widget = DayInput

    def __init__(self, **more: Any) -> None:
        within = [MinValueValidator(FIRST_DAY), MaxValueValidator(LAST_DAY)]
        super().__init__(input_formats=["%Y-%m-%d"], validators=within, **more)


class ClockField(forms.TimeField):
    widget = ClockInput

    def __init__(self, **more: Any) -> None:
        super().__init__(input_formats=["%H:%M", "%H:%M:%S"], **more)


class ByCode:
    """A choice among rows by their code; what no code can be is no choice, and no query either."""

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and "\0" in value:
            raise ValidationError(_("Choose one of the list."), code="invalid_choice")
        return super().to_python(value)  # type: ignore[misc]


class PeopleField(forms.IntegerField):
    def __init__(self, **more: Any) -> None:
        super().__init__(min_value=1, max_value=MAX_SEATS, **more)
        self.widget.attrs["inputmode"] = "numeric"


def length(minutes: int) -> str:
    """90 as 1 h 30 min."""
    hours, rest = divmod(minutes, 60)
    places = {"hours": hours, "minutes": rest}
    if not hours:
        return _("%(minutes)s min") % places
    return (_("%(hours)s h %(minutes)s min") if rest else _("%(hours)s h")) % places


def lengths() -> list[tuple[int, str]]:
    """Choices of a booking's length, in the active language."""
    return [(minutes, length(minutes)) for minutes in LENGTHS]
