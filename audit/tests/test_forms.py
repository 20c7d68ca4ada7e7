"""Fields of an agent's state as form fields: what may be given, and what counts as a change."""

from dataclasses import replace

import pytest

from agentruntime.agents import Field
from agentruntime.testing import probe_spec
from audit.forms import StateForm


def spec(*fields):
    return replace(probe_spec(), editable_fields=fields)


def field(kind, **more):
    return Field(path=f"s.{kind}", kind=kind, labels={"en": kind}, **more)


def choices(language):
    return [("a", f"A {language}"), ("b", "B")]


FIELDS = (
    field("text"),
    field("integer", minimum=1, maximum=9),
    field("date"),
    field("time"),
    field("list", choices=choices),
)
STATE = {"s": {"text": "x", "integer": 3, "date": "2026-12-01", "time": "10:00", "list": ["a"]}}
GIVEN = {
    "s.text": "x", "s.integer": "3", "s.date": "2026-12-01", "s.time": "10:00", "s.list": ["a"],
}  # fmt: skip


def form(given=None, *, values=STATE, fields=FIELDS):
    return StateForm(given, spec=spec(*fields), values=values, language="en")


def test_a_form_shows_the_state_and_sent_back_changes_nothing():
    text = form().as_p()
    for shown in ('value="x"', 'value="3"', 'value="2026-12-01"', 'value="10:00"', "A en"):
        assert shown in text
    sent = form(GIVEN)

    assert sent.is_valid(), sent.errors
    assert sent.changes == {}


@pytest.mark.parametrize(
    ("name", "given", "change"),
    [
        ("s.text", "y", "y"),
        ("s.text", "", None),
        ("s.integer", "9", 9),
        ("s.integer", "", None),
        ("s.date", "2026-12-24", "2026-12-24"),
        ("s.time", "09:30", "09:30"),
        ("s.list", ["a", "b"], ["a", "b"]),
        ("s.list", [], None),
    ],
)
def test_what_is_given_is_plain_and_only_what_differs(name, given, change):
    sent = form({**GIVEN, name: given})

    assert sent.is_valid(), sent.errors
    assert sent.changes == {name: change}


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("s.integer", "0"),
        ("s.integer", "10"),
        ("s.integer", "many"),
        ("s.date", "yesterday"),
        ("s.time", "25:00"),
        ("s.list", ["c"]),
        ("s.text", "x" * 201),
    ],
)
def test_what_no_state_could_hold_is_refused(name, given):
    assert name in form({**GIVEN, name: given}).errors


def test_a_value_that_is_no_choice_any_more_can_stay():
    one = (field("text", choices=choices),)
    gone = {"s": {"text": "gone"}}

    assert form({"s.text": "gone"}, values=gone, fields=one).is_valid()
    assert not form({"s.text": "other"}, values=gone, fields=one).is_valid()


def test_a_state_without_the_channel_has_empty_fields():
    sent = form({"s.text": "new"}, values={}, fields=FIELDS[:1])

    assert sent.is_valid()
    assert sent.changes == {"s.text": "new"}
