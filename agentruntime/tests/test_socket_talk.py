"""A conversation over the socket, in simple.v1: tabs, refreshes, resends, stops and failures."""

import asyncio
import json

from django.contrib.auth.models import Group

from agentruntime.edges.bindings import simple
from agentruntime.models import Effect, Message, Thread
from agentruntime.persistence.pools import in_db_thread
from agentruntime.testing import probe_spec, until
from agentruntime.tests.conftest import change
from agentruntime.tests.tabs import SECONDS
from agentruntime.tests.test_runs import Gate


def compiled(**names):
    return probe_spec(**names).build_graph().compile()


async def test_a_room_is_chosen_and_booked_over_the_socket(page):
    await page.say("a room for six", id="c1")
    accepted = await page.until("accepted")
    cards = await page.until("interrupt")
    await page.answer(cards, {"room": "P01"}, id="c2")
    confirm = await page.until("interrupt")
    await page.answer(confirm, {"approved": True}, id="c3")
    complete = await page.until("complete")

    assert (accepted["id"], accepted["classification"]) == ("c1", "start")
    assert (cards["kind"], cards["phase"]) == ("select_room", "CHOOSING")
    assert [each["room"] for each in cards["data"]["candidates"]] == ["P00", "P01", "P02"]
    assert (confirm["kind"], confirm["slots"]) == ("confirm", {"room": "P01"})
    assert complete["data"] == {"room": "P01", "approved": True}
    assert complete["phase"] == "BOOKED"
    assert all(frame["session_id"] == page.id for frame in page.heard)
    await page.say("another", id="c4")
    assert (await page.until("interrupt"))["kind"] == "select_room"


async def test_words_answer_a_question_and_may_name_it(page):
    await page.say("a room")
    cards = await page.until("interrupt")

    await page.say("P02", interrupt_id=cards["interrupt_id"])

    assert (await page.until("accepted"))["classification"] == "answer"
    assert (await page.until("interrupt"))["slots"] == {"room": "P02"}


async def test_a_ping_is_answered_while_a_run_works(host, page):
    gate = Gate(host, "search")
    await page.say("a room")
    await gate.reached.wait()

    await page.send("ping")

    pong = await page.until("pong")
    assert pong["timestamp"].endswith("+00:00")
    assert not gate.open.is_set()
    gate.open.set()
    assert (await page.until("interrupt"))["kind"] == "select_room"


async def test_progress_is_told_by_the_steps_people_know(host, page):
    gate = Gate(host, "search")
    await page.say("a room")

    frame = await page.until("progress")
    while frame["step"] != "search":
        frame = await page.until("progress")

    assert (frame["label"], frame["index"], frame["total"]) == ("Searching", 2, 3)
    assert (frame["run"], frame["session_id"]) == (1, page.id)
    gate.open.set()
    await page.until("interrupt")


async def test_what_is_said_during_a_run_is_queued_and_taken_next(host, page):
    gate = Gate(host, "search")
    await page.say("a room", id="c1")
    await gate.reached.wait()
    await page.say("P02", id="c2")
    accepted = [await page.until("accepted"), await page.until("accepted")]
    gate.open.set()

    questions = [await page.until("interrupt"), await page.until("interrupt")]

    assert [(each["id"], each["classification"]) for each in accepted] == [
        ("c1", "start"),
        ("c2", "queued"),
    ]
    assert [each["kind"] for each in questions] == ["select_room", "confirm"]
    assert questions[1]["slots"] == {"room": "P02"}


async def test_two_tabs_see_the_same(tab, page):
    second = await tab()
    await second.begin(page.id)

    await page.say("a room", id="c1")
    said = await second.until("said")
    questions = [await page.until("interrupt"), await second.until("interrupt")]
    await second.answer(questions[1], {"room": "P01"}, id="c2")
    answer = await page.until("said")
    confirms = [await page.until("interrupt"), await second.until("interrupt")]

    assert (said["id"], said["text"]) == ("c1", "a room")
    assert questions[0] == questions[1]
    assert (answer["id"], answer["text"]) == ("c2", "P01")
    assert confirms[0] == confirms[1]
    assert "said" not in {frame["type"] for frame in page.heard[:-2]}


