"""Filters of the audit pages: short names of long ids, words for codes."""

from collections.abc import Mapping

from django import template
from django.utils.translation import get_language

from agentruntime.agents import all_agents
from audit import codes, presenters

register = template.Library()
LANES = 6

register.filter("short", presenters.short)
register.filter("short_thread", presenters.short_thread)


register.filter("rule_words", codes.rule_words)
register.filter("question_words", codes.question_words)


@register.filter
def class_words(classes: str) -> str:
    """What a message was taken to be."""
    return presenters.class_words(all_agents(), classes, presenters.spoken(get_language()))


@register.filter
def effect_words(name: str) -> str:
    """What an effect did."""
    return presenters.effect_words(all_agents(), name, presenters.spoken(get_language()))


@register.filter
def named(key: str, words: Mapping[str, str]) -> str:
    """A key in people's words, where there are any."""
    return words.get(key, key) or "–"


@register.filter
def lane(number: int) -> int:
    """One of the colours there are for branches, from 1."""
    return (int(number) - 1) % LANES + 1
