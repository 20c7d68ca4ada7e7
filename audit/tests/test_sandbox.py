"""Fork, talk, replay, variants and promotion, as an administrator walks them."""

import asyncio
import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from agentruntime import agents
from agentruntime.models import Effect, Message, Thread, uuid7
from agentruntime.testing import probe_spec, running_host
from agentruntime.timetravel import history
from audit import services
from audit.models import Operation, Pin
from audit.tests.conftest import say


def address(name, *args):
    return reverse(f"admin:audit_{name}", args=args)


def asked_at(thread, kind):
    for point in history.timeline(thread).points:
        if any(question.kind == kind for question in point.questions):
            return point.id
    raise AssertionError(kind)


def forked(desk, thread, checkpoint, **fields):
    values = {"draft.wish": "a room for six", "draft.seats": "", "reason": "to see", "fork": "1"}
    answer = desk.post(address("fork", thread.pk, checkpoint), {**values, **fields}, follow=True)
    return answer, Thread.objects.filter(sandbox=True).order_by("-pk").first()


def test_a_fork_starts_with_a_form_of_fields_and_a_preview(desk, booked):
    checkpoint = asked_at(booked, "confirm")
    form = desk.get(address("fork", booked.pk, checkpoint)).content.decode()
    assert 'value="a room for six"' in form

    shown = desk.post(
        address("fork", booked.pk, checkpoint),
        {"draft.wish": "a hall", "draft.seats": "30", "reason": "why not", "preview": "1"},
    ).content.decode()

    assert "What this changes" in shown
    assert not Thread.objects.filter(sandbox=True).exists()


@pytest.mark.parametrize("bad", [{"draft.seats": "0"}, {"draft.seats": "x"}, {"reason": " "}])
def test_a_fork_needs_sound_fields_and_a_reason(desk, booked, bad):
    answer, fork = forked(desk, booked, booked.head, **bad)

    assert answer.status_code == 200
    assert b"errorlist" in answer.content
    assert fork is None
    assert not Operation.objects.exists()


def test_a_fork_lands_where_it_can_be_talked_to(desk, booked, boss):
    answer, fork = forked(desk, booked, asked_at(booked, "confirm"))

    text = answer.content.decode()
    assert answer.redirect_chain[-1][0] == address("sandbox", fork.pk)
    assert "A copy to try things in" in text
    assert "Book it?" in text
    [operation] = Operation.objects.all()
    assert (operation.kind, operation.by, operation.target) == ("fork", boss, fork.pk)
    assert (operation.thread, operation.checkpoint) == (booked.pk, fork.forked_at)
    assert operation.details == {"changed": [], "error": ""}


def test_another_answer_is_taken_and_nothing_is_done(desk, booked):
    _, fork = forked(desk, booked, asked_at(booked, "confirm"))

    desk.post(address("sandbox", fork.pk), {"choice": "1"})

    fork.refresh_from_db()
    opened = history.opened(fork, fork.head)
    assert opened.values["result"]["room"] == "P01"
    assert opened.values["draft"]["approved"] is False
    assert Effect.objects.count() == 1
    assert Operation.objects.filter(kind="speak", thread=fork.pk, outcome="done").count() == 1


def test_words_answer_too_and_nonsense_is_refused(desk, booked):
    _, fork = forked(desk, booked, asked_at(booked, "select_room"))

    desk.post(address("sandbox", fork.pk), {"text": "P07"})

    fork.refresh_from_db()
    assert fork.summary["slots"]["room"] == "P07"
    assert b"Say something" in desk.post(address("sandbox", fork.pk), {}, follow=True).content
    assert desk.post(address("sandbox", fork.pk), {"choice": "99"}).status_code == 400
    assert desk.post(address("sandbox", fork.pk), {"choice": "x"}).status_code == 400


def test_a_live_thread_has_no_sandbox_page(desk, booked):
    assert desk.get(address("sandbox", booked.pk)).status_code == 404
    assert desk.post(address("sandbox", booked.pk), {"text": "x"}).status_code == 404
    assert desk.get(address("promote", booked.pk)).status_code == 404


def test_a_replay_stands_beside_its_original(desk, booked):
    start = history.timeline(booked).points[-1].id

    answer = desk.post(address("replay", booked.pk, start), {"reason": "check"}, follow=True)

    text = answer.content.decode()
    assert "The same." in text
    assert text.count("= same") == 6
    assert "answered from the record" in text
    [operation] = Operation.objects.all()
    assert operation.details["same"] is True
    assert Effect.objects.count() == 1
    assert "Which room?" not in str(operation.details)


def test_a_replay_needs_a_reason(desk, booked):
    answer = desk.post(address("replay", booked.pk, booked.head), {"reason": ""}, follow=True)

    assert b"Please say why" in answer.content
    assert not Thread.objects.filter(sandbox=True).exists()


