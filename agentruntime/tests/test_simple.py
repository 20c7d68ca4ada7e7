"""simple.v1, the pure binding: frames to requests, threads and events to frames."""

from datetime import UTC, datetime

import pytest

from agentruntime import exceptions
from agentruntime.edges.bindings import simple
from agentruntime.edges.bindings.simple import MAX_TEXT, Init, Ping, Say, Stop, Sync
from agentruntime.exceptions import BadFrame
from agentruntime.persistence.records import MessageView, ThreadView
from agentruntime.testing import probe_spec

READ = [
    ({"type": "init"}, Init(session_id="")),
    ({"type": "init", "session_id": "probe-1-x"}, Init(session_id="probe-1-x")),
    (
        {"type": "message", "content": "  a room  "},
        Say(id=None, text="a room", interrupt_id=""),
    ),
    (
        {"type": "message", "content": "会议", "id": "c1", "interrupt_id": "q1"},
        Say(id="c1", text="会议", interrupt_id="q1"),
    ),
    (
        {"type": "message", "content": "x" * MAX_TEXT, "id": "i" * 64},
        Say(id="i" * 64, text="x" * MAX_TEXT, interrupt_id=""),
    ),
    (
        {"type": "answer", "interrupt_id": "q1", "value": {"room": "A301"}, "id": "c2"},
        Say(id="c2", text="", interrupt_id="q1", value={"room": "A301"}),
    ),
    ({"type": "stop"}, Stop()),
    ({"type": "sync"}, Sync()),
    ({"type": "ping", "more": "is ignored"}, Ping()),
]


@pytest.mark.parametrize(("frame", "request_"), READ)
def test_a_frame_is_read(frame, request_):
    assert simple.read(frame) == request_


BAD = [
    ({}, "unknown_type"),
    ({"type": "shout"}, "unknown_type"),
    ({"type": None}, "unknown_type"),
    ({"type": ["ping"]}, "unknown_type"),
    ({"type": "init", "session_id": None}, "bad_json"),
    ({"type": "init", "session_id": "x" * 121}, "too_large"),
    ({"type": "message"}, "bad_json"),
    ({"type": "message", "content": "   "}, "bad_json"),
    ({"type": "message", "content": 5}, "bad_json"),
    ({"type": "message", "content": "x" * (MAX_TEXT + 1)}, "too_large"),
    ({"type": "message", "content": "x", "id": 5}, "bad_json"),
    ({"type": "message", "content": "x", "id": "i" * 65}, "too_large"),
    ({"type": "message", "content": "x", "interrupt_id": {}}, "bad_json"),
    ({"type": "answer", "interrupt_id": "q1"}, "bad_json"),
    ({"type": "answer", "interrupt_id": "q1", "value": {}}, "bad_json"),
    ({"type": "answer", "interrupt_id": "q1", "value": "A301"}, "bad_json"),
    ({"type": "answer", "interrupt_id": "", "value": {"a": 1}}, "bad_json"),
    ({"type": "answer", "value": {"a": 1}}, "bad_json"),
]


@pytest.mark.parametrize(("frame", "code"), BAD)
def test_a_bad_frame_is_refused_by_its_code(frame, code):
    with pytest.raises(BadFrame) as caught:
        simple.read(frame)

    assert caught.value.code == code


def faults(kind=exceptions.RuntimeFault):
    yield kind
    for each in kind.__subclasses__():
        yield from faults(each)


def test_every_code_has_words_in_both_languages():
    codes = {kind.code for kind in faults()} | {code for _, code in BAD}
    codes |= {"too_fast", "not_initialised"}

    assert codes <= set(simple.ERRORS)
    for texts in (*simple.ERRORS.values(), *simple.NOTICES.values()):
        assert set(texts) == {"en", "zh"}
        assert all(texts.values())
        assert texts["en"].isascii()
        assert not texts["zh"].isascii()


def test_every_kind_of_fault_has_a_code_of_the_protocol():
    known = {
        *("bad_json", "unknown_type", "too_large", "too_fast", "not_initialised", "stale_answer"),
        *("not_found", "archived", "busy", "conflict", "upstream", "timeout", "internal"),
        *("already_read", "quarantined"),
    }

    assert {kind.code for kind in faults()} <= known
    assert set(simple.ERRORS) == known


def test_an_error_speaks_the_language_and_an_unknown_code_is_internal():
    assert (
        simple.error("archived", language="zh", retry=False)["message"]
        == (simple.ERRORS["archived"]["zh"])
    )
    assert simple.error_text("no such code", "en") == simple.ERRORS["internal"]["en"]


AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


