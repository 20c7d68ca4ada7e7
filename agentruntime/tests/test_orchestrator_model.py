"""Any interleaving of what people say and what workers do, against a model of one page (2.2-2.5).

The rules act through `inbox`, `store`, `effects` and `LeaseKeeper` on the real database; the model
beside them is a handful of fields. A worker that died, hung or was cut off keeps what it was given
and goes on trying to write, as a zombie does.
"""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from agentruntime.exceptions import InboxFull, RunSuperseded, StaleAnswer
from agentruntime.execution import effects
from agentruntime.execution.effects import EffectRequest
from agentruntime.execution.turns import turn_input
from agentruntime.models import uuid7
from agentruntime.orchestration import inbox
from agentruntime.orchestration.leases import LeaseKeeper
from agentruntime.orchestration.policy import STRATEGIES, changes_run
from agentruntime.persistence import store
from agentruntime.persistence.pools import in_db_thread
from agentruntime.persistence.records import Claim, NewMessage
from agentruntime.tests.conftest import expire, open_thread, turn_of, view_of
from agentruntime.tests.interleaving import Model, World

LEASE = timedelta(seconds=20)
WORKERS = st.integers(0, 2)
WORDS = st.sampled_from(["a room", "no for ten", "and a projector", "stop it"])

ROWS = """
select t.run_version as version, t.turn, t.status, t.lease_owner as owner, t.unread,
    t.interrupt ->> 'id' as question,
    (select coalesce(jsonb_agg(jsonb_build_array(client_id, status, turn) order by id), '[]')
        from agentruntime_message as m where m.thread_id = t.id and role = 'user') as said,
    (select coalesce(jsonb_agg(jsonb_build_array(version, status) order by version), '[]')
        from agentruntime_run as r where r.thread_id = t.id) as runs,
    (select count(*) from agentruntime_effect as e where e.thread_id = t.id) as effects
from agentruntime_thread as t where t.id = %s
"""


