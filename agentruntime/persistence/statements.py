"""The SQL of the hot path, named. `store` runs it; nothing else imports it.

The clock is always PostgreSQL's. `fence` is the CTE that yields a row only while the run still
holds its thread; everything a run writes hangs from it.
"""

from agentruntime.persistence.saver import ROWS_SQL, TUPLE_SQL

THREAD = """t.id, t.agent, t.owner_id, t.language, t.status, t.run_version, t.lease_owner,
    t.turn, t.head, t.interrupt, t.summary, t.title"""

MESSAGE = "m.id, m.role, m.kind, m.text, m.data, m.interrupt_id, m.client_id, m.created_at"

# Locks the row without blocking fenced writes, so that messages of a thread are stored in the
# order of their ids; stores and claims only when the thread is as the decision took it to be.
# A claim comes with the head's checkpoint: it is at least as old as the turn that was expected.
ACCEPT = f"""
with t as (
    select {THREAD}, t.unread,
        t.turn = %(turn)s and t.run_version = %(version)s and t.status = %(status)s as expected
    from agentruntime_thread as t where t.id = %(thread)s for no key update
), stored as (
    insert into agentruntime_message (thread_id, role, status, client_id, kind, text, data,
        interrupt_id, classification, rule, run_version)
    select t.id, 'user', 'pending', %(client_id)s, %(kind)s, %(text)s, %(data)s,
        %(interrupt_id)s, %(classification)s, %(rule)s,
        t.run_version + case when %(claim)s then 1 else 0 end
    from t where t.expected
    on conflict (thread_id, client_id) where client_id is not null do nothing
    returning id, created_at
), claimed as (
    update agentruntime_thread as x
    set run_version = x.run_version + 1, lease_owner = %(worker)s, status = 'running', unread = 0,
        lease_until = clock_timestamp() + %(lease)s
    from t, stored where x.id = t.id and %(claim)s and t.lease_owner is null
    returning x.run_version
), left_unread as (
    update agentruntime_thread as x set unread = x.unread + 1
    from t, stored where x.id = t.id and not (%(claim)s and t.lease_owner is null)
), run as (
    insert into agentruntime_run (id, thread_id, version, kind, worker, turn, base)
    select %(run)s, t.id, claimed.run_version,
        case when t.interrupt is null then 'start' else 'resume' end,
        %(worker)s, t.turn + 1, t.head
    from t, claimed
)
select {THREAD}, t.unread, t.expected, stored.id as message_id, stored.created_at as message_at,
    claimed.run_version as claimed_version, h.*
from t left join stored on true left join claimed on true
left join lateral ({TUPLE_SQL}
    where claimed.run_version is not null and thread_id = t.id and checkpoint_ns = ''
        and checkpoint_id = t.head
) as h on true
"""

PENDING = f"""
select {MESSAGE}, m.rule from agentruntime_message as m
where m.thread_id = %(thread)s and m.status = 'pending' order by m.id
"""

# The checkpoint a run starts from: the thread's own head, or where a long run was saved.
HEAD = f"""{TUPLE_SQL}
where thread_id = %(thread)s and checkpoint_ns = '' and checkpoint_id = coalesce(
    %(flushed)s, (select head from agentruntime_thread where id = %(thread)s)
)
"""

BY_CLIENT_ID = """
select id, status, classification, rule, created_at from agentruntime_message
where thread_id = %(thread)s and client_id = %(client_id)s
"""

REFUSE = """
insert into agentruntime_message
    (thread_id, role, status, client_id, kind, text, data, interrupt_id, classification, rule)
values (%(thread)s, 'user', 'refused', %(client_id)s, %(kind)s, %(text)s, %(data)s,
    %(interrupt_id)s, %(classification)s, %(rule)s)
on conflict (thread_id, client_id) where client_id is not null do nothing
"""

