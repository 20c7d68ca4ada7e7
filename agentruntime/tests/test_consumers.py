"""The WebSocket door, spoken to in simple.v1 through the real ASGI application and a running host."""

import asyncio
import json

import pytest
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.sessions.models import Session
from django.test import Client

from agentruntime.edges import consumers, sessions
from agentruntime.edges.bindings import simple
from agentruntime.models import Effect, Message, Thread
from agentruntime.persistence.pools import in_db_thread
from agentruntime.testing import probe_spec, until
from agentruntime.tests.conftest import change
from agentruntime.tests.test_runs import Gate
from config.asgi import application

ORIGIN = "http://localhost:8000"
SECONDS = 8.0


def cookie_of(user):
    client = Client()
    client.force_login(user)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


class Tab:
    """A page's socket: speaks frames, and remembers what it was told."""

    def __init__(
        self, cookie="", *, origin=ORIGIN, path="/ws/agents/probe/", protocols=(), more=()
    ):
        headers = [(b"host", b"localhost:8000"), *more]
        if cookie:
            headers.append((b"cookie", cookie.encode()))
        if origin:
            headers.append((b"origin", origin.encode()))
        self.socket = WebsocketCommunicator(application, path, headers, list(protocols))
        self.heard = []

    async def open(self):
        connected, subprotocol = await self.socket.connect(timeout=SECONDS)
        return connected, subprotocol

    async def send(self, kind, **data):
        await self.socket.send_to(text_data=json.dumps({"type": kind, **data}))

    async def frame(self):
        frame = json.loads(await self.socket.receive_from(timeout=SECONDS))
        self.heard.append(frame)
        return frame

    async def until(self, *kinds):
        """The next frame of one of these kinds."""
        while True:
            frame = await self.frame()
            if frame["type"] in kinds:
                return frame

    async def begin(self, session_id=""):
        """Open, say `init`: the welcome frame."""
        assert (await self.open())[0]
        await self.send("init", **({"session_id": session_id} if session_id else {}))
        return await self.until("welcome")

    async def say(self, text, **data):
        await self.send("message", content=text, **data)

    async def answer(self, question, value, **data):
        await self.send("answer", interrupt_id=question["interrupt_id"], value=value, **data)

    async def closed(self):
        """The code it is closed with, whatever is said before."""
        while True:
            sent = await self.socket.receive_output(timeout=SECONDS)
            if sent["type"] == "websocket.close":
                return sent["code"]
            self.heard.append(json.loads(sent["text"]))

    async def is_quiet(self):
        return await self.socket.receive_nothing(timeout=0.15)


@pytest.fixture
async def tab(host, person):
    """Make tabs of a person (of mei, unless another is given); all closed at the end."""
    cookies, opened = {}, []

    async def make(user=person, **names):
        if user.pk not in cookies:
            cookies[user.pk] = await in_db_thread(cookie_of, user)
        each = Tab(cookies[user.pk], **names)
        opened.append(each)
        return each

    yield make
    for each in opened:
        await each.socket.disconnect(timeout=SECONDS)


@pytest.fixture
async def page(tab):
    """A tab that has begun: its session id is in `page.id`."""
    page = await tab()
    page.id = (await page.begin())["session_id"]
    return page


def compiled(**names):
    return probe_spec(**names).build_graph().compile()


# --- who may come in


async def test_a_signed_in_person_is_welcomed(tab):
    one = await tab(protocols=["ag-ui.v1", "simple.v1"])

    connected, subprotocol = await one.open()
    await one.send("init")
    welcome = await one.frame()

    assert (connected, subprotocol) == (True, "simple.v1")
    assert welcome["type"] == "welcome"
    assert (welcome["status"], welcome["phase"], welcome["transcript"]) == ("idle", "IDLE", [])
    assert welcome["language"] == "en"
    thread = await in_db_thread(Thread.objects.get)
    assert welcome["session_id"] == thread.pk


async def test_without_a_subprotocol_it_is_simple_v1(page):
    assert page.heard[0]["type"] == "welcome"


