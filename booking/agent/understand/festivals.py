"""The holidays of China whose day depends on the moon or the sun, as `holidays` reckons them.

春节, 清明, 端午, 中秋 and New Year's Eve of that calendar, and the first and last of the days off that
come with them; nothing is known of years that the library does not have.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from holidays.countries.china import China

from booking.agent.understand.days import Day

_NAMES = {
    "除夕": r"除夕夜?(?!跨年)|(?<![a-z])(?:chinese|lunar) new year'?s eve(?![a-z])",
    "春节": r"春节|大年初一|正月初一|农历新年|(?<![a-z])(?:chinese new year|spring festival|lunar new year)(?:'s day)?(?! ?'?s eve)(?![a-z])",
    "清明节": r"清明节?|(?<![a-z])(?:tomb[ -]sweeping(?: day)?|qing ?ming(?: festival)?)(?![a-z])",
    "端午节": r"端午节?|(?<![a-z])dragon boat(?: festival)?(?![a-z])",
    "中秋节": r"中秋节?|(?<![a-z])(?:mid[ -]?autumn(?: festival)?|moon festival)(?![a-z])",
}
_EACH = "|".join(f"(?P<f{place}>{words})" for place, words in enumerate(_NAMES.values()))
FESTIVAL = re.compile(
    r"(?P<around>(?<![a-z])(?:after|before|around) (?:the )?)?(?P<next>明年的?)?"
    rf"(?:{_EACH})(?P<off>假期|放假|长假|期间)?(?P<beside>(?:之|以|过)?[前后](?:的?第?[一二三四五六七\d][天日]|[一二三]?个?工作日)?|左右)?"
)
_ALL = tuple(_NAMES)


@lru_cache(maxsize=16)
def _of_year(year: int) -> dict[str, tuple[date, ...]]:
    """The days of each festival; the first is the festival itself, the others are days off."""
    found: dict[str, list[date]] = {}
    off: dict[date, str] = China(years=year, language="zh_CN")  # type: ignore[no-untyped-call]
    for day, said in sorted(off.items()):
        for name in said.split("; "):
            wanted = next((each for each in _ALL if each in name), None)
            if wanted is not None and day.year == year:
                found.setdefault(wanted, []).append(day)
    return {name: tuple(days) for name, days in found.items()}


def festival(match: re.Match[str], today: date) -> Day | None:
    """The next such festival; its days off together are asked down to one of them."""
    if match["around"] or match["beside"]:
        return Day("named", None, match.span(), "date.festival", problem="vague_date")
    name = next(name for place, name in enumerate(_ALL) if match[f"f{place}"])
    years = (today.year + 1,) if match["next"] else (today.year, today.year + 1)
    for year in years:
        days = _of_year(year).get(name, ())
        if days and days[-1 if match["off"] else 0] >= today:
            return _day(match, days)
    return None


def _day(match: re.Match[str], days: tuple[date, ...]) -> Day:
    if match["off"] and len(days) > 1:
        return Day("named", None, match.span(), "date.festival", problem="ambiguous_date",
                   options=(days[0], days[-1]))  # fmt: skip
    return Day("named", days[0], match.span(), "date.festival", assumed=True)