def test_variants_run_side_by_side(desk, booked):
    checkpoint = asked_at(booked, "confirm")
    columns = {f"v{n}-draft.wish": "a room for six" for n in range(1, 5)}

    empty = desk.post(address("what_if", booked.pk, checkpoint), {**columns, "reason": "r"})
    assert b"Change at least one field" in empty.content
    answer = desk.post(
        address("what_if", booked.pk, checkpoint),
        {
            **columns,
            "v2-draft.wish": "a hall",
            "v3-draft.seats": "7",
            "baseline": "1",
            "reason": "r",
        },
        follow=True,
    )

    text = answer.content.decode()
    assert "As it was" in text
    assert text.count("It asks") == 3
    assert "talked to since" not in text
    assert Thread.objects.filter(sandbox=True).count() == 3
    assert Effect.objects.count() == 1


def test_variants_tell_when_their_copies_were_talked_to_since(desk, booked):
    made = services.what_if(
        booked, asked_at(booked, "confirm"), [{}, {"draft.wish": "a hall"}],
        by=booked.owner, reason="r",
    )  # fmt: skip
    copy = made.details["variants"][1]["thread"]
    desk.post(address("sandbox", copy), {"text": "P07"})

    text = desk.get(address("variants", booked.pk, made.pk)).content.decode()

    assert text.count("talked to since") == 1


def test_the_ledger_leads_to_what_came_of_an_act(desk, booked):
    checkpoint = asked_at(booked, "confirm")
    _, fork = forked(desk, booked, checkpoint)
    replayed = services.replay(booked, checkpoint, by=booked.owner, reason="r")
    tried = services.what_if(booked, checkpoint, [{}], by=booked.owner, reason="r")
    pages = {
        Operation.objects.get(kind="fork"): address("sandbox", fork.pk),
        replayed: address("replayed", booked.pk, replayed.pk),
        tried: address("variants", booked.pk, tried.pk),
    }
    for operation, leads_to in pages.items():
        shown = desk.get(reverse("admin:audit_operation_change", args=[operation.pk]))
        assert f'href="{leads_to}"' in shown.content.decode()


@pytest.mark.parametrize("bad", ["x", str(uuid7()), "0" * 300])
def test_nothing_is_tried_from_what_is_no_checkpoint(desk, booked, bad):
    for name, values in (("fork", {"reason": "r", "fork": "1"}), ("what_if", {"reason": "r"})):
        assert desk.get(address(name, booked.pk, bad)).status_code == 404
        assert desk.post(address(name, booked.pk, bad), values).status_code == 404
    for name in ("replay", "pin", "unpin"):
        assert desk.post(address(name, booked.pk, bad), {"reason": "r"}).status_code == 404
    assert not Thread.objects.filter(sandbox=True).exists()
    assert not Operation.objects.exists()
    assert not Pin.objects.exists()


def promote(desk, fork, **changes):
    values = {
        "reason": "they asked for it",
        "typed": fork.forked_from_id[-8:],
        "expected_head": fork.forked_from.head,
    }
    return desk.post(address("promote", fork.pk), {**values, **changes}, follow=True)


def test_a_fork_goes_live_and_its_owner_sees_that_it_did(desk, booked, boss):
    _, fork = forked(desk, booked, asked_at(booked, "select_room"))
    desk.post(address("sandbox", fork.pk), {"choice": "1"})
    fork.refresh_from_db()
    before = booked.turn

    answer = promote(desk, fork)

    assert b"The fork is the live thread now" in answer.content
    booked.refresh_from_db()
    assert booked.head == fork.head
    assert booked.interrupt == fork.interrupt
    assert (booked.turn, booked.status) == (before + 1, "waiting")
    told, asked = Message.objects.filter(thread=booked).order_by("pk").reverse()[:2][::-1]
    assert "administrator" in told.text
    assert (asked.text, asked.interrupt_id) == ("Book it?", booked.interrupt["id"])
    operation = Operation.objects.get(kind="promote")
    assert (operation.by, operation.target, operation.outcome) == (boss, booked.pk, "done")
    page = history.timeline(booked)
    assert len(page.branches.all) == 2
    assert "audit-picture" in desk.get(address("timeline", booked.pk)).content.decode()


def test_the_owner_goes_on_from_the_promoted_fork(desk, booked, owner, probe):
    _, fork = forked(desk, booked, asked_at(booked, "select_room"))
    desk.post(address("sandbox", fork.pk), {"choice": "1"})
    fork.refresh_from_db()
    promote(desk, fork)
    booked.refresh_from_db()

    async def answer():
        async with running_host() as host:
            await say(host, booked.pk, "answer", {"approved": True}, turn=booked.turn + 1)

    asyncio.run(answer())

    booked.refresh_from_db()
    assert booked.summary["phase"] == "BOOKED"
    assert Effect.objects.count() == 1  # the same wish was carried out already
    assert history.opened(booked, booked.head).values["draft"]["room"] == "P01"


