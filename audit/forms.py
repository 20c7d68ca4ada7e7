"""Forms of the audit pages: fields of an agent's state as real fields, and reasons."""

from collections.abc import Mapping
from datetime import date, time
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agentruntime.agents import AgentSpec, Field

REASON_LENGTH = 300


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=_("Why"),
        max_length=REASON_LENGTH,
        help_text=_("It is kept in the operations, with your name."),
    )


def state_fields(spec: AgentSpec, language: str) -> dict[str, forms.Field]:
    """The fields an agent lets a fork change, by path; none is required."""
    return {field.path: _form_field(field, language) for field in spec.editable_fields}


def _form_field(field: Field, language: str) -> forms.Field:
    common: dict[str, Any] = {
        "label": field.labels.get(language, field.path),
        "required": False,
    }
    if field.kind == "list":
        return forms.MultipleChoiceField(
            choices=list(field.choices(language)) if field.choices else [],
            widget=forms.CheckboxSelectMultiple,
            **common,
        )
    if field.choices is not None:
        return forms.ChoiceField(choices=[("", "–"), *field.choices(language)], **common)
    if field.kind == "integer":
        return forms.IntegerField(min_value=field.minimum, max_value=field.maximum, **common)
    if field.kind == "date":
        widget = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
        return forms.DateField(widget=widget, **common)
    if field.kind == "time":
        return forms.TimeField(
            widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"), **common
        )
    return forms.CharField(max_length=200, **common)


def plain(value: Any) -> Any:
    """A cleaned value as the state holds it: plain JSON, None for what is empty."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return value.strftime("%H:%M")
    return None if value in ("", []) else value


def current(values: Mapping[str, Any], path: str) -> Any:
    """What a state has at a path; None where it has nothing."""
    found: Any = values
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return None if found in ("", []) else found


class StateForm(forms.Form):
    """The editable fields of a state, filled with what it has; `changes` is what was altered."""

    def __init__(
        self, *args: Any, spec: AgentSpec, values: Mapping[str, Any], language: str, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._values = values
        for path, field in state_fields(spec, language).items():
            field.initial = current(values, path)
            if isinstance(field, forms.ChoiceField) and not isinstance(
                field, forms.MultipleChoiceField
            ):
                self._offer_current(field)
            self.fields[path] = field

    @staticmethod
    def _offer_current(field: forms.ChoiceField) -> None:
        """What the state holds may be no choice any more; it can stay as it is."""
        choices: list[Any] = list(field.choices)  # type: ignore[arg-type]
        if field.initial and field.initial not in {value for value, _words in choices}:
            field.choices = [*choices, (field.initial, field.initial)]

    @property
    def changes(self) -> dict[str, Any]:
        """By path, the values that differ from the state's; None where one was emptied."""
        given = {path: plain(value) for path, value in self.cleaned_data.items()}
        return {
            path: value for path, value in given.items() if value != current(self._values, path)
        }


class ForkForm(StateForm, ReasonForm):
    """Reason and fields; the reason comes last."""

    field_order = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"] = self.fields.pop("reason")

    @property
    def changes(self) -> dict[str, Any]:
        return {path: value for path, value in super().changes.items() if path != "reason"}


class PromoteForm(ReasonForm):
    typed = forms.CharField(
        label=_("The last eight characters of the live thread's id"), max_length=40
    )
    expected_head = forms.CharField(widget=forms.HiddenInput, max_length=60)


class PinForm(ReasonForm):
    expires_at = forms.DateTimeField(
        label=_("Until"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text=_("Empty: for good."),
    )
