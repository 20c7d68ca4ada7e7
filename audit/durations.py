"""Durations as people type them: `30d`, `12h`, `90m`. Pure."""

import argparse
import re
from datetime import timedelta

_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}


def duration(text: str) -> timedelta:
    """`30d` as thirty days. Raises argparse.ArgumentTypeError, so that a command can tell."""
    match = re.fullmatch(r"(\d{1,6})([dhms])", text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r}: a number and d, h, m or s, as in 30d")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})
