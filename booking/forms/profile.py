"""A person's profile."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from booking.models import Building, Profile


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable
    class Meta:
        model = Profile
        fields = ["building", "language"]
        labels = {"building": _("Home building"), "language": _("Language")}

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        building: Any = self.fields["building"]
        building.queryset = Building.objects.select_related("site")
        building.empty_label = _("None")
        language: Any = self.fields["language"]
        language.choices = [("", _("As the browser asks")), *language.choices[1:]]