# A lease is free when nobody holds it, when its time is over, or when its worker has no session
# left (the hint that makes takeover quick; a wrong hint costs a repeated step, never a write).
_LEASE_FREE = """(
    t.lease_owner is null or t.lease_until < clock_timestamp() or (
        pg_postmaster_start_time() < clock_timestamp() - %(lease)s and not exists (
            select from pg_stat_activity where application_name = 'roomwise:' || t.lease_owner
        )
    )
)"""

# Waits for nothing: a row locked by a fenced write in flight is skipped and tried at the next look.
# A run that takes another's place begins at the instant the other ends: one clock for both.
CLAIM = f"""
with t as (
    select {THREAD} from agentruntime_thread as t
    where t.id = %(thread)s and t.status <> 'archived' and {_LEASE_FREE}
        and exists (
            select from agentruntime_message as m
            where m.thread_id = t.id and m.status = 'pending'
        )
    for update skip locked
), lost as (
    update agentruntime_run as r set status = 'lost', ended_at = statement_timestamp()
    from t where r.thread_id = t.id and r.version = t.run_version and r.status = 'running'
), claimed as (
    update agentruntime_thread as x
    set run_version = x.run_version + 1, lease_owner = %(worker)s, status = 'running', unread = 0,
        lease_until = clock_timestamp() + %(lease)s
    from t where x.id = t.id
    returning x.run_version
), run as (
    insert into agentruntime_run
        (id, thread_id, version, kind, worker, turn, base, started_at, attempt)
    select %(run)s, t.id, claimed.run_version,
        case when t.lease_owner is not null then 'recovery'
            when t.interrupt is null then 'start' else 'resume' end,
        %(worker)s, t.turn + 1, t.head, statement_timestamp(), 1 + (
            select count(*) from agentruntime_run as r
            where r.thread_id = t.id and r.turn = t.turn + 1 and r.status in ('running', 'lost')
        )
    from t, claimed
    returning attempt, kind
)
select {THREAD}, claimed.run_version as claimed_version, run.attempt, run.kind, (
    select r.flushed from agentruntime_run as r
    where r.thread_id = t.id and r.turn = t.turn + 1 and r.status in ('running', 'lost')
        and r.flushed is not null
    order by r.version desc limit 1
) as flushed
from t, claimed, run
"""

# Threads whose messages nobody reads: a partial index on pending messages finds them.
UNATTENDED = f"""
select distinct t.id from agentruntime_message as m
join agentruntime_thread as t on t.id = m.thread_id
where m.status = 'pending' and t.status <> 'archived' and t.agent = any(%(agents)s)
    and {_LEASE_FREE}
order by t.id limit %(limit)s
"""

# In a transaction: the lock waits for a fenced write in flight, the look after it sees its effect.
LOCK_FOR_SUPERSEDE = """
select 1 from agentruntime_thread
where id = %(thread)s and run_version = %(version)s and lease_owner = %(worker)s for update
"""

SUPERSEDE = """
with bumped as (
    update agentruntime_thread as t
    set run_version = t.run_version + 1, unread = 0,
        lease_until = clock_timestamp() + %(lease)s
    where t.id = %(thread)s and t.run_version = %(version)s and t.lease_owner = %(worker)s
        and not exists (
            select from agentruntime_effect as e
            where e.thread_id = t.id and e.run_version = t.run_version
        )
    returning t.id, t.turn, t.head, t.interrupt, t.run_version
), ended as (
    update agentruntime_run as r set status = 'superseded',
        ended_at = statement_timestamp(), error = %(why)s
    from bumped where r.thread_id = bumped.id and r.version = %(version)s
), run as (
    insert into agentruntime_run (id, thread_id, version, kind, worker, turn, base, started_at)
    select %(run)s, id, run_version, case when interrupt is null then 'start' else 'resume' end,
        %(worker)s, turn + 1, head, statement_timestamp()
    from bumped
)
select run_version from bumped
"""

RENEW = """
update agentruntime_thread as t set lease_until = clock_timestamp() + %(lease)s
from unnest(%(threads)s::text[], %(versions)s::bigint[]) as held(thread, version)
where t.id = held.thread and t.run_version = held.version and t.lease_owner = %(worker)s
returning t.id, t.run_version, t.unread
"""

