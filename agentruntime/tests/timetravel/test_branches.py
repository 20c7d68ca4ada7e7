"""Branches of a thread, derived from parents."""

from agentruntime.timetravel.branches import arrange


def test_one_line_is_one_branch():
    found = arrange([("a", None), ("b", "a"), ("c", "b")])

    assert [(each.number, each.tip, each.size) for each in found.all] == [(1, "c", 3)]


def test_a_later_child_starts_a_branch():
    found = arrange([("a", None), ("b", "a"), ("c", "b"), ("d", "a"), ("e", "d")])

    assert [(each.parent, each.start, each.tip) for each in found.all] == [
        (None, "a", "c"),
        ("a", "d", "e"),
    ]
    assert [found.number_of(each) for each in "abcde"] == [1, 1, 1, 2, 2]


def test_what_a_pruned_parent_left_is_a_branch_that_names_it():
    found = arrange([("b", "gone"), ("c", "b")])

    assert [(each.parent, each.tip) for each in found.all] == [("gone", "c")]