async def test_a_refreshed_page_sees_the_same_question_and_words(tab, page):
    await page.say("a room", id="c1")
    question = await page.until("interrupt")

    fresh = await tab()
    welcome = await fresh.begin(page.id)
    again = await fresh.frame()

    assert [(each["role"], each["id"], each["kind"]) for each in welcome["transcript"]] == [
        ("user", "c1", "text"),
        ("assistant", welcome["transcript"][1]["id"], "select_room"),
    ]
    run_only = {"run", "seq"}
    assert again == {key: value for key, value in question.items() if key not in run_only}


async def test_a_page_refreshed_in_mid_run_follows_it_to_its_end(host, tab, page):
    gate = Gate(host, "search")
    await page.say("a room", id="c1")
    await gate.reached.wait()
    await page.socket.disconnect(timeout=SECONDS)

    fresh = await tab()
    welcome = await fresh.begin(page.id)
    progress = await fresh.frame()
    gate.open.set()
    question = await fresh.until("interrupt")

    assert (welcome["status"], welcome["transcript"][0]["id"]) == ("running", "c1")
    assert (progress["type"], progress["step"]) == ("progress", "search")
    assert question["kind"] == "select_room"


async def test_a_lost_socket_ends_no_run(host, page):
    gate = Gate(host, "search")
    await page.say("a room")
    await gate.reached.wait()

    await page.socket.disconnect(timeout=SECONDS)
    gate.open.set()

    thread = await until(lambda: in_db_thread(Thread.objects.filter(status="waiting").first))
    assert thread.pk == page.id
    assert host.delivery._listeners == {}


async def test_sync_sends_the_whole_picture_again(page):
    await page.say("a room")
    question = await page.until("interrupt")

    await page.send("sync")

    assert len((await page.until("welcome"))["transcript"]) == 2
    assert (await page.frame())["interrupt_id"] == question["interrupt_id"]


async def test_pictures_asked_for_during_a_run_are_never_older_than_what_was_shown(page):
    for turn in range(1, 6):
        await page.say(f"words {turn}")
        for _ in range(3):
            await page.send("sync")
        heard = [await page.until("accepted")]
        while not any(each["type"] == "welcome" for each in heard) or not is_settled(heard):
            heard.append(await page.frame())
        while not await page.is_quiet():
            heard.append(await page.frame())

        lengths = [len(each["transcript"]) for each in heard if each["type"] == "welcome"]
        assert lengths == sorted(lengths)
        outcome = next((n for n, each in enumerate(heard) if is_outcome(each)), len(heard))
        assert "running" not in {each.get("status") for each in heard[outcome:]}


def is_outcome(frame):
    return frame["type"] in {"interrupt", "complete"} and "run" in frame


def is_settled(frames):
    """A turn's outcome was told, by itself or by a picture of the thread at rest."""
    return any(is_outcome(each) or each.get("status") in {"idle", "waiting"} for each in frames)


async def test_a_resend_with_the_same_id_is_one_message(tab, page):
    await page.say("a room", id="c1")
    await page.until("interrupt")
    fresh = await tab()
    await fresh.begin(page.id)
    await fresh.until("interrupt")

    await fresh.say("a room", id="c1")

    assert (await fresh.until("accepted"))["id"] == "c1"
    assert await fresh.is_quiet()
    assert await in_db_thread(Message.objects.filter(role="user").count) == 1


async def test_a_message_without_an_id_is_a_new_one_each_time(page):
    await page.say("a room")
    await page.until("interrupt")
    await page.say("P01")
    await page.until("interrupt")

    assert await in_db_thread(Message.objects.filter(role="user").count) == 2


async def test_a_stale_card_is_refused_and_the_open_question_follows(page):
    await page.say("a room")
    cards = await page.until("interrupt")
    await page.answer(cards, {"room": "P01"})
    confirm = await page.until("interrupt")

    await page.answer(cards, {"room": "P02"}, id="c9")

    error = await page.until("error")
    assert (error["code"], error["id"], error["retry"]) == ("stale_answer", "c9", False)
    again = await page.frame()
    assert (again["type"], again["interrupt_id"]) == ("interrupt", confirm["interrupt_id"])
    thread = await in_db_thread(Thread.objects.get)
    assert thread.summary["slots"] == {"room": "P01"}


def booking(context, draft):
    return context.effect(
        "book_room",
        key="the wish",
        arguments={},
        call=lambda effect: {"booking_id": Group.objects.create(name=f"b{effect.pk}").pk},
    )