def test_a_thread_wound_back_to_an_answered_question_takes_another_answer(desk, booked):
    _, fork = forked(desk, booked, asked_at(booked, "select_room"))

    answer = promote(desk, fork)

    assert b"The fork is the live thread now" in answer.content
    booked.refresh_from_db()
    assert booked.interrupt["kind"] == "select_room"
    assert booked.head not in {fork.forked_at, ""}

    async def answered():
        async with running_host() as host:
            await say(host, booked.pk, "answer", {"room": "P09"}, turn=booked.turn + 1)

    asyncio.run(answered())

    booked.refresh_from_db()
    assert history.opened(booked, booked.head).values["draft"]["room"] == "P09"
    assert booked.interrupt["kind"] == "confirm"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"typed": "wrong"}, b"not the end of the live thread"),
        ({"reason": ""}, b"errorlist"),
        ({"expected_head": "1" * 36}, b"moved on"),
    ],
)
def test_going_live_is_refused(desk, booked, changes, words):
    _, fork = forked(desk, booked, asked_at(booked, "select_room"))
    before = Thread.objects.filter(pk=booked.pk).values().get()

    assert words in promote(desk, fork, **changes).content

    assert Thread.objects.filter(pk=booked.pk).values().get() == before


def test_going_live_is_refused_while_a_run_is_active(desk, booked):
    _, fork = forked(desk, booked, asked_at(booked, "select_room"))
    Thread.objects.filter(pk=booked.pk).update(status="running")

    assert b"running just now" in promote(desk, fork).content

    booked.refresh_from_db()
    assert booked.head != fork.head
    assert Operation.objects.get(kind="promote").outcome == "refused"


def test_what_was_only_simulated_never_goes_live(desk, converse):
    thread = converse(2)
    _, fork = forked(desk, thread, thread.head)
    desk.post(address("sandbox", fork.pk), {"choice": "0"})
    fork.refresh_from_db()
    assert not Effect.objects.exists()

    assert b"only simulated" in desk.get(address("promote", fork.pk)).content
    assert b"only simulated" in promote(desk, fork).content

    thread.refresh_from_db()
    assert thread.interrupt["kind"] == "confirm"


def test_pins_come_and_go_with_a_reason(desk, booked, boss):
    where = address("pin", booked.pk, booked.head)
    assert b"Please say why" in desk.post(where, {"reason": ""}, follow=True).content
    desk.post(where, {"reason": "dispute", "expires_at": "2030-01-01T00:00"})

    pin = Pin.objects.get()
    assert (pin.thread_id, pin.checkpoint, pin.by) == (booked.pk, booked.head, boss)
    assert pin.expires_at.year in {2029, 2030}
    desk.post(address("unpin", booked.pk, booked.head), {"reason": "settled"})

    assert not Pin.objects.exists()
    assert [each.kind for each in Operation.objects.order_by("pk")] == ["pin", "unpin"]


def test_family_members_are_compared_with_each_other(desk, booked):
    _, fork = forked(desk, booked, asked_at(booked, "select_room"), **{"draft.wish": "a hall"})

    text = desk.get(
        address("compare", booked.pk), {"a": booked.head, "b": fork.head, "other": fork.pk}
    ).content.decode()

    assert re.search(r"/draft|/result", text)


def test_a_step_that_fails_is_told_and_recorded(desk, booked, probe):
    _, fork = forked(desk, booked, asked_at(booked, "confirm"))

    async def broken(context, draft):
        raise RuntimeError("no luck")

    agents.register(probe_spec(act=broken))
    history.forget_graphs()
    answer = desk.post(address("sandbox", fork.pk), {"choice": "0"}, follow=True)

    assert b"no luck" in answer.content
    assert Operation.objects.get(kind="speak").outcome == "failed"
    fork.refresh_from_db()
    assert (fork.status, fork.interrupt["kind"]) == ("waiting", "confirm")
    desk.post(address("replay", booked.pk, fork.forked_at), {"reason": "r"})
    operation = Operation.objects.get(kind="replay")
    assert (operation.outcome, operation.details["stopped"]) == ("failed", "failed")


def test_a_fork_that_runs_already_is_busy(desk, booked):
    _, fork = forked(desk, booked, asked_at(booked, "confirm"))
    later = timezone.now() + timedelta(minutes=1)
    Thread.objects.filter(pk=fork.pk).update(lease_owner="x", lease_until=later)

    answer = desk.post(address("sandbox", fork.pk), {"choice": "0"}, follow=True)

    assert b"running just now" in answer.content