class Orchestrator(RuleBasedStateMachine):
    def __init__(self, world):
        super().__init__()
        self.world = world

    @initialize()
    def begin(self):
        self.model = Model()
        self.thread = self.run(open_thread(self.world.person, self.world.agent))
        self.views = [self.view()]
        self.given: list[Claim] = []

    @property
    def workers(self):
        return list(self.world.sessions)

    def run(self, work):
        return self.world.run(work)

    def view(self):
        return self.run(view_of(self.world.pool, self.thread))

    def note(self, what):
        """Count what the examples came to, so that they can be seen to come to it."""
        self.world.seen[what] += 1

    def claim_of(self, index: int) -> Claim:
        """One of the claims given so far, mostly the newest."""
        return self.given[-1 - index % len(self.given)]

    def holds(self, claim: Claim) -> bool:
        lease = claim.lease
        return (lease.version, lease.worker) == (self.model.version, self.model.owner)

    # --- what people do

    def accept(self, message, *, worker, stale):
        return inbox.accept(
            self.world.pool,
            message,
            seen=self.views[-1 - stale % len(self.views)],
            worker=worker,
            lease=LEASE,
        )

    def accepted(self, client_id, receipt):
        """A message was stored, and claimed if nobody ran the thread."""
        self.note("said beside a run" if self.model.is_running else "said and claimed")
        model = self.model
        assert not receipt.repeated
        if not model.pending and not model.is_running:
            model.stop = -1  # nothing is left of what was stopped
        model.said[client_id] = "pending"
        assert (receipt.claim is None) == model.is_running
        if receipt.claim is not None:
            self.took(receipt.claim)

    def took(self, claim):
        """A claim was given: what it reads, and whether only to stop it."""
        is_stopped = self.model.is_stopped
        due = self.model.claimed_by(claim.lease.worker)
        self.given.append(claim)
        assert claim.lease.version == self.model.version
        assert self.names_of(claim) == due
        assert (claim.notice == store.STOPPED) == is_stopped
        if is_stopped:
            self.note("claimed to be stopped")

    def names_of(self, claim):
        return [message.client_id for message in claim.pending]

    @rule(
        words=WORDS, worker=WORKERS, stale=st.integers(0, 3), strategy=st.sampled_from(STRATEGIES)
    )
    def say(self, words, worker, stale, strategy):
        client_id = f"{len(self.model.said)}"
        message = NewMessage(
            thread=self.thread, client_id=client_id, kind="text", text=words, strategy=strategy
        )
        work = self.accept(message, worker=self.workers[worker], stale=stale)
        if self.model.is_running and strategy == "reject":
            with pytest.raises(InboxFull):
                self.run(work)
            self.model.said[client_id] = "refused"
            self.note("rejected")
        else:
            self.accepted(client_id, self.run(work))

    def answer_to(self, question, client_id):
        return NewMessage(
            thread=self.thread,
            client_id=client_id,
            kind="answer",
            data={"approved": True},
            interrupt_id=question,
        )

    @precondition(lambda self: self.model.question and not self.model.is_running)
    @rule(worker=WORKERS, stale=st.integers(0, 3))
    def answer(self, worker, stale):
        client_id = f"{len(self.model.said)}"
        message = self.answer_to(self.model.question, client_id)
        work = self.accept(message, worker=self.workers[worker], stale=stale)
        self.accepted(client_id, self.run(work))
        self.note("answered")

    @precondition(lambda self: self.model.question)
    @rule(worker=WORKERS, stale=st.integers(0, 3))
    def answer_too_late(self, worker, stale):
        """To a question that is being answered, or to another one."""
        client_id = f"{len(self.model.said)}"
        question = self.model.question if self.model.is_running else "another"
        work = self.accept(
            self.answer_to(question, client_id), worker=self.workers[worker], stale=stale
        )
        with pytest.raises(StaleAnswer):
            self.run(work)
        self.model.said[client_id] = "refused"
        self.note("stale answer refused")

    @precondition(lambda self: self.model.said)
    @rule(index=st.integers(0, 9), worker=WORKERS, stale=st.integers(0, 3))
    def say_again(self, index, worker, stale):
        """A resend of what is stored is acknowledged and changes nothing."""
        stored = [name for name, status in self.model.said.items() if status != "refused"]
        if not stored:
            return
        message = NewMessage(
            thread=self.thread, client_id=stored[index % len(stored)], kind="text", text="again"
        )
        receipt = self.run(self.accept(message, worker=self.workers[worker], stale=stale))
        self.note("said again")
        assert receipt.repeated
        assert receipt.claim is None

    @rule()
    def stop(self):
        version = self.run(store.ask_to_stop(self.world.pool, self.thread))
        assert version == (self.model.version if self.model.is_running else None)
        if version is not None:
            self.model.stop = version
            self.note("asked to stop")

    @precondition(lambda self: self.model.said)
    @rule(index=st.integers(0, 3))
    def take_back(self, index):
        """What no run has taken in or acted on."""
        model = self.model
        name = list(model.said)[-1 - index % len(model.said)]
        taken = set(model.up_to(model.acted_on))
        if model.is_running:
            taken |= set(model.up_to(model.newest))
        is_free = model.said[name] == "pending" and name not in taken
        gone = self.run(store.withdraw(self.world.pool, thread=self.thread, client_id=name))
        assert gone == is_free
        if gone:
            model.said[name] = "withdrawn"
            self.note("taken back")

    # --- what workers do

    @precondition(lambda self: self.model.pending)
    @rule(worker=WORKERS)
    def claim(self, worker):
        name = self.workers[worker]
        is_free = self.is_free()
        claim = self.run(store.claim(self.world.pool, thread=self.thread, worker=name, lease=LEASE))
        assert (claim is not None) == is_free
        if claim is not None:
            self.took(claim)
            self.note(f"claimed as {claim.kind}")

    @property
    def current(self) -> Claim | None:
        """The claim under which the thread is run, if it is."""
        return next((claim for claim in self.given if self.holds(claim)), None)

    @precondition(lambda self: self.current)
    @rule()
    def gather(self):
        """A run that has not begun takes in what was said since."""
        taken = self.run(store.take_in(self.world.pool, self.current.lease))
        model = self.model
        due = model.up_to(model.acted_on) if model.acted_on else model.pending
        self.given[self.given.index(self.current)] = again = replace(self.current, pending=taken)
        assert self.names_of(again) == due
        model.newest = due[-1] if due else model.newest
        self.note("gathered")

    @precondition(lambda self: self.current)
    @rule(asks=st.booleans())
    def end(self, asks):
        self.commit_of(self.current, asks)

    @precondition(lambda self: self.given)
    @rule(index=st.integers(0, 3), asks=st.booleans())
    def commit(self, index, asks):
        self.commit_of(self.claim_of(index), asks)

    def commit_of(self, claim, asks):
        taken = turn_input(claim.thread.interrupt, claim.pending, changes=changes_run)
        question = f"q{self.model.turn + 1}" if asks else None
        turn = turn_of(
            claim,
            status="waiting" if asks else "idle",
            run_status="waiting" if asks else "done",
            interrupt={"id": question, "kind": "confirm"} if asks else None,
            consumed=dict.fromkeys(taken.consumed, ""),
            aside=taken.aside,
            left=len(claim.pending) - len(taken.consumed) - len(taken.aside),
            said=[{"kind": "text", "text": "hm", "data": {}, "interrupt_id": question or ""}],
        )
        if not self.holds(claim):
            with pytest.raises(RunSuperseded):
                self.run(store.commit_turn(self.world.pool, turn))
            self.note("turn of a dead version refused")
            return
        committed = self.run(store.commit_turn(self.world.pool, turn))
        names = {message.id: message.client_id for message in claim.pending}
        self.model.said |= {names[each]: "consumed" for each in taken.consumed}
        self.model.said |= {names[each]: "refused" for each in taken.aside}
        self.model.turn += 1
        self.model.question = question
        self.model.acted_on, self.model.stop = None, -1
        self.model.ended(turn.run_status)
        self.note("turn committed")
        assert committed.turn == self.model.turn
        assert committed.pending == bool(self.model.pending)

    @precondition(lambda self: self.given)
    @rule(index=st.integers(0, 3))
    def give_back(self, index):
        claim = self.claim_of(index)
        self.run(store.release(self.world.pool, claim.lease, status="superseded"))
        if self.holds(claim):
            self.model.ended("superseded")

    @precondition(lambda self: self.given)
    @rule(index=st.integers(0, 3), why=st.sampled_from(["superseded", store.STOPPED]))
    def start_again(self, index, why):
        claim, model = self.claim_of(index), self.model
        again = self.run(store.supersede(self.world.pool, claim, lease=LEASE, why=why))
        assert (again is not None) == (self.holds(claim) and model.acted_on is None)
        self.note(why if again else f"not {why}")
        if again is not None:
            due = model.up_to(model.newest) if why == store.STOPPED else model.pending
            model.newest = due[-1] if due else model.newest
            if why == store.STOPPED or model.is_stopped:
                model.stop = model.version + 1
            model.runs[model.version] = "superseded"
            model.version += 1
            model.is_over = False
            model.runs[model.version] = "running"
            self.given.append(again)
            assert again.lease.version == model.version
            assert self.names_of(again) == due

    @precondition(lambda self: self.given)
    @rule(index=st.integers(0, 3))
    def act(self, index):
        claim = self.claim_of(index)
        if not claim.pending:
            return
        intent = str(uuid7())
        request = EffectRequest(
            name="book",
            intent=intent,
            task=intent,
            checkpoint="",
            message=claim.pending[-1].id,
            arguments={},
        )
        work = in_db_thread(
            effects.perform, request, lease=claim.lease, call=lambda effect: effect.pk
        )
        if self.model.is_running and claim.lease.version == self.model.version:
            self.run(work)
            self.model.effects += 1
            self.model.acted_on = claim.pending[-1].client_id
            self.note("effect")
        else:
            with pytest.raises(RunSuperseded):
                self.run(work)
            self.note("effect of a dead version refused")

    @precondition(lambda self: self.given)
    @rule(worker=WORKERS)
    def beat(self, worker):
        """A worker renews all it was ever given; it learns of each that is lost."""
        name, lost = self.workers[worker], []
        keeper = LeaseKeeper(self.world.pool, worker=name, seconds=20, beat=1)
        mine = [claim for claim in self.given if claim.lease.worker == name]
        for claim in mine[-1:]:
            keeper.hold(claim.lease, on_lost=lambda: lost.append(True))
        self.run(keeper.renew())
        if mine:
            assert bool(lost) != self.holds(mine[-1])
        if mine and not lost:
            self.model.is_over = False

    # --- what happens to them

    @precondition(lambda self: self.model.is_running)
    @rule()
    def hang(self):
        """The lease runs out; the worker is still there and knows nothing."""
        self.run(expire(self.thread))
        self.model.is_over = True

    @precondition(lambda self: self.model.is_running)
    @rule()
    def die(self):
        """The owner's session ends; another takes its place, what it was given may still write."""
        if self.model.owner in self.workers:
            self.world.replace(self.model.owner)

    # --- what always holds

    @invariant()
    def is_as_the_model_says(self):
        model = self.model
        (row,) = self.world.rows(ROWS, self.thread)
        assert (row["version"], row["turn"], row["owner"], row["question"], row["effects"]) == (
            model.version,
            model.turn,
            model.owner,
            model.question,
            model.effects,
        )
        assert (row["status"] == "running") == model.is_running
        assert dict(row["runs"]) == model.runs
        assert [state for _, state in row["runs"]].count("running") == model.is_running
        self.check_messages(row["said"])
        assert (row["unread"] > 0) >= bool(model.pending and not model.is_running)
        self.views = [*self.views[-3:], self.view()]

    def check_messages(self, said):
        """None lost, none twice, all in order; what waits on a free thread is found."""
        model = self.model
        stored = {name: state for name, state, _ in said if state != "refused"}
        known = {name: state for name, state in model.said.items() if state != "refused"}
        assert stored == known
        assert list(stored) == list(known)
        turns = [turn for _, state, turn in said if state == "consumed"]
        assert turns == sorted(turns)
        found = self.run(
            store.unattended(self.world.pool, agents=[self.world.agent], lease=LEASE, limit=999)
        )
        assert (self.thread in found) == bool(self.is_free() and model.pending)

    def is_free(self):
        model = self.model
        return not model.is_running or model.is_over or model.owner not in self.workers


