"""Work that one process of all does every so often, whichever is there to do it.

An app registers what it needs done; the row of each chore in the database is its schedule and its
lock, so that no process has to be chosen and none that dies leaves a chore undone for longer than
its interval.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Chore:
    """call: without arguments; a coroutine function, or a plain one for a database thread."""

    name: str
    every_seconds: float
    call: Callable[[], Any]

    @property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.call)


_chores: dict[str, Chore] = {}


def register(name: str, every_seconds: float, call: Callable[[], Any]) -> None:
    """Have `call` done about every so many seconds by one process of all; when an app is ready.

    It may be done again after a crash in its middle, and by two at once when it takes longer than
    its interval: what it does has to bear that.
    """
    _chores[name] = Chore(name=name, every_seconds=float(every_seconds), call=call)


def all_chores() -> list[Chore]:
    """Every registered chore, by name."""
    return [_chores[name] for name in sorted(_chores)]