async def test_the_same_yes_from_two_tabs_at_once_is_one_effect_seen_by_both(host, tab, page):
    host._graphs["probe"] = compiled(act=booking)
    second = await tab()
    await second.begin(page.id)
    await page.say("a room")
    await page.answer(await page.until("interrupt"), {"room": "P01"})
    await second.until("interrupt")
    confirms = [await page.until("interrupt"), await second.until("interrupt")]

    await asyncio.gather(
        page.answer(confirms[0], {"approved": True}, id="one"),
        second.answer(confirms[1], {"approved": True}, id="two"),
    )
    done = [await page.until("complete"), await second.until("complete")]

    assert done[0]["data"] == done[1]["data"]
    assert await in_db_thread(Effect.objects.count) == 1
    assert await in_db_thread(Group.objects.count) == 1
    await until(lambda: page.socket.output_queue.empty() and second.socket.output_queue.empty())
    codes = [frame.get("code") for frame in page.heard + second.heard if frame["type"] == "error"]
    assert set(codes) <= {"stale_answer"}


async def test_a_yes_resent_after_a_lost_socket_sees_the_outcome(host, tab, page):
    host._graphs["probe"] = compiled(act=booking)
    await page.say("a room")
    await page.answer(await page.until("interrupt"), {"room": "P01"})
    confirm = await page.until("interrupt")
    await page.answer(confirm, {"approved": True}, id="yes")
    await page.until("accepted")
    await page.socket.disconnect(timeout=SECONDS)

    fresh = await tab()
    await fresh.begin(page.id)
    await fresh.answer(confirm, {"approved": True}, id="yes")
    accepted = await fresh.until("accepted")
    await until(lambda: in_db_thread(Thread.objects.filter(status="idle", turn=3).exists))
    await fresh.send("sync")
    welcome = await fresh.until("welcome")

    assert accepted["id"] == "yes"
    assert [each["kind"] for each in welcome["transcript"]][-1] == "complete"
    assert await in_db_thread(Effect.objects.count) == 1


async def test_a_failing_node_is_an_error_frame_and_the_socket_goes_on(host, page):
    async def fail(node):
        raise ValueError("nobody's business")

    host._graphs["probe"] = compiled(hook=fail)
    await page.say("a room")

    error = await page.until("error")

    assert (error["code"], error["retry"]) == ("internal", True)
    assert "nobody" not in json.dumps(page.heard)
    host._graphs["probe"] = compiled()
    await page.say("a room")
    assert (await page.until("interrupt"))["kind"] == "select_room"


async def test_a_failed_answer_shows_its_question_again(host, page):
    await page.say("a room")
    cards = await page.until("interrupt")

    async def fail(node):
        raise ValueError

    host._graphs["probe"] = compiled(hook=fail)
    await page.answer(cards, {"room": "P01"})

    await page.until("error")
    assert (await page.until("interrupt"))["interrupt_id"] == cards["interrupt_id"]


async def test_a_stop_ends_the_run_and_says_so(host, page):
    gate = Gate(host, "search")
    await page.say("a room")
    await gate.reached.wait()

    await page.send("stop")

    frame = await page.until("complete", "welcome")
    assert simple.NOTICES["stopped"]["en"] in json.dumps(frame)
    gate.open.set()
    await page.say("another room")
    assert (await page.until("interrupt"))["kind"] == "select_room"


async def test_a_stop_with_nothing_to_stop_is_harmless(page):
    await page.send("stop")
    await page.send("ping")

    assert (await page.frame())["type"] == "pong"


async def test_an_archived_thread_refuses_and_starts_nothing(page):
    await change(page.id, "status = 'archived'")

    await page.say("a room", id="c1")

    error = await page.until("error")
    assert (error["code"], error["id"]) == ("archived", "c1")
    thread = await in_db_thread(Thread.objects.get)
    assert (thread.status, thread.run_version) == ("archived", 0)


async def test_an_answer_whose_question_was_replaced_before_it_was_read_is_told_of(host, page):
    """Words that wait before it are read first, and ask anew."""
    await page.say("a room")
    first = await page.until("interrupt")
    host.draining = True
    await page.say("a hall", id="words")
    await page.answer(first, {"room": "P01"}, id="late")
    assert [(await page.until("accepted"))["id"] for _ in range(2)] == ["words", "late"]
    host.draining = False

    second = await page.until("interrupt")
    why, gone = await page.until("error"), await page.until("withdrawn")

    assert second["interrupt_id"] != first["interrupt_id"]
    assert (gone["id"], why["id"], why["code"]) == ("late", "late", "stale_answer")
    again = await page.until("interrupt")
    assert again["interrupt_id"] == second["interrupt_id"]