def view_of(**changes):
    names = {
        "id": "probe-1-x",
        "agent": "probe",
        "owner_id": 1,
        "language": "en",
        "status": "waiting",
        "run_version": 1,
        "lease_owner": None,
        "turn": 1,
        "head": "h",
        "interrupt": {"id": "q1", "kind": "confirm"},
        "summary": {"phase": "CONFIRMING", "slots": {"room": "P01"}, "assumed": ["room"]},
        "title": "",
    }
    return ThreadView(**{**names, **changes})


def message_of(**changes):
    names = {
        "id": 7,
        "role": "user",
        "kind": "text",
        "text": "a room",
        "data": {},
        "interrupt_id": "",
        "client_id": "c7",
        "created_at": AT,
    }
    return MessageView(**{**names, **changes})


def test_welcome_has_all_a_page_needs_to_draw_itself():
    messages = [
        message_of(),
        message_of(id=8, kind="answer", text="P01", data={"room": "P01"}, interrupt_id="q0"),
        message_of(
            id=9,
            role="assistant",
            kind="error",
            text="",
            data={"code": "timeout"},
            client_id=None,
        ),
    ]

    frame = simple.welcome(view_of(), messages, spec=probe_spec(), language="zh")

    transcript = frame.pop("transcript")
    assert frame == {
        "type": "welcome",
        "message": "",
        "phase": "CONFIRMING",
        "slots": {"room": "P01"},
        "assumed": ["room"],
        "status": "waiting",
        "language": "zh",
        "waiting": [],
    }
    at = "2026-03-02T09:30:00+00:00"
    assert [(each["id"], each["role"], each["kind"], each["text"]) for each in transcript] == [
        ("c7", "user", "text", "a room"),
        ("c7", "user", "text", "P01"),
        ("9", "assistant", "error", simple.ERRORS["timeout"]["zh"]),
    ]
    assert all(each["at"] == at for each in transcript)
    assert transcript[1]["data"] == {"value": {"room": "P01"}}


def test_a_new_thread_shows_the_empty_state():
    frame = simple.welcome(view_of(summary={}), [], spec=probe_spec(), language="en")

    assert (frame["phase"], frame["slots"]) == ("IDLE", {"room": None})


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_runtimes_own_words_are_put_in_the_readers_language(language):
    notice = {
        "id": 4,
        "kind": "notice",
        "text": "",
        "data": {"code": "stopped"},
        "created_at": "2026-03-02",
    }

    frame = simple.complete(notice, view_of().summary, language=language)

    assert (frame["message"], frame["data"]) == (simple.NOTICES["stopped"][language], {})
    of_an_agent = {**notice, "text": "The lift is out of order.", "data": {}}
    told = simple.complete(of_an_agent, view_of().summary, language=language)
    assert told["message"] == "The lift is out of order."


def test_the_other_frames_have_every_key_of_the_protocol():
    spec = probe_spec()
    question = {
        "id": 3,
        "kind": "confirm",
        "text": "Book it?",
        "data": {"summary": []},
        "interrupt_id": "q1",
    }
    done = {
        "id": 4,
        "kind": "complete",
        "text": "Booked.",
        "data": {"booking_id": 1},
        "created_at": "2026-03-02",
    }
    summary = view_of().summary

    assert simple.interrupt(question, summary) == {
        "type": "interrupt",
        "interrupt_id": "q1",
        "kind": "confirm",
        "message": "Book it?",
        "phase": "CONFIRMING",
        "slots": {"room": "P01"},
        "assumed": ["room"],
        "data": {"summary": []},
    }
    complete = simple.complete(done, summary, language="en")
    assert (complete["data"], complete["message"]) == ({"booking_id": 1}, "Booked.")
    stopped = {**done, "kind": "notice", "text": "", "data": {"code": "stopped"}}
    complete = simple.complete(stopped, summary, language="zh")
    assert (complete["data"], complete["message"]) == ({}, simple.NOTICES["stopped"]["zh"])
    assert simple.progress("search", spec=spec, language="en") == {
        "type": "progress",
        "step": "search",
        "label": "Searching",
        "index": 2,
        "total": 3,
    }
    assert simple.progress("choose", spec=spec, language="en")["index"] == 0
    assert simple.notice("queued", language="zh")["message"] == simple.NOTICES["queued"]["zh"]
    assert simple.accepted(None, "start") == {
        "type": "accepted",
        "id": "",
        "classification": "start",
    }
    said = {
        "id": 5, "client_id": None, "kind": "text", "text": "hi", "data": {},
        "created_at": "2026-03-02",
    }  # fmt: skip
    assert simple.said(said)["id"] == "5"
    assert simple.pong("2026-03-02T00:00:00Z")["timestamp"] == "2026-03-02T00:00:00Z"
