"""How conversations go, in figures over a period: read from the rows that are there anyway.

Sessions are found by their end (index `session_by_end`), runs by their key, whose first bits are the
time it was made (UUID version 7), messages by their thread (index `message_of_thread`). Nothing is
counted twice or kept: every figure is an aggregate made when it is asked for. Copies that
administrators made do not count.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import connection


@dataclass(frozen=True, kw_only=True)
class Period:
    """`[since, until)`; agent: "" for all of them."""

    since: datetime
    until: datetime
    agent: str = ""


@dataclass(frozen=True, kw_only=True)
class Reached:
    """Attempts that succeeded, by where they ended: how many, turns and seconds they took.

    typical: the median; slow: what nine in ten stay under.
    """

    language: str
    phase: str
    count: int
    turns: float
    turns_slow: float
    seconds: float
    seconds_slow: float


@dataclass(frozen=True, kw_only=True)
class Ended:
    """Attempts by where they ended and how."""

    phase: str
    success: int
    cancelled: int
    failed: int
    timeout: int

    @property
    def total(self) -> int:
        return self.success + self.cancelled + self.failed + self.timeout

    @property
    def abandoned(self) -> int:
        """Those that came to nothing because their person went away or called it off."""
        return self.cancelled + self.timeout


@dataclass(frozen=True, kw_only=True)
class Revised:
    """What became of one slot: how often it was assumed, such a value overturned, any value changed."""

    slot: str
    assumed: int
    overturned: int
    revised: int


@dataclass(frozen=True, kw_only=True)
class Beside:
    """Messages said while a run was at work, by what they were; ended: runs stopped for one."""

    message_class: str
    count: int
    ended: int


@dataclass(frozen=True, kw_only=True)
class Planned:
    """Messages a planner other than the rules alone was asked about. by: who was believed in the end;
    verdict: how the model did; seconds: typical.
    """

    by: str
    verdict: str
    count: int
    seconds: float
    tokens: int


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Everything of a period."""

    reached: Sequence[Reached]
    ended: Sequence[Ended]
    revised: Sequence[Revised]
    beside: Sequence[Beside]
    planned: Sequence[Planned]

    @property
    def is_empty(self) -> bool:
        return not any((self.reached, self.ended, self.revised, self.beside, self.planned))

    def plain(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


_REACHED = """
select s.language, s.phase, count(*) as count,
    percentile_cont(0.5) within group (order by s.turns) as turns,
    percentile_cont(0.9) within group (order by s.turns) as turns_slow,
    percentile_cont(0.5) within group (order by extract(epoch from s.ended_at - s.started_at))
        as seconds,
    percentile_cont(0.9) within group (order by extract(epoch from s.ended_at - s.started_at))
        as seconds_slow
from agentruntime_session as s join agentruntime_thread as t on t.id = s.thread_id
where s.ended_at >= %(since)s and s.ended_at < %(until)s and s.outcome = 'success'
    and not t.sandbox and (%(agent)s = '' or t.agent = %(agent)s)
group by s.phase, s.language order by s.phase, s.language
"""

_ENDED = """
select s.phase,
    count(*) filter (where s.outcome = 'success') as success,
    count(*) filter (where s.outcome = 'cancelled') as cancelled,
    count(*) filter (where s.outcome = 'failed') as failed,
    count(*) filter (where s.outcome = 'timeout') as timeout
from agentruntime_session as s join agentruntime_thread as t on t.id = s.thread_id
where s.ended_at >= %(since)s and s.ended_at < %(until)s
    and not t.sandbox and (%(agent)s = '' or t.agent = %(agent)s)
group by s.phase order by s.phase
"""

# The committed runs of the period, and what their steps noted of themselves.
_RUNS = """
from agentruntime_run as r join agentruntime_thread as t on t.id = r.thread_id
where r.id >= %(first)s and r.id < %(last)s
    and not t.sandbox and (%(agent)s = '' or t.agent = %(agent)s)
"""

_REVISED = f"""
select slot, count(*) filter (where what = 'assumed') as assumed,
    count(*) filter (where what = 'overturned') as overturned,
    count(*) filter (where what = 'revised') as revised
from (
    select what, jsonb_array_elements_text(step -> what) as slot
    from (
        select jsonb_array_elements(r.steps) as step {_RUNS} and r.status in ('done', 'waiting')
    ) as steps, unnest(array['assumed', 'overturned', 'revised']) as what
    where jsonb_typeof(step -> what) = 'array'
) as notes
group by slot order by slot
"""

_BESIDE = f"""
select coalesce(nullif(replace(m.rule, '_while_running', ''), ''), m.classification)
        as message_class,
    count(*) as count, count(distinct (r.thread_id, r.version))
        filter (where r.status = 'superseded') as ended
from agentruntime_message as m join (
    select r.thread_id, r.version, r.status {_RUNS}
) as r on m.thread_id = r.thread_id and m.beside = r.version
group by 1 order by count(*) desc, 1
"""

_PLANNED = f"""
select plan ->> 'by' as by, plan ->> 'verdict' as verdict, count(*) as count,
    coalesce(percentile_cont(0.5) within group (order by (plan ->> 'seconds')::float), 0) as seconds,
    coalesce(sum((plan -> 'tokens' ->> 'input')::bigint
        + (plan -> 'tokens' ->> 'output')::bigint), 0)::bigint as tokens
from (
    select jsonb_array_elements(step -> 'planner') as plan
    from (
        select jsonb_array_elements(r.steps) as step {_RUNS} and r.status in ('done', 'waiting')
    ) as steps
    where jsonb_typeof(step -> 'planner') = 'array'
) as plans
group by 1, 2 order by 1, 2
"""


def figures(period: Period) -> Figures:
    """Everything of a period, in five statements."""
    names = {
        "since": period.since,
        "until": period.until,
        "agent": period.agent,
        "first": first_key(period.since),
        "last": first_key(period.until),
    }
    return Figures(
        reached=[Reached(**row) for row in _rows(_REACHED, names)],
        ended=[Ended(**row) for row in _rows(_ENDED, names)],
        revised=[Revised(**row) for row in _rows(_REVISED, names)],
        beside=[Beside(**row) for row in _rows(_BESIDE, names)],
        planned=[Planned(**row) for row in _rows(_PLANNED, names)],
    )


def first_key(instant: datetime) -> uuid.UUID:
    """The lowest UUID version 7 of an instant (RFC 9562): milliseconds in the first 48 bits."""
    return uuid.UUID(int=max(0, int(instant.timestamp() * 1000)) << 80)


def _rows(statement: str, names: Mapping[str, Any]) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, names)
        heads = [column.name for column in cursor.description]
        return [dict(zip(heads, row, strict=True)) for row in cursor.fetchall()]
