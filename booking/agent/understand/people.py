"""How many: 8个人, 6-8 people, me plus three, six of us, 十来个. The speaker counts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from booking.agent.understand import numerals
from booking.agent.understand.normalise import Scan
from booking.agent.understand.types import Found, Problem, Span

MOST = 9999

_NUM = numerals.NUMBER
_WHO_ZH = (
    r"(?:人(?![事力民均家生])|同事|客户|客人|嘉宾|参会者?|与会者?|小伙伴|伙伴|同学|学员|领导|代表|员工"
    r"|朋友|老师|面试官)"
)
_WHO_EN = (
    r"(?:people|peeps|persons?|ppl|pax|attendees?|participants?|guests?|colleagues?|coworkers?"
    r"|co-workers?|folks|teammates?|team members|members|heads|seats?|seater|employees|staff"
    r"|students|interviewees|visitors|clients|friends|guys|of us)(?![a-z])"
)
_WHO = rf"(?:(?:个|位|名|各(?=人))?\s?{_WHO_ZH}|\s?(?:other |more )?{_WHO_EN}|-person(?![a-z])|-seater(?![a-z]))"
_MEASURED = rf"(?:{_WHO}|个|位|名)"
_NOT_TIME = (
    r"(?!\s?(?:[:/.]\d|am(?![a-z])|pm(?![a-z])|o'?clock|点|时|hours?|hrs?|h(?![a-z])|min|days?|weeks?|fortnights?|months?|years?|quarters?"
    r"|st(?![a-z])|nd(?![a-z])|rd(?![a-z])|th(?![a-z])|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
    r"|号|日|月|-\d|~\d|to \d|or \d|\d|天|周|%|次|in the |times|(?:ten|five|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|oh|twenty|thirty|forty|fifty)(?![a-z])))"
)
_SIGN = r"(?P<sign>(?<![\da-z])-|负|minus )?"


@dataclass(frozen=True, slots=True)
class Heads:
    """A headcount, or with `change` a difference to the one already known."""

    count: float
    span: Span
    rule: str
    assumed: bool = False
    change: bool = False


_Reader = Callable[[re.Match[str]], tuple[float, bool] | None]


def _plain(match: re.Match[str]) -> tuple[float, bool] | None:
    if pair := numerals.neighbours(match["n"].strip()):
        return pair[1], False
    if "." in match["n"]:
        return float(match["n"]), False
    count = numerals.read(match["n"])
    if count is None:
        return None
    return (-count if match.groupdict().get("sign") else count), False


def _plus_one(match: re.Match[str]) -> tuple[float, bool] | None:
    found = _plain(match)
    return None if found is None else (found[0] + 1, False)


def _with_me(match: re.Match[str]) -> tuple[float, bool] | None:
    """我和老板还有两个客户, me, my boss and two clients: each of them, the number and the speaker."""
    more = numerals.read(match["more"]) if match["more"] else 0
    if more is None:
        return None
    count = 1 + len(_EACH_ONE.findall(match["others"])) + more
    return count, not more  # 同事 may be several


def _upper(match: re.Match[str]) -> tuple[float, bool] | None:
    low, high = numerals.read(match["a"]), numerals.read(match["n"])
    return None if low is None or high is None or low > high else (high, False)


def _about(match: re.Match[str]) -> tuple[float, bool] | None:
    base = numerals.read(match["n"])
    if base is None or base % 10:
        return None
    several = match["more"] != "来" and base < 100
    return (base + 9 if several else base), True


def _loose(match: re.Match[str]) -> tuple[float, bool] | None:
    found = _plain(match)
    return None if found is None else (found[0], True)


def _neighbours(match: re.Match[str]) -> tuple[float, bool] | None:
    pair = numerals.neighbours(match["n"])
    return None if pair is None else (pair[1], False)


def _half(match: re.Match[str]) -> tuple[float, bool] | None:
    found = _plain(match)
    return None if found is None else (found[0] + 0.5, False)


def _minus(match: re.Match[str]) -> tuple[float, bool] | None:
    found = _plain(match)
    return None if found is None else (-found[0], False)


def _always(count: int, *, assumed: bool = False) -> _Reader:
    return lambda match: (count, assumed)


def _rule(name: str, pattern: str, reader: _Reader) -> tuple[str, re.Pattern[str], _Reader]:
    return name, re.compile(pattern), reader


_N = rf"(?P<n>{_NUM})"
_WE_ARE = (
    r"(?<![a-z])(?:we|there|they)(?:'re| are|'ll be| will be)(?: (?:about|around|only|just|now))*"
)
_MAKE_IT = r"(?<![a-z])(?:make|change) (?:it|that)(?: to)?"
_ME_EN = r"(?<![a-z])(?:me|myself|i)(?![a-z])"
_ONE_ZH = r"(?:我的?)?(?:老板|领导|经理|主管|总监|助理|秘书|同事|客户|导师|组长)"
_ME_AND_ZH = rf"(?<![帮给替])(?:我|本人)\s?(?:和|跟|、|加|带)(?P<others>{_ONE_ZH}(?:(?:、|和|跟|还有){_ONE_ZH}){{0,3}})(?!们|们?[的会])"
_ONE_EN = r"(?:my|our|the|a|one) (?:boss|manager|colleague|lead|director|assistant|client|customer|coworker|co-worker|teammate)"
_OTHERS_EN = rf"(?<![a-z])(?P<others>{_ONE_EN}(?:(?:,| and|, and) {_ONE_EN}){{0,3}})"
_ME_AND_EN = rf"(?<![a-z])(?:me|myself|i)(?:,| and|, and| plus) (?P<others>{_ONE_EN}(?:(?:,| and|, and) {_ONE_EN}){{0,3}})(?![a-z'])"
_EACH_ONE = re.compile(rf"{_ONE_ZH}|{_ONE_EN}")
_RULES = (
    _rule(
        "more",
        rf"(?:(?:再|又|多|另外)(?:加|添|来了?|增加|有|了)|增加|(?<![增再又])[加添](?!到|上)){_N}\s?{_MEASURED}",
        _plain,
    ),
    _rule(
        "more_en",
        rf"(?<![a-z])add {_N}(?: more| extra)? ?{_WHO_EN}",
        _plain,
    ),
    _rule(
        "extra_en",
        rf"{_N} (?:(?:more|extra|additional) {_WHO_EN}|(?:people|persons?) more(?![a-z]))",
        _plain,
    ),
    _rule("fewer_zh", rf"(?:少来?了?|减少|去掉)(?!于){_N}\s?(?:个|位|名)?\s?{_WHO_ZH}", _minus),
    _rule("fewer_en", rf"{_N} (?:fewer|less) {_WHO_EN}", _minus),
    _rule(
        "total_with_me",
        rf"(?:连|算上|包括|包含|含|加上?)我(?:在内)?\s?(?:一共|总共|共)?(?:有|是)?\s?{_N}\s?{_MEASURED}",
        _plain,
    ),
    _rule(
        "me_plus_zh",
        rf"(?:我|本人)(?:自己)?\s?(?:和|跟|加上|加|与|带着|带|还有|\+)\s?(?:另外|其他|其余)?\s?{_N}"
        rf"\s?(?:{_MEASURED}|(?<=\+\d)|(?<=\+\d\d))",
        _plus_one,
    ),
    _rule(
        "plus_me_zh", rf"{_N}\s?(?:个|位|名)?\s?{_WHO_ZH}\s?(?:和|加上|加|\+|跟)\s?我", _plus_one
    ),
    _rule(
        "me_and_others_zh",
        rf"{_ME_AND_ZH}(?:\s?(?:和|还有|以及|跟|加上?|、|,)\s?(?:另外)?(?P<more>{_NUM})\s?{_MEASURED})?",
        _with_me,
    ),
    _rule(
        "me_and_others_en",
        rf"{_ME_AND_EN}(?:,? (?:and|plus|&) (?P<more>{_NUM})(?: other)? {_WHO_EN})?(?! {_ME_EN})",
        _with_me,
    ),
    _rule("others_and_me_en", rf"{_OTHERS_EN},? and (?:me|i)(?![a-z'])(?P<more>)", _with_me),
    _rule(
        "me_plus_en",
        rf"{_ME_EN},? ?(?:plus|and|with|\+|&) ?{_N}(?!\s?[:\d]){_NOT_TIME}"
        rf"(?: (?:other|more|of my))?(?: ?{_WHO_EN}| others)?",
        _plus_one,
    ),
    _rule(
        "plus_me_en",
        rf"{_N}(?: other| of my)? (?:{_WHO_EN}|others) (?:and|plus|with|\+) {_ME_EN}",
        _plus_one,
    ),
    _rule(
        "only_me", r"(?<![a-z])(?:just|only) me(?![a-z])|就我一个人?|我一个人|我自己", _always(1)
    ),
    _rule("we_two", r"(?:我们|咱们|咱|我)\s?(?P<n>[俩仨])", _plain),
    _rule("us_zh", rf"(?:我们|咱们|咱)\s?(?:一共|总共|共|有|大概)?\s?{_N}\s?{_MEASURED}", _plain),
    _rule(
        "range",
        rf"(?P<a>{_NUM})\s?(?:-|~|到|至|to|or|或者?|、)\s?{_N}\s?{_WHO}",
        _upper,
    ),
    _rule(
        "about_ten",
        rf"(?P<n>\d{{1,4}}|[一二三四五六七八九]?[十百])(?P<more>来|几|多|余)\s?{_MEASURED}",
        _about,
    ),
    _rule(
        "about",
        rf"(?:大概|大约|差不多|约|(?<![a-z])(?:about|around|roughly|approximately|some)) ?{_N}\s?{_WHO}",
        _loose,
    ),
    _rule("dozen", rf"(?<![a-z])half a dozen(?: {_WHO_EN})?", _always(6, assumed=True)),
    _rule("dozen", rf"(?<![a-z])(?:a|one) dozen(?: {_WHO_EN})?", _always(12, assumed=True)),
    _rule("fraction", rf"{_N} and a half\s?{_WHO}", _half),
    _rule(
        "neighbours",
        r"(?P<n>[一二三四五六七八九]{2})个(?=\s*(?:$|[,.;!吧]|左右|\ue000))",
        _neighbours,
    ),
    _rule("plain", rf"{_SIGN}(?P<n>\d{{1,5}}\.\d{{1,2}}|{_NUM}|[俩仨])\s?{_WHO}", _plain),
    _rule(
        "headcount",
        rf"(?:参会)?(?:人数|headcount|head count|capacity|attendees|number of {_WHO_EN})"
        r"\s?(?:[写说搞填打]?错了?,?\s?(?:应该|其实)?是?|改成|改为|改到|是|为|of|is|to|should be|will be|:|=)?\s?"
        rf"{_SIGN}{_N}{_NOT_TIME}",
        _plain,
    ),
    _rule("we_are", rf"{_WE_ARE} {_N}{_NOT_TIME}(?![a-z])", _plain),
    _rule("measure", rf"{_N}\s?[位名](?=\s*(?:$|[,.;!]|\ue000))", _plain),
    _rule("make_it", rf"{_MAKE_IT} {_N}{_NOT_TIME}(?=\s*(?:$|[,.;!]|please|instead))", _plain),
    _rule("party", rf"(?<![a-z])(?:party|group|team|crew) of {_N}{_NOT_TIME}", _plain),
    _rule(
        "seats",
        rf"(?:容纳|坐得?下?|seat(?:s|ing)?(?: for)?)\s?{_N}\s?(?:个|位)?{_NOT_TIME}",
        _plain,
    ),
    _rule("for", rf"(?<![a-z])for {_SIGN}{_N}(?![a-z]){_NOT_TIME}", _plain),
    _rule(
        "pair",
        r"1对1|一对一|(?<![a-z])one[ -]on[ -]one|(?<!\d)1[ -]?on[ -]?1(?!\d)|(?<![\d:])1:1(?![\d:])",
        _always(2, assumed=True),
    ),
)
_CHANGES = {"more", "more_en", "extra_en", "fewer_zh", "fewer_en"}


def find(scan: Scan) -> tuple[Heads, ...]:
    """Every headcount in what is left of the text, in the order it was said; takes them."""
    found = []
    for name, pattern, reader in _RULES:
        for match in scan.matches(pattern):
            if (read := reader(match)) is not None:
                count, assumed = read
                rule = f"capacity.{name}"
                found.append(Heads(count, match.span(), rule, assumed, name in _CHANGES))
                scan.take(match.span())
    return tuple(sorted(found, key=lambda heads: heads.span))


def value_of(heads: Heads, text: str) -> Found | Problem:
    if heads.count != int(heads.count) or (not heads.change and not 0 < heads.count <= MOST):
        return Problem("impossible_capacity", "capacity", heads.span, text[slice(*heads.span)])
    return Found(int(heads.count), heads.span, heads.rule, heads.assumed)