@pytest.fixture
def world(transactional_db, person, probe):
    world = World(person, probe.name)
    # A server younger than a lease does not take its own sessions for a hint.
    young = "select 1 where pg_postmaster_start_time() > now() - %s"
    while world.rows(young, LEASE):
        world.run(asyncio.sleep(1))
    yield world
    world.close()


# What the examples have to come to before they prove anything; few rounds do not come to all of it.
COME_TO = {
    *("said and claimed", "said beside a run", "said again", "rejected", "claimed as recovery"),
    *("turn committed", "turn of a dead version refused", "superseded", "not superseded"),
    *("effect", "effect of a dead version refused", "answered", "gathered", "taken back"),
    *("asked to stop", "claimed to be stopped", store.STOPPED),
}
ROUNDS = 6


def test_any_interleaving_is_as_the_model_says(world, record_property):
    rounds = 0
    while rounds == 0 or (rounds < ROUNDS and not set(world.seen) >= COME_TO):
        rounds += 1
        run_state_machine_as_test(
            lambda: Orchestrator(world),
            settings=settings(
                max_examples=150,
                stateful_step_count=50,
                deadline=None,
                phases=[Phase.generate],  # fifty steps can be read; to shrink them takes minutes
                suppress_health_check=list(HealthCheck),
            ),
        )
    seen = ", ".join(f"{what} {count}" for what, count in sorted(world.seen.items()))
    print(f"\n  interleavings of messages and workers, {rounds} rounds: {seen}")
    record_property("fault", ("any interleaving", "as the model says", seen))
    assert set(world.seen) >= COME_TO