@pytest.mark.parametrize("cookie", ["", "sessionid=forged"])
async def test_nobody_unknown_comes_in(host, cookie):
    one = Tab(cookie)

    assert (await one.open())[0]
    assert await one.closed() == 4401
    await one.socket.disconnect()


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "http://evil.example",
        "http://localhost.evil.example:8000",
        "http://localhost:8001",
        "https://localhost:1",
        "ftp://localhost:8000",
    ],
)
async def test_a_foreign_or_missing_origin_is_refused_before_anything(tab, origin):
    one = await tab(origin=origin)

    assert not (await one.open())[0]


async def test_an_unknown_agent_is_not_allowed(tab):
    one = await tab(path="/ws/agents/nobody/")

    assert (await one.open())[0]
    assert await one.closed() == 4403


@pytest.mark.parametrize("path", ["/ws/", "/ws/agents/", "/ws/agents/a b/", "/"])
async def test_another_path_is_closed_with_a_code(tab, path):
    one = await tab(path=path)

    assert (await one.open())[0]
    assert await one.closed() == 4404


async def test_the_language_is_the_portals_choice_then_the_browsers(tab, person):
    chosen = await tab(more=[(b"accept-language", b"zh-CN,zh;q=0.9,en;q=0.1")])
    assert (await chosen.begin())["language"] == "zh"

    cookie = await in_db_thread(cookie_of, person)
    other = Tab(f"{cookie}; django_language=en", more=[(b"accept-language", b"zh-CN")])
    assert (await other.begin())["language"] == "en"
    await other.socket.disconnect()


# --- the handshake


async def test_without_init_it_is_closed_in_time(tab, monkeypatch):
    monkeypatch.setattr(consumers, "INIT_SECONDS", 0.1)
    one = await tab()
    await one.open()
    await one.send("ping")

    assert await one.closed() == 4408
    assert [frame["type"] for frame in one.heard] == ["pong"]


async def test_init_in_time_is_enough(tab, monkeypatch):
    monkeypatch.setattr(consumers, "INIT_SECONDS", 0.2)
    one = await tab()
    await one.begin()

    await asyncio.sleep(0.3)
    await one.send("ping")

    assert (await one.frame())["type"] == "pong"


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("message", {"content": "a room"}),
        ("answer", {"interrupt_id": "q", "value": {"room": "P01"}}),
        ("sync", {}),
        ("stop", {}),
    ],
)
async def test_before_init_nothing_but_a_ping_is_heard(tab, kind, data):
    one = await tab()
    await one.open()

    await one.send(kind, **data)

    frame = await one.frame()
    assert (frame["type"], frame["code"]) == ("error", "not_initialised")
    assert await in_db_thread(Message.objects.count) == 0


async def test_a_strangers_session_looks_like_an_unknown_one(tab, page, stranger):
    await page.say("a secret room")
    await page.until("interrupt")

    answers = []
    for session_id in (page.id, "probe-1-00000000-0000-7000-8000-000000000000", "no such thing"):
        other = await tab(stranger)
        welcome = await other.begin(session_id)
        assert welcome["session_id"] not in {page.id, session_id}
        answers.append({**welcome, "session_id": ""})

    assert answers[0] == answers[1] == answers[2]
    assert answers[0]["transcript"] == []


async def test_a_session_of_another_agent_is_not_this_ones(tab, page, register):
    register(probe_spec("second"))
    other = await tab(path="/ws/agents/second/")

    welcome = await other.begin(page.id)

    assert welcome["session_id"].startswith("second-")


async def test_init_again_goes_over_to_the_other_thread(tab, page):
    other = await tab()
    second = (await other.begin())["session_id"]
    await page.send("init", session_id=second)
    assert (await page.until("welcome"))["session_id"] == second

    await other.say("a room")

    assert (await page.until("said"))["text"] == "a room"
    assert (await page.until("interrupt"))["session_id"] == second


# --- bad frames


