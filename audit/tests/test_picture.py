"""The drawing of branches and forks."""

from agentruntime.timetravel.branches import Branches, arrange
from audit.picture import LANES_SHOWN, draw


def test_one_line_is_not_drawn():
    assert draw(Branches(), [], head="b", newest="b") is None


def test_a_fork_leaves_where_it_was_made():
    found = draw(Branches(), [("t", "a")], head="b", newest="c")

    assert [(lane.tip, lane.parent, lane.thread) for lane in found.lanes] == [
        ("c", "", ""), ("", "a", "t"),
    ]  # fmt: skip
    assert [(dot.checkpoint, dot.lane, dot.is_head) for dot in found.dots] == [
        ("a", 1, False), ("b", 1, True), ("c", 1, False),
    ]  # fmt: skip


def test_branches_have_lanes_of_their_own():
    branches = arrange([("a", None), ("b", "a"), ("c", "b"), ("d", "a"), ("e", "d")])

    found = draw(branches, [], head="e", newest="e")

    assert [(lane.number, lane.tip, lane.parent) for lane in found.lanes] == [
        (1, "c", ""),
        (2, "e", "a"),
    ]
    assert {dot.checkpoint: dot.lane for dot in found.dots} == {"a": 1, "c": 1, "d": 2, "e": 2}
    assert all(0 < dot.x < found.width and 0 < dot.y < found.height for dot in found.dots)


def test_too_many_lanes_are_counted():
    forks = [(f"t{number}", "a") for number in range(40)]

    found = draw(Branches(), forks, head="b", newest="b")

    assert (len(found.lanes), found.left_out) == (LANES_SHOWN, 41 - LANES_SHOWN)
