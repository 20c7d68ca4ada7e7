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
# A claim comes with the head's checkpoint: it is at least as old as the turn that was expected. Where
# older words wait (a run gave them back, and may have acted on them), CLAIM says how far to read.
ACCEPT = f"""
with t as (
    select {THREAD}, t.unread,
        t.turn = %(turn)s and t.run_version = %(version)s and t.status = %(status)s as expected
    from agentruntime_thread as t where t.id = %(thread)s for no key update
), stored as (
    insert into agentruntime_message (thread_id, role, status, client_id, kind, text, data,
        interrupt_id, classification, rule, beside)
    select t.id, 'user', 'pending', %(client_id)s, %(kind)s, %(text)s, %(data)s,
        %(interrupt_id)s, %(classification)s, %(rule)s,
        case when t.status = 'running' then t.run_version end
    from t where t.expected
    on conflict (thread_id, client_id) where client_id is not null do nothing
    returning id, created_at
), claimed as (
    update agentruntime_thread as x
    set run_version = x.run_version + 1, lease_owner = %(worker)s, status = 'running', unread = 0,
        lease_until = clock_timestamp() + %(lease)s
    from t, stored
    where x.id = t.id and %(claim)s and t.lease_owner is null and t.unread = 0
    returning x.run_version
), left_unread as (
    update agentruntime_thread as x set unread = x.unread + 1
    from t, stored
    where x.id = t.id and not (%(claim)s and t.lease_owner is null and t.unread = 0)
), run as (
    insert into agentruntime_run (id, thread_id, version, kind, worker, turn, base, newest)
    select %(run)s, t.id, claimed.run_version,
        case when t.interrupt is null then 'start' else 'resume' end,
        %(worker)s, t.turn + 1, t.head, stored.id
    from t, claimed, stored
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
where m.thread_id = %(thread)s and m.status = 'pending'
    and (%(newest)s::bigint is null or m.id <= %(newest)s) order by m.id
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

# Without the client's id: sent again, it is decided on anew.
REFUSE = """
insert into agentruntime_message
    (thread_id, role, status, kind, text, data, interrupt_id, classification, rule)
values (%(thread)s, 'user', 'refused', %(kind)s, %(text)s, %(data)s, %(interrupt_id)s,
    %(classification)s, %(rule)s)
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

# What a lost run of this turn has done outside its state, or nothing: then the turn is no longer open
# to what was said since.
_ACTS = """
from agentruntime_effect as e join agentruntime_run as r on r.id = e.run_id
where e.thread_id = t.id and r.turn = t.turn + 1
"""

# Up to where the run of a thread's version read: a stop is of these messages, not of later ones.
_READ = """
select r.newest from agentruntime_run as r
where r.thread_id = t.id and r.version = t.run_version
"""

_NEWEST_PENDING = """
select coalesce(max(m.id), 0) from agentruntime_message as m
where m.thread_id = t.id and m.status = 'pending'
"""

