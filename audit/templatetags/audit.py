"""Filters of the audit pages: short names of long ids."""

from collections.abc import Mapping

from django import template

from audit import presenters

register = template.Library()
LANES = 6

register.filter("short", presenters.short)
register.filter("short_thread", presenters.short_thread)


@register.filter
def named(key: str, words: Mapping[str, str]) -> str:
    """A key in people's words, where there are any."""
    return words.get(key, key) or "–"


@register.filter
def lane(number: int) -> int:
    """One of the colours there are for branches, from 1."""
    return (int(number) - 1) % LANES + 1
