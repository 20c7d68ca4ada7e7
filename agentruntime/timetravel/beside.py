"""What the runtime's own rows tell about checkpoints: runs, messages, effects, forks."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from agentruntime.timetravel.history import Point

BESIDE = """
select
    (select coalesce(json_object_agg(r.version, json_build_object('id', r.id, 'kind', r.kind,
            'status', r.status, 'version', r.version, 'turn', r.turn)), '{}')
        from agentruntime_run as r
        where r.thread_id = %(thread)s and r.version = any(%(versions)s))::text,
    (select coalesce(json_agg(json_build_object('id', m.id, 'text', m.text, 'kind', m.kind,
            'version', m.run_version, 'class', m.classification, 'rule', m.rule) order by m.id), '[]')
        from agentruntime_message as m
        where m.thread_id = %(thread)s and m.role = 'user' and m.run_version = any(%(versions)s)
    )::text,
    (select coalesce(json_agg(json_build_object('id', e.id, 'name', e.name,
            'checkpoint', e.checkpoint) order by e.id), '[]')
        from agentruntime_effect as e
        where e.thread_id = %(thread)s and e.checkpoint = any(%(ids)s))::text,
    (select coalesce(json_agg(json_build_object('id', f.id, 'checkpoint', f.forked_at)
            order by f.id), '[]')
        from agentruntime_thread as f
        where f.forked_from_id = %(thread)s)::text
"""


@dataclass
class Beside:
    """run, said: of the run that made the checkpoint; effects, forks: what left from it."""

    run: dict[str, Any] | None = None
    said: list[dict[str, Any]] = field(default_factory=list)
    effects: list[dict[str, Any]] = field(default_factory=list)
    forks: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Surroundings:
    """by: what is beside each checkpoint, by its id. forks: `(thread, checkpoint it left at)` of
    all forks of the thread, whichever checkpoints were asked for.
    """

    by: dict[str, Beside]
    forks: list[tuple[str, str]]


def beside(thread: str, points: Sequence[Point]) -> Surroundings:
    """One statement for all of them."""
    names: dict[str, Any] = {
        "thread": thread,
        "versions": sorted({each.version for each in points if each.version is not None}),
        "ids": [each.id for each in points],
    }
    with connection.cursor() as cursor:
        cursor.execute(BESIDE, names)
        runs, messages, effects, forks = (json.loads(each) for each in cursor.fetchone())
    found = {each.id: Beside(run=runs.get(str(each.version))) for each in points}
    for point in points:
        found[point.id].said = [each for each in messages if each["version"] == point.version]
    for row in effects:
        found[row["checkpoint"]].effects.append(row)
    for row in forks:
        if row["checkpoint"] in found:
            found[row["checkpoint"]].forks.append(row)
    return Surroundings(by=found, forks=[(row["id"], row["checkpoint"]) for row in forks])
