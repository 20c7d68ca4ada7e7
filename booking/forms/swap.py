"""Which other booking of one's own to swap with."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from booking.models import Occurrence


class SwapForm(forms.Form):
    """`cleaned_data["other"]` is an Occurrence out of those given; versions as they were shown."""

    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1)
    other = forms.TypedChoiceField(
        label=_("Swap with"),
        widget=forms.RadioSelect,
        error_messages={"required": _("Choose one of them.")},
    )

    def __init__(self, *args: Any, others: Iterable[tuple[Occurrence, str]], **more: Any) -> None:
        super().__init__(*args, **more)
        chosen = {_key(each): (each, words) for each, words in others}
        field = self.fields["other"]
        field.choices = [(key, words) for key, (_each, words) in chosen.items()]  # type: ignore[attr-defined]
        field.coerce = lambda key: chosen[key][0]  # type: ignore[attr-defined]


def _key(each: Occurrence) -> str:
    """The occurrence in the version that is shown: what changed since is no choice any more."""
    return f"{each.pk}-{each.booking.version}"
