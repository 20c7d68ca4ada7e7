"""What a meeting is called: titles said in a request, and own bookings named in either language."""

from __future__ import annotations

import re
from functools import lru_cache

from booking.agent.understand.normalise import Scan, fold
from booking.agent.understand.types import Found, OwnBooking, Span

TITLE_LIMIT = 80

_EXPLICIT = re.compile(
    r"(?:(?:会议)?(?:主题|标题|题目|名称)\s?(?:是|为|叫|改成|改为|:)\s?|名为|名叫|会议名字?(?:是|叫|:)|"
    r"(?<![a-z])(?:titled|entitled|(?<!room )(?:called|named)|(?:the )?(?:title|subject|topic)(?: is|:| to| should be))\s)"
    r"\s?(?:\"(?P<quoted>[^\"\n]{1,80})\"|《(?P<book>[^》\n]{1,80})》|(?P<plain>[^,。.!?;；、\n\"]{1,80}))"
)
_QUOTED = re.compile(r"\"(?P<title>[^\"\n]{2,80})\"|《(?P<book>[^》\n]{2,80})》")
_KIND = re.compile(
    r"(?:总结|例|周|站|晨|早|晚|月|季|年|评审|启动|复盘|研讨|座谈|头脑风暴|项目|部门|全员|客户|董事|股东)会(?!议)|"
    r"面试|培训|头脑风暴|述职|答辩|"
    r"(?<![a-z])(?:stand-?up|interviews?|training|retro(?:spective)?|kick-?off|workshop|all-?hands|brainstorm(?:ing)?"
    r"|(?:sprint |budget |design |code |quarterly )?(?:review|planning)|(?:client |product )?demo|weekly sync)(?![a-z])"
)
_CONCEPTS = (
    ("standup", r"站会|stand-?ups?(?: meetings?)?|daily scrum"),
    ("weekly", r"周会|周例会|weekly(?: (?:sync|meeting)s?)?"),
    ("regular", r"(?<!周)例会|regular meetings?"),
    ("morning", r"晨会|早会|morning meetings?"),
    ("monthly", r"月会|月度|monthly"),
    ("quarter", r"季度|季会|quarter(?:ly)?"),
    ("annual", r"年度|年会|annual|yearly"),
    ("client", r"客户|clients?|customers?"),
    ("demo", r"演示|展示|demos?|presentation"),
    ("budget", r"预算|budgets?"),
    ("review", r"评审|复审|审查|reviews?"),
    ("summary", r"总结|summary|wrap-?up"),
    ("retro", r"复盘|回顾|retro(?:spective)?s?"),
    ("kickoff", r"启动|kick-?offs?"),
    ("interview", r"面试|interviews?"),
    ("training", r"培训|trainings?"),
    ("planning", r"规划|计划|planning"),
    ("design", r"设计|design"),
    ("product", r"产品|product"),
    ("project", r"项目|project"),
    ("team", r"团队|团建|team"),
    ("sales", r"销售|sales"),
    ("brainstorm", r"头脑风暴|brainstorm(?:ing)?"),
    ("workshop", r"研讨|工作坊|workshops?"),
    ("allhands", r"全员|all-?hands"),
    ("board", r"董事|board"),
)


def _edged(pattern: str) -> str:
    """Latin words match whole, Chinese ones anywhere."""
    parts = re.split(r"\|(?![^(]*\))", pattern)
    return "|".join(rf"(?<![a-z]){part}(?![a-z])" if part.isascii() else part for part in parts)


_CONCEPT_PATTERNS = tuple((name, re.compile(_edged(pattern))) for name, pattern in _CONCEPTS)


def concepts(folded: str) -> frozenset[str]:
    """The meeting words of a text, the same for both languages: 客户演示 = client demo."""
    return frozenset(name for name, pattern in _CONCEPT_PATTERNS if pattern.search(folded))


def kind_words(title: str) -> tuple[str, ...]:
    """The words for kinds of meetings in a title, as they stand in it."""
    folded = fold(title)
    found = [match for _, each in _CONCEPT_PATTERNS if (match := each.search(folded))]
    return tuple(match.group() for match in sorted(found, key=lambda match: match.start()))


@lru_cache(maxsize=1024)
def _title_concepts(title: str) -> frozenset[str]:
    return concepts(fold(title))


def find_explicit(scan: Scan, said: str) -> Found | None:
    """A title that is said to be one; it is data and nothing in it is read further (P12)."""
    for pattern in (_EXPLICIT, _QUOTED):
        match = pattern.search(scan.text)
        if match is None:
            continue
        group = next(name for name, value in match.groupdict().items() if value)
        span = match.span(group)
        title = said[slice(*span)].strip()[:TITLE_LIMIT]
        scan.take(match.span())
        return Found(title, span, "title.said") if title else None
    return None


def find_kind(scan: Scan, said: str) -> Found | None:
    """The kind of meeting as its title (例会, interview), where no other title was said."""
    match = _KIND.search(scan.text)
    if match is None:
        return None
    return Found(said[slice(*match.span())], match.span(), "title.kind")


def named(folded: str, own: tuple[OwnBooking, ...]) -> tuple[OwnBooking, ...]:
    """The own bookings whose title the text names, the fullest matches only."""
    said = concepts(folded)
    scored = [(_likeness(folded, said, booking), booking) for booking in own]
    best = max((score for score, _ in scored), default=0)
    return tuple(booking for score, booking in scored if score == best) if best else ()


def _likeness(folded: str, said: frozenset[str], booking: OwnBooking) -> int:
    title = fold(booking.title).strip()
    if len(title) >= 2 and title in folded:
        return 100 + len(title)
    wanted = _title_concepts(booking.title)
    if wanted and wanted <= said:
        return 10 * len(wanted)
    return 0


_SAME_ROOM = re.compile(
    r"(?<![a-z])same (?:meeting )?room (?:as|we used for|for|that)(?![a-z])|(?:和|跟|与)[^,。]{1,24}(?:同一?个?间?|一样的?|相同的?)(?:会议室|房间|地方)?"
)


def find_same_room(scan: Scan, own: tuple[OwnBooking, ...]) -> Found | None:
    """The room of an own booking: same room as my client demo. None when it stays open which."""
    match = _SAME_ROOM.search(scan.text)
    if match is None:
        return None
    end = len(scan.text) if match.group().isascii() else match.end()
    phrase = scan.after(match.start(), end - match.start())
    rooms = {booking.room for booking in named(phrase, own)}
    if len(rooms) != 1:
        return None
    span: Span = (match.start(), match.start() + len(phrase))
    scan.take(span)
    return Found(rooms.pop(), span, "room.same_as")


def explicit_span(folded: str) -> Span | None:
    """Where an explicit title stands, so that nobody looks for orders in it."""
    match = _EXPLICIT.search(folded) or _QUOTED.search(folded)
    return match.span() if match else None