# Under LOCK_FOR_CLAIM, which waits for nothing: a row locked by a fenced write in flight is skipped and
# tried at the next look.
# A run that takes another's place begins at the instant the other ends: one clock for both. A stop
# that the other was asked for goes with it, from loss to loss, until a turn is committed.
CLAIM = f"""
with t as (
    select {THREAD}, t.stop_version = t.run_version and not exists (select {_ACTS}) as is_stopped,
        coalesce(
            (select max(e.message_id) {_ACTS}),
            case when t.stop_version = t.run_version then ({_READ}) end,
            ({_NEWEST_PENDING})
        ) as newest
    from agentruntime_thread as t
    where t.id = %(thread)s and t.status <> 'archived' and not t.sandbox and {_LEASE_FREE}
        and exists (
            select from agentruntime_message as m
            where m.thread_id = t.id and m.status = 'pending'
        )
), lost as (
    update agentruntime_run as r set status = 'lost', ended_at = statement_timestamp()
    from t where r.thread_id = t.id and r.version = t.run_version and r.status = 'running'
), claimed as (
    update agentruntime_thread as x
    set run_version = x.run_version + 1, lease_owner = %(worker)s, status = 'running', unread = (
            select count(*) from agentruntime_message as m
            where m.thread_id = t.id and m.status = 'pending' and m.id > t.newest
        ), lease_until = clock_timestamp() + %(lease)s,
        stop_version = case when t.is_stopped then x.run_version + 1 else x.stop_version end
    from t where x.id = t.id
    returning x.run_version
), run as (
    insert into agentruntime_run
        (id, thread_id, version, kind, worker, turn, base, started_at, attempt, newest)
    select %(run)s, t.id, claimed.run_version,
        case when t.lease_owner is not null then 'recovery'
            when t.interrupt is null then 'start' else 'resume' end,
        %(worker)s, t.turn + 1, t.head, statement_timestamp(), 1 + (
            select count(*) from agentruntime_run as r
            where r.thread_id = t.id and r.turn = t.turn + 1 and r.status in ('running', 'lost')
        ), t.newest
    from t, claimed
    returning attempt, kind
)
select {THREAD}, claimed.run_version as claimed_version, run.attempt, run.kind, t.newest,
    t.is_stopped, (
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
where m.status = 'pending' and t.status <> 'archived' and not t.sandbox
    and t.agent = any(%(agents)s)
    and {_LEASE_FREE}
order by t.id limit %(limit)s
"""

# In a transaction: the lock waits for a fenced write in flight, the look after it sees its effect.
LOCK_FOR_SUPERSEDE = """
select 1 from agentruntime_thread
where id = %(thread)s and run_version = %(version)s and lease_owner = %(worker)s for update
"""

# In a transaction, for whoever decides by what is unread: messages come and go under this lock, and
# a statement that waits for a row sees the others as they were before.
LOCK = """
select 1 from agentruntime_thread where id = %(thread)s for no key update
"""

LOCK_FOR_CLAIM = """
select 1 from agentruntime_thread where id = %(thread)s for update skip locked
"""

# A run that has not begun takes in what was said since its claim; one that goes on with a turn that
# has acted does not.
TAKE_IN = f"""
with t as (
    update agentruntime_thread as t
    set unread = case when exists (select {_ACTS}) then t.unread else 0 end
    where t.id = %(thread)s and t.run_version = %(version)s and t.lease_owner = %(worker)s
    returning t.id, t.turn
)
update agentruntime_run as own
set newest = coalesce((select max(e.message_id) {_ACTS}), ({_NEWEST_PENDING}))
from t where own.thread_id = t.id and own.version = %(version)s
returning own.newest
"""

# What no run has taken in yet may be taken back by the person who said it; what a lost or drained run
# has acted on may not, though it waits to be read again.
WITHDRAW = f"""
with gone as (
    update agentruntime_message as m set status = 'withdrawn'
    from agentruntime_thread as t
    where t.id = %(thread)s and m.thread_id = t.id and m.client_id = %(client_id)s
        and m.status = 'pending' and (t.status <> 'running' or m.id > coalesce((
            select r.newest from agentruntime_run as r
            where r.thread_id = t.id and r.version = t.run_version
        ), 0))
        and not exists (select {_ACTS} and e.message_id >= m.id)
    returning m.id, m.thread_id
), fewer as (
    update agentruntime_thread as t set unread = greatest(t.unread, 1) - 1
    from gone where t.id = gone.thread_id
)
select id from gone
"""

STOP = """
update agentruntime_thread set stop_version = run_version
where id = %(thread)s and status = 'running'
returning run_version, turn
"""

