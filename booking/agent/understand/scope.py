"""How much of a series a change concerns: this occurrence, this and the following, or all of them."""

from __future__ import annotations

import re

from booking.agent.understand import selection
from booking.agent.understand.facts import Facts
from booking.agent.understand.types import Span

_SCOPES = (
    (
        "following",
        re.compile(
            r"(?:这|本|那)一?次?(?:以及|及|和|与|开始|起)?(?:其|它)?(?:以后|之后|往后|后面|后续)|及(?:以后|之后)"
            r"|今后|(?:以后|之后|后面|后续)的?[^,。!?天周月年]{0,8}(?:所有|全部|每次|各次|都|场次)|后续的|^(?:以后|之后)的"
            r"|(?<![a-z])(?:this|that)(?: one)? and (?:all )?(?:the |those )?(?:following|future|later|subsequent|after|next)(?![a-z])"
            r"|(?<![a-z])(?:from (?:now|then|here|that day) on(?:wards?)?|going forward|(?:all )?(?:future|subsequent)|(?:all )?(?:the )?following (?:ones|meetings|occurrences)|all following)(?![a-z])"
        ),
    ),
    (
        "this",
        re.compile(
            r"(?:就|只|仅)?(?:这|那|本|当)一?次|仅此一次|单次|(?:就|只|仅)(?:这|那)一?(?:天|个)"
            r"|(?<![a-z])(?:just |only )?(?:this|that)(?: one| occurrence| time)?(?: only)(?![a-z])"
            r"|(?<![a-z])(?:just|only) (?:this|that|once|the one)(?: one| time| occurrence)?(?![a-z])|(?<![a-z])(?:one-off|this occurrence|that occurrence)(?![a-z])"
            r"|^(?:this|that)(?: one)?[.!]?$|^这个[。.!]?$"
        ),
    ),
    (
        "all",
        re.compile(
            r"(?:整个|全)系列|系列(?:的)?(?:全部|所有)|所有|全部|每一?次|(?<!我)都(?=改|取消|挪|移|推迟|提前|延|换|删|不)"
            r"|(?<![a-z])(?:the (?:whole|entire) (?:series|thing)|(?:whole|entire) (?:[a-z-]+ ){0,2}series|(?:the|my) (?:[a-z-]+ ){0,2}series|all(?! day|-day)|all occurrences|every (?:one|time|occurrence|single one)|the series)(?![a-z])"
        ),
    ),
)
SCOPES = ("this", "following", "all")
"""In the order in which they are offered."""

_ON = re.compile(
    r"\s?(?:起|开始)|(?:'s)? on(?:wards?)?(?![a-z])(?! (?:mon|tue|wed|thu|fri|sat|sun|the|\d))"
)
_STARTING = re.compile(r"(?<![a-z])(?:starting|beginning|as of|effective)(?: from| on| in)?\s?$")


def scope_of(text: str) -> str | None:
    """The scope that the words name."""
    return next((name for name, pattern in _SCOPES if pattern.search(text)), None)


_ALL_ALONE = re.compile(
    r"(?:那就?|就)?(?:全部|所有|整个系列|每次)?(?:都|全|一起)+(?:改|取消|挪|换)(?:掉|吧|了)*[。.!]?|(?:change|move|cancel|do) (?:all of them|them all|all|the whole series)[.!]?"
)


def all_alone(folded: str) -> bool:
    """Whether the whole message says no more than: all of them."""
    return bool(_ALL_ALONE.fullmatch(folded.strip()))


def scope_answer(folded: str, facts: Facts) -> str | None:
    """The scope that an answer to "which of them?" names, or counts off: this, following, all."""
    if starts_on(facts, folded) is not None or any(day.since for day in facts.days):
        return "following"
    if (said := scope_of(folded)) is not None:
        return said
    place = selection.counted(folded, facts, len(SCOPES))
    return None if place is None else SCOPES[place]


def starts_on(facts: Facts, folded: str) -> str | None:
    """The first day of a change that holds from then on: 从下周开始, from Wednesday on."""
    spans: list[tuple[Span, str]] = [
        (day.span, day.value.isoformat()) for day in facts.days if day.value is not None
    ]
    spans += [(period.span, period.first.isoformat()) for period in facts.periods]
    for (start, end), value in spans:
        if _ON.match(folded, end) or _STARTING.search(folded[max(0, start - 24) : start]):
            return value
    return None
