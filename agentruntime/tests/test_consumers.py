"""The WebSocket door, in simple.v1: who may come in, the handshake, bad frames, the end of a session."""

import asyncio

import pytest
from django.contrib.sessions.models import Session

from agentruntime.edges import consumers, sessions
from agentruntime.edges.bindings import simple
from agentruntime.models import Message, Thread
from agentruntime.persistence.pools import in_db_thread
from agentruntime.testing import probe_spec
from agentruntime.tests.tabs import Tab, cookie_of

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
