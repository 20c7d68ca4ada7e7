"""How much history the pages and the pruning bear. Figures are printed with -s."""

import sys
import time
import tracemalloc
from contextlib import contextmanager
from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agentruntime import agents
from agentruntime.persistence.saver import SERDE
from agentruntime.timetravel import history, retention

pytestmark = pytest.mark.slow

# A long past below a real thread: checkpoints in one line, a blob of their own each.
PAST = """
with model as (
    select checkpoint, metadata from checkpoints where thread_id = %(thread)s
        and checkpoint_id = %(head)s
), ids as (
    select i, format('%%s-0000-6000-8000-000000000000', lpad(to_hex(268435456 + i), 8, '0')) as id,
        format('%%s-0000-6000-8000-000000000000', lpad(to_hex(268435455 + i), 8, '0')) as parent
    from generate_series(%(first)s, %(last)s) as i
), blobs as (
    insert into checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
    select %(thread)s, '', 'draft', 'v' || i, %(type)s, %(blob)s from ids
)
insert into checkpoints
    (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
select %(thread)s, '', id, case when i = 1 then null else parent end,
    jsonb_set(jsonb_set(checkpoint, '{id}', to_jsonb(id)),
        '{channel_versions,draft}', to_jsonb('v' || i)),
    metadata || jsonb_build_object('run_version', -i)
from ids, model
"""


def lengthen(thread, first, last):
    """Put checkpoints number `first` to `last` of a past in front of a thread."""
    kind, blob = SERDE.dumps_typed({"wish": "x" * 300, "candidates": [], "phase": "CHOOSING"})
    with connection.cursor() as cursor:
        cursor.execute(
            PAST,
            {
                "thread": thread.pk, "head": thread.head, "first": first, "last": last,
                "type": kind, "blob": blob,
            },
        )  # fmt: skip
        newest = f"{268435456 + last:08x}-0000-6000-8000-000000000000"
        cursor.execute(
            """update checkpoints set parent_checkpoint_id = %s where thread_id = %s
               and checkpoint_id > '1e' and (parent_checkpoint_id is null
               or parent_checkpoint_id < '1e')""",
            [newest, thread.pk],
        )
    # As autovacuum does after so much news; the planner has to know.
    with connection.cursor() as cursor:
        cursor.execute("analyze checkpoints; analyze checkpoint_blobs; analyze checkpoint_writes")


@contextmanager
def untraced():
    """Without coverage's eyes on every line, which would be most of what is measured."""
    trace = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(trace)


def seconds(call, *, times=9, clock=time.perf_counter):
    """The shortest of several: what it takes when nobody else has the machine."""
    call()
    taken = []
    with untraced():
        for _ in range(times):
            began = clock()
            call()
            taken.append(clock() - began)
    return min(taken)


def test_the_timeline_costs_little_more_at_ten_thousand_checkpoints(desk, booked):
    address = reverse("admin:audit_timeline", args=[booked.pk])

    def pages():
        first = desk.get(address)
        assert first.content.count(b'<tr id="c-') == history.PAGE
        return first

    lengthen(booked, 1, 93)
    short = seconds(pages)
    lengthen(booked, 94, 9993)
    long = seconds(pages)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        pages()

    print(f"timeline: {short * 1000:.0f} ms at 100, {long * 1000:.0f} ms at 10,000", len(queries))
    assert len(queries) <= 6, [query["sql"][:80] for query in queries]
    assert long <= 2 * short


def test_two_large_states_are_compared_quickly(desk, booked):
    def state(number):
        return {
            f"key {n}": {"name": f"room {n} " * 8, "seats": n, "free": [n % number, n, "yes"]}
            for n in range(1900)
        }

    ids = []
    with connection.cursor() as cursor:
        lengthen(booked, 1, 2)
        for number in (2, 7):
            kind, blob = SERDE.dumps_typed(state(number))
            assert len(blob) > 200_000
            cursor.execute(
                "update checkpoint_blobs set type = %s, blob = %s where thread_id = %s and version = %s",
                [kind, blob, booked.pk, f"v{1 if number == 2 else 2}"],
            )
            ids.append(f"{268435456 + len(ids) + 1:08x}-0000-6000-8000-000000000000")
    # The probe masks its draft to the names of its keys; here all of it is to be compared.
    agents.register(replace(agents.get_agent("probe"), redact=dict, describe=lambda state: {}))
    address = reverse("admin:audit_compare", args=[booked.pk])

    # All but three look-ups by key is this thread's own work, and the machine is shared.
    taken = seconds(lambda: desk.get(address, {"a": ids[0], "b": ids[1]}), clock=time.thread_time)

    print(f"compare: {taken * 1000:.0f} ms")
    assert taken < 0.3


def test_pruning_is_quick_and_takes_no_memory(booked):
    lengthen(booked, 1, 10_000)
    tracemalloc.start()
    began = time.perf_counter()

    done = retention.prune_thread(booked.pk, keep_last=10, before=None)

    taken = time.perf_counter() - began
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    rate = done.gone.checkpoints / taken * 60
    print(f"prune: {rate:.0f} checkpoints a minute, {peak / 1024:.0f} KiB at most")
    assert done.gone == done.planned
    assert done.gone.checkpoints > 9_990
    assert rate >= 20_000
    assert peak < 5_000_000
