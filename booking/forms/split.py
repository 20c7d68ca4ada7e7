"""A meeting over several rooms as people type it: how many sit in each."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from booking.forms.fields import PeopleField
from booking.models import Room
from booking.models.agreements import KEY_LENGTH, TITLE_LENGTH
from booking.ranking import Part


class SplitForm(forms.Form):
    """One field of people for each of the rooms, two or three of one zone."""

    def __init__(
        self, *args: Any, rooms: Sequence[Room], people: Mapping[str, str], **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self.rooms = rooms
        for number, room in enumerate(rooms, start=1):
            seats = _("%(seats)s seats") % {"seats": room.seats}
            self.fields[f"people{number}"] = PeopleField(
                label=f"{room} · {room.floor.building}",
                help_text=seats,
                initial=people.get(room.code),
            )
        self.fields["title"] = forms.CharField(
            label=_("Title (optional)"), max_length=TITLE_LENGTH, required=False, strip=True
        )
        self.fields["is_private"] = forms.BooleanField(
            label=_("Private: others only see that the room is busy"), required=False
        )
        self.fields["key"] = forms.CharField(
            widget=forms.HiddenInput,
            max_length=KEY_LENGTH,
            initial=lambda: f"portal-{uuid.uuid4()}",
        )

    @property
    def parts(self) -> list[Part]:
        """Of a form that is right."""
        given = self.cleaned_data
        return [
            Part(room=room.code, headcount=given[f"people{number}"])
            for number, room in enumerate(self.rooms, start=1)
        ]