BAD_FRAMES = [
    ("", "bad_json"),
    ("not json", "bad_json"),
    ("[]", "bad_json"),
    ('{"type": "ping", "type": "ping"}', "bad_json"),
    ('{"type": "message", "content": "a\\u0000b"}', "bad_json"),
    ('{"type": "message", "content": "\\ud800"}', "bad_json"),
    ('{"type": "ping", "n": NaN}', "bad_json"),
    ('{"type": "message", "content": "  "}', "bad_json"),
    ('{"type": "message"}', "bad_json"),
    ('{"type": "shout"}', "unknown_type"),
    ("{}", "unknown_type"),
    ('{"type": "message", "content": "' + "x" * 2001 + '"}', "too_large"),
    ('{"type": "ping", "more": "' + "x" * 65536 + '"}', "too_large"),
]


@pytest.mark.parametrize(("text", "code"), BAD_FRAMES, ids=range(len(BAD_FRAMES)))
async def test_a_bad_frame_is_answered_and_the_session_goes_on(page, text, code):
    await page.socket.send_input({"type": "websocket.receive", "text": text})

    frame = await page.frame()
    assert (frame["type"], frame["code"]) == ("error", code)
    assert frame["message"] == simple.ERRORS[code]["en"]
    await page.say("a room")
    assert (await page.until("interrupt"))["kind"] == "select_room"


async def test_bytes_are_no_frame(page):
    await page.socket.send_to(bytes_data=b'{"type": "ping"}')

    assert (await page.frame())["code"] == "bad_json"


async def test_the_third_bad_frame_in_a_row_closes_and_the_thread_is_still_there(tab, page):
    for _ in range(3):
        await page.socket.send_to(text_data="{")

    assert await page.closed() == 4400
    assert [frame["code"] for frame in page.heard[-3:]] == ["bad_json"] * 3
    assert (await (await tab()).begin(page.id))["session_id"] == page.id


async def test_a_good_frame_between_bad_ones_forgives_them(page):
    for _ in range(5):
        await page.socket.send_to(text_data="{")
        await page.socket.send_to(text_data="{")
        await page.send("ping")

    kinds = [(await page.frame())["type"] for _ in range(15)]

    assert kinds == ["error", "error", "pong"] * 5


async def test_who_is_too_fast_is_told_and_heard_again_later(page, settings):
    settings.ROOMWISE = {**settings.ROOMWISE, "frames_per_second": 10}
    for _ in range(41):
        await page.send("ping")

    kinds = [(await page.frame())["type"] for _ in range(41)]

    assert kinds[:39] == ["pong"] * 39
    assert "error" in kinds[39:]
    assert page.heard[-1].get("code", "too_fast") == "too_fast"
    await asyncio.sleep(0.3)
    await page.send("ping")
    assert (await page.frame())["type"] == "pong"


# --- a conversation


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


# --- the end of a session


@pytest.fixture
def always_look(monkeypatch):
    monkeypatch.setattr(sessions, "RECHECK_SECONDS", -1)


async def sign_out(user):
    await in_db_thread(Session.objects.all().delete)


async def deactivate(user):
    user.is_active = False
    await in_db_thread(user.save)


async def change_password(user):
    user.set_password("another pass phrase")
    await in_db_thread(user.save)


@pytest.mark.parametrize("end", [sign_out, deactivate, change_password])
async def test_when_the_session_ends_the_next_word_closes_the_socket(
    page, person, end, always_look
):
    await end(person)

    await page.say("a room")

    assert await page.closed() == 4401
    assert await in_db_thread(Message.objects.count) == 0


async def test_a_tab_that_was_signed_out_hears_nothing_more(tab, page, person, monkeypatch):
    other = await in_db_thread(cookie_of, person)
    second = Tab(other)
    await second.begin(page.id)
    key = other.split("=")[1]
    await in_db_thread(Session.objects.exclude(pk=key).delete)
    monkeypatch.setattr(sessions, "RECHECK_SECONDS", -1)

    await second.say("a room")

    assert await page.closed() == 4401
    assert [frame["type"] for frame in page.heard] == ["welcome"]
    assert (await second.until("interrupt"))["kind"] == "select_room"
    await second.socket.disconnect()


async def test_a_session_that_holds_is_asked_and_goes_on(page, always_look):
    await page.say("a room")

    assert (await page.until("interrupt"))["kind"] == "select_room"
