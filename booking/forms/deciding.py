"""The answer to a request."""

from django import forms
from django.utils.translation import gettext_lazy as _

from booking.forms.cancelling import REASON_LENGTH

DECISIONS = [("approve", _("Approve")), ("reject", _("Reject"))]


class DecisionForm(forms.Form):
    """Of the version that was shown; a rejection says why."""

    decision = forms.ChoiceField(choices=DECISIONS)
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1)
    reason = forms.CharField(
        label=_("Reason (needed to reject)"), max_length=REASON_LENGTH, required=False, strip=True
    )

    def clean(self) -> dict[str, object]:
        given = super().clean() or self.cleaned_data
        if given.get("decision") == "reject" and not given.get("reason"):
            self.add_error("reason", _("Say why you reject it."))
        return given
