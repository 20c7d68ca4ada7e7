"""A yes to cancelling, and how much of a series it means."""

from django import forms
from django.utils.translation import gettext_lazy as _

from booking.services import Scope

REASON_LENGTH = 200
SCOPES = [
    (Scope.THIS.value, _("Only this date")),
    (Scope.FOLLOWING.value, _("This date and those after it")),
    (Scope.ALL.value, _("The whole series")),
]


class CancelForm(forms.Form):
    """Of the version that was shown, with a reason if one wants to give it."""

    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1)
    scope = forms.ChoiceField(
        label=_("How much of the series"),
        choices=SCOPES,
        widget=forms.RadioSelect,
        required=False,
        initial=Scope.THIS.value,
    )
    reason = forms.CharField(
        label=_("Reason (optional)"), max_length=REASON_LENGTH, required=False, strip=True
    )