# Also frees a thread this worker was given but never ran; its messages stay pending, and the next
# claim has to read them.
RELEASE = """
with fence as (
    update agentruntime_thread as t
    set lease_owner = null, lease_until = null,
        status = case when interrupt is null then 'idle' else 'waiting' end,
        unread = (
            select count(*) from agentruntime_message as m
            where m.thread_id = t.id and m.status = 'pending'
        )
    where id = %(thread)s and run_version = %(version)s and lease_owner = %(worker)s
    returning id
)
update agentruntime_run as r set status = %(status)s, error = %(error)s,
    ended_at = clock_timestamp()
from fence where r.thread_id = fence.id and r.version = %(version)s
"""

COMMIT = f"""
with fence as (
    update agentruntime_thread set
        status = %(status)s, lease_owner = null, lease_until = null, turn = turn + 1,
        head = %(head)s, interrupt = %(interrupt)s, summary = %(summary)s, title = %(title)s,
        language = %(language)s, agent_version = %(agent_version)s, unread = unread + %(left)s,
        updated_at = clock_timestamp()
    where id = %(thread)s and run_version = %(version)s and lease_owner = %(worker)s
    returning id, turn, unread
), {ROWS_SQL}, consumed as (
    update agentruntime_message as m
    set status = 'consumed', turn = fence.turn, run_version = %(version)s,
        classification = case when r.class = '' then m.classification else r.class end
    from fence, unnest(%(consumed)s::bigint[], %(classes)s::text[]) as r(id, class)
    where m.id = r.id and m.thread_id = fence.id
), refused as (
    update agentruntime_message as m
    set status = 'refused', rule = 'stale_answer', turn = fence.turn, run_version = %(version)s
    from fence where m.id = any(%(refused)s) and m.thread_id = fence.id
), said as (
    insert into agentruntime_message
        (thread_id, role, status, kind, text, data, interrupt_id, turn, run_version)
    select fence.id, 'assistant', 'said', r.kind, r.text, r.data, r.interrupt_id, fence.turn,
        %(version)s
    from fence, json_to_recordset(%(said)s::json)
        as r(kind text, text text, data jsonb, interrupt_id text)
    returning id, created_at
), ended as (
    update agentruntime_run as r
    set status = %(run_status)s, ended_at = clock_timestamp(), head = %(head)s,
        steps = %(steps)s, error = %(error)s
    from fence where r.thread_id = fence.id and r.version = %(version)s
)
select fence.turn, fence.unread > 0 as pending,
    (select array_agg(said.id order by said.id) from said) as said_ids,
    (select min(said.created_at) from said) as said_at
from fence
"""

FLUSH = f"""
with fence as (
    select id from agentruntime_thread
    where id = %(thread)s and run_version = %(version)s and lease_owner = %(worker)s
    for key share
), {ROWS_SQL}, progress as (
    update agentruntime_run as r set flushed = %(flushed)s
    from fence where r.thread_id = fence.id and r.version = %(version)s
)
select id from fence
"""

TURNS = """
select id, turn, run_version from agentruntime_thread where id = any(%(threads)s)
"""

# One statement, so that the messages are those of the turn the thread is at.
SNAPSHOT = f"""
select {THREAD}, (
    select coalesce(jsonb_agg(to_jsonb(newest) order by newest.id), '[]') from (
        select {MESSAGE}, m.status from agentruntime_message as m
        where m.thread_id = t.id and m.status <> 'refused'
        order by m.id desc limit %(limit)s
    ) as newest
) as messages
from agentruntime_thread as t where t.id = %(thread)s
"""

# For synchronous code inside its own transaction (effects). Claims skip the thread while it lasts,
# so a worker that is stopped in its middle must not keep it for ever: the server ends it in time.
FENCE = """
select set_config('transaction_timeout', %s, true) from agentruntime_thread
where id = %s and run_version = %s and status = 'running' for key share
"""
