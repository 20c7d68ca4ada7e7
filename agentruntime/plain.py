"""Plain JSON: what may enter from outside and what a checkpoint can hold. Pure.

NUL, lone surrogates, NaN and integers over 64 bits break PostgreSQL or come back changed.
"""

import math
from typing import Any

MAX_INT = 2**63


class NotPlain(ValueError):
    """A value is not plain JSON; `path` names it, as in `slots.date`."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


def check_plain(value: Any, path: str) -> None:
    """Raises NotPlain at the first value that is not dict, list, text, finite number, bool, None."""
    if value is None or value is True or value is False:
        return
    if isinstance(value, str):
        _check_text(value, path)
    elif isinstance(value, int):
        if not -MAX_INT <= value < MAX_INT:
            raise NotPlain(path, "an integer over 64 bits")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise NotPlain(path, "not a finite number")
    else:
        _check_container(value, path)


def _check_container(value: Any, path: str) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise NotPlain(f"{path}.{key!r}", "a key that is not text")
            _check_text(key, path)
            check_plain(item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            check_plain(item, f"{path}[{index}]")
    else:
        raise NotPlain(path, f"{type(value).__name__} is not plain JSON")


def _check_text(text: str, path: str) -> None:
    if "\0" in text:
        raise NotPlain(path, "text with NUL")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise NotPlain(path, "text with a lone surrogate") from error
