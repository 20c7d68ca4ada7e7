"""The lines of checkpoints of one thread: where they part and where they end.

Derived from parents alone, because not every branch is marked as one. A parent that was pruned
away is a gap, not a root.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentruntime.persistence import checkpoints


@dataclass(frozen=True, kw_only=True)
class Branch:
    """number: from 1, by age; 1 leads to the oldest tip. start: its first checkpoint. parent: what
    it left another branch at (None for a root). tip: its last checkpoint. size: how many it has.
    """

    number: int
    start: str
    parent: str | None
    tip: str
    size: int


@dataclass(frozen=True, kw_only=True)
class Branches:
    """all: by number; empty for a thread without forks in it, whose one branch is number 1."""

    all: Sequence[Branch] = ()
    by_checkpoint: Mapping[str, int] = field(default_factory=dict)

    def number_of(self, checkpoint: str) -> int:
        return self.by_checkpoint.get(checkpoint, 1)

    @property
    def tips(self) -> dict[str, int]:
        return {branch.tip: branch.number for branch in self.all}


def branches_of(thread: str) -> Branches:
    """The branches of a thread. Reads all ids only where there is more than one branch."""
    if not checkpoints.branch_points(thread):
        return Branches()
    return arrange(checkpoints.structure(thread))


def arrange(rows: Sequence[tuple[str, str | None]]) -> Branches:
    """Pure. rows: `(checkpoint, parent)`, oldest first. The first child of a checkpoint goes on
    with its branch, every later one starts another.
    """
    known: set[str] = set()
    continued: set[str] = set()
    number_of: dict[str, int] = {}
    branches: dict[int, list[str]] = {}
    origins: dict[int, str | None] = {}
    for checkpoint, parent in rows:
        if parent in known and parent not in continued:
            number = number_of[parent]
            continued.add(parent)
        else:
            number = len(branches) + 1
            branches[number] = []
            origins[number] = parent
        known.add(checkpoint)
        number_of[checkpoint] = number
        branches[number].append(checkpoint)
    return Branches(
        all=[
            Branch(number=number, start=ids[0], parent=origins[number], tip=ids[-1], size=len(ids))
            for number, ids in branches.items()
        ],
        by_checkpoint=number_of,
    )
