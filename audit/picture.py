"""A thread's branches and forks as a drawing: pure. Lanes from the top, time to the right."""

from collections.abc import Sequence
from dataclasses import dataclass

from agentruntime.timetravel.branches import Branch, Branches

COLUMN, LANE, MARGIN, LABEL = 84, 34, 24, 190
LANES_SHOWN = 24


@dataclass(frozen=True, kw_only=True)
class Dot:
    """One checkpoint that matters: where lines part, begin or end."""

    x: int
    y: int
    checkpoint: str
    lane: int
    is_head: bool


@dataclass(frozen=True, kw_only=True)
class Lane:
    """A branch, or a fork (then `thread` names it). path: as SVG has it."""

    number: int
    y: int
    label_x: int
    path: str
    tip: str
    parent: str
    size: int
    thread: str


@dataclass(frozen=True, kw_only=True)
class Picture:
    """left_out: lanes that were too many to draw."""

    width: int
    height: int
    lanes: Sequence[Lane]
    dots: Sequence[Dot]
    left_out: int


def draw(
    branches: Branches, forks: Sequence[tuple[str, str]], *, head: str, newest: str
) -> Picture | None:
    """forks: `(thread, checkpoint it left at)`. newest: the checkpoint the thread's line ends at.

    None where there is only one line.
    """
    own = branches.all or (
        [Branch(number=1, start="", parent=None, tip=newest, size=0)] if newest and forks else []
    )
    lines = [(each.start, each.parent, each.tip, each.size, "") for each in own]
    lines += [("", at, "", 0, thread) for thread, at in forks]
    if len(lines) < 2:
        return None
    left_out = max(0, len(lines) - LANES_SHOWN)
    lines = lines[:LANES_SHOWN]
    ends = [head, *(each for line in lines for each in line[:3])]
    points = sorted({each for each in ends if each})
    column = {each: MARGIN + COLUMN * index for index, each in enumerate(points)}
    end = MARGIN + COLUMN * len(points)
    home = _homes(lines, branches)
    lanes, dots = [], {}
    for index, (start, parent, tip, size, thread) in enumerate(lines):
        y = MARGIN + LANE * index
        last = column[tip] if tip else end
        path = _path(column, parent, start, y, MARGIN + LANE * home.get(parent or "", 0), last)
        lanes.append(
            Lane(
                number=index + 1, y=y, label_x=last + 14, path=path, tip=tip,
                parent=parent or "", size=size, thread=thread,
            )
        )  # fmt: skip
        for each in (start, tip):
            if each:
                dots[each] = _dot(column, each, index, head)
    for each in points:
        if each not in dots:
            lane = branches.number_of(each) - 1
            dots[each] = _dot(column, each, lane if lane < len(lines) else 0, head)
    return Picture(
        width=end + LABEL,
        height=2 * MARGIN + LANE * (len(lines) - 1),
        lanes=lanes,
        dots=sorted(dots.values(), key=lambda dot: (dot.x, dot.y)),
        left_out=left_out,
    )


def _dot(column: dict[str, int], checkpoint: str, lane: int, head: str) -> Dot:
    return Dot(
        x=column[checkpoint],
        y=MARGIN + LANE * lane,
        checkpoint=checkpoint,
        lane=lane + 1,
        is_head=checkpoint == head,
    )


def _homes(
    lines: Sequence[tuple[str, str | None, str, int, str]], branches: Branches
) -> dict[str, int]:
    """The lane that the checkpoint a line leaves from lies on."""
    return {
        parent: branches.number_of(parent) - 1
        for _, parent, _, _, _ in lines
        if parent and branches.number_of(parent) <= len(lines)
    }


def _path(
    column: dict[str, int], parent: str | None, start: str, y: int, from_y: int, last: int
) -> str:
    if parent and parent in column:
        x = column[parent]
        return f"M{x} {from_y} C{x + COLUMN // 2} {from_y} {x} {y} {x + COLUMN // 2} {y} H{last}"
    first = column.get(start, MARGIN)
    return f"M{first} {y} H{last}"
