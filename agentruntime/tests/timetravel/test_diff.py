"""What differs between two states: everything, once, and nothing else."""

import json

from hypothesis import given
from hypothesis import strategies as st

from agentruntime.timetravel.diff import Change, compare, without

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab/~", max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab/~"), inner, max_size=4),
    max_leaves=12,
)


def resolve(document, pointer):
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


def test_added_removed_and_changed_are_told_apart():
    found = compare({"a": 1, "b": [1, 2], "c": {"d": "x"}}, {"a": 2, "b": [1, 2], "e": None})

    assert found.changes == [
        Change(kind="changed", pointer="/a", before=1, after=2),
        Change(kind="removed", pointer="/c", before={"d": "x"}),
        Change(kind="added", pointer="/e", after=None),
    ]
    assert found.same == [("/b", [1, 2])]


def test_an_item_put_in_front_is_one_change():
    found = compare([{"n": 1}, {"n": 2}], [{"n": 0}, {"n": 1}, {"n": 2}])

    assert found.changes == [Change(kind="added", pointer="/0", after={"n": 0})]
    assert found.same == [("/1", {"n": 1}), ("/2", {"n": 2})]


def test_what_is_gone_is_named_where_it_stood():
    """The item it was part of has moved up."""
    found = compare(["gone", "kept", {"a": 1, "b": 2}], ["kept", {"a": 3}])

    assert [(each.kind, each.pointer) for each in found.changes] == [
        ("removed", "/0"),
        ("changed", "/1/a"),
        ("removed", "/2/b"),
    ]


def test_true_is_not_one():
    assert [each.pointer for each in compare({"a": True}, {"a": 1}).changes] == ["/a"]
    assert [each.pointer for each in compare({"a": [True]}, {"a": [1]}).changes] == ["/a/0"]


@given(PLAIN)
def test_a_state_does_not_differ_from_itself(state):
    found = compare(state, json.loads(json.dumps(state)))

    assert found.changes == []
    assert found.same == [("", state)]


@given(PLAIN, PLAIN)
def test_pointers_lead_to_the_values(before, after):
    found = compare(before, after)

    assert bool(found.changes) == (
        json.dumps(before, sort_keys=True) != json.dumps(after, sort_keys=True)
    )
    for change in found.changes:
        if change.kind == "removed":
            assert resolve(before, change.pointer) == change.before
        else:
            assert resolve(after, change.pointer) == change.after
    for pointer, value in found.same:
        assert resolve(after, pointer) == value


@given(PLAIN, PLAIN)
def test_the_other_way_round_has_as_many_changes_of_the_other_kind(before, after):
    there = [each.kind for each in compare(before, after).changes]
    back = [each.kind for each in compare(after, before).changes]

    assert there.count("added") - there.count("removed") == back.count("removed") - back.count(
        "added"
    )


def test_keys_are_left_out_however_deep():
    assert without({"a": [{"b": 1, "c": 2}], "b": 3}, frozenset({"b"})) == {"a": [{"c": 2}]}