# Started again, a run reads all that was said; stopped, what it had read and no more. A stop that was
# asked for and not yet heard goes with the thread to the next version.
SUPERSEDE = f"""
with bumped as (
    update agentruntime_thread as t
    set run_version = t.run_version + 1,
        unread = case when %(is_stop)s then t.unread else 0 end,
        stop_version = case when %(is_stop)s or t.stop_version = t.run_version
            then t.run_version + 1 else t.stop_version end,
        lease_until = clock_timestamp() + %(lease)s
    where t.id = %(thread)s and t.run_version = %(version)s and t.lease_owner = %(worker)s
        and not exists (select {_ACTS})
    returning t.id, t.turn, t.head, t.interrupt, t.run_version
), ended as (
    update agentruntime_run as r set status = 'superseded',
        ended_at = statement_timestamp(), error = %(why)s
    from bumped where r.thread_id = bumped.id and r.version = %(version)s
)
insert into agentruntime_run
    (id, thread_id, version, kind, worker, turn, base, started_at, newest)
select %(run)s, t.id, t.run_version, case when t.interrupt is null then 'start' else 'resume' end,
    %(worker)s, t.turn + 1, t.head, statement_timestamp(), case when %(is_stop)s then (
        select r.newest from agentruntime_run as r
        where r.thread_id = t.id and r.version = %(version)s
    ) else ({_NEWEST_PENDING}) end
from bumped as t
returning version, newest
"""

RENEW = """
update agentruntime_thread as t set lease_until = clock_timestamp() + %(lease)s
from unnest(%(threads)s::text[], %(versions)s::bigint[]) as held(thread, version)
where t.id = held.thread and t.run_version = held.version and t.lease_owner = %(worker)s
returning t.id, t.run_version, t.unread, t.stop_version = t.run_version as is_stopped
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
        session_at = case when session_open then session_at else clock_timestamp() end,
        session_turn = case when session_open then session_turn else turn end,
        session_open = %(outcome)s = '' and not sandbox,
        stop_version = -1,
        quarantined_at = case when %(quarantine)s then clock_timestamp() else quarantined_at end,
        updated_at = clock_timestamp()
    where id = %(thread)s and run_version = %(version)s and lease_owner = %(worker)s
    returning id, turn, unread, session_at, session_turn
), {ROWS_SQL}, consumed as (
    update agentruntime_message as m
    set status = 'consumed', turn = fence.turn, run_version = %(version)s,
        classification = case when r.class = '' then m.classification else r.class end
    from fence, unnest(%(consumed)s::bigint[], %(classes)s::text[]) as r(id, class)
    where m.id = r.id and m.thread_id = fence.id
), put_aside as (
    update agentruntime_message as m
    set status = r.status, rule = r.rule, turn = fence.turn, run_version = %(version)s
    from fence, unnest(%(aside)s::bigint[], %(aside_status)s::text[], %(aside_rule)s::text[])
        as r(id, status, rule)
    where m.id = r.id and m.thread_id = fence.id
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
), session as (
    insert into agentruntime_session
        (thread_id, outcome, phase, language, turns, started_at, ended_at)
    select fence.id, %(outcome)s, %(phase)s, %(language)s, fence.turn - fence.session_turn,
        fence.session_at, clock_timestamp()
    from fence where %(outcome)s <> ''
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

# One statement, so that the messages are those of the turn the thread is at.
SNAPSHOT = f"""
select {THREAD}, (
    select coalesce(jsonb_agg(to_jsonb(newest) order by newest.id), '[]') from (
        select {MESSAGE}, m.status from agentruntime_message as m
        where m.thread_id = t.id and m.status not in ('refused', 'withdrawn')
        order by m.id desc limit %(limit)s
    ) as newest
) as messages, case when t.status = 'running' then (
    select r.newest from agentruntime_run as r
    where r.thread_id = t.id and r.version = t.run_version
) end as newest
from agentruntime_thread as t where t.id = %(thread)s
"""

# For synchronous code inside its own transaction (effects). Claims skip the thread while it lasts,
# so a worker that is stopped in its middle must not keep it for ever: the server ends it in time.
FENCE = """
select set_config('transaction_timeout', %s, true) from agentruntime_thread
where id = %s and run_version = %s and status = 'running' for key share
"""
