"""A yes to cancelling."""

from django import forms
from django.utils.translation import gettext_lazy as _

REASON_LENGTH = 200


class CancelForm(forms.Form):
    """Of the version that was shown, with a reason if one wants to give it."""

    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1)
    reason = forms.CharField(
        label=_("Reason (optional)"), max_length=REASON_LENGTH, required=False, strip=True
    )
