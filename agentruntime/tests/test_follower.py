"""One socket's view: what is news, what is old, and when only the whole picture will do."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentruntime.edges.follower import Follower
from agentruntime.events import (
    MessageStored,
    NoticeGiven,
    RunFailed,
    RunStarted,
    StepStarted,
    ThreadChanged,
    pack,
    unpack,
)
from agentruntime.testing import probe_spec
from agentruntime.tests.test_simple import message_of, view_of

THREAD = "probe-1-x"


def question_of(interrupt_id="q1", number=3, **changes):
    names = {
        "id": number,
        "role": "assistant",
        "kind": "confirm",
        "text": "Book it?",
        "data": {},
        "interrupt_id": interrupt_id,
        "created_at": "2026-03-02T09:30:00+00:00",
    }
    return {**names, **changes}


def words_of(number=4, kind="complete"):
    return question_of(interrupt_id="", number=number, kind=kind, text="Booked.")


def event_of(kind, /, *, version=1, n=1, turn=1, **data):
    return kind(thread=THREAD, version=version, n=n, turn=turn, **data)


def changed(*, version=1, turn=2, status="idle", interrupt=None, messages=()):
    return event_of(
        ThreadChanged,
        version=version,
        n=9,
        turn=turn,
        status=status,
        interrupt=interrupt,
        summary={"phase": "P"},
        messages=list(messages),
    )


def follower_of(**changes):
    """A follower that was shown a waiting thread of turn 1 with its question."""
    follower = Follower(spec=probe_spec(), language="en", thread=view_of())
    asked = message_of(role="assistant", kind="confirm", text="Book it?", interrupt_id="q1")
    follower.picture(view_of(**changes), [asked], None)
    return follower


def types(frames):
    return [frame["type"] for frame in frames]


def test_the_picture_of_a_waiting_thread_ends_with_its_question():
    asked = message_of(role="assistant", kind="confirm", text="Book it?", interrupt_id="q1")
    follower = Follower(spec=probe_spec(), language="en", thread=view_of())

    frames = follower.picture(view_of(), [message_of(), asked], None)

    assert types(frames) == ["welcome", "interrupt"]
    assert frames[1]["interrupt_id"] == "q1"
    assert all(frame["session_id"] == THREAD for frame in frames)
    assert follower.question() == [frames[1]]


def test_the_picture_of_a_running_thread_ends_with_its_step():
    follower = Follower(spec=probe_spec(), language="en", thread=view_of())

    frames = follower.picture(view_of(status="running", run_version=4), [], (4, "search"))

    assert types(frames) == ["welcome", "progress"]
    assert (frames[1]["step"], frames[1]["run"]) == ("search", 4)
    assert follower.question() == []


def test_the_picture_of_an_idle_thread_is_all():
    follower = Follower(spec=probe_spec(), language="en", thread=view_of())

    assert types(follower.picture(view_of(status="idle", interrupt=None), [], None)) == ["welcome"]
    assert follower.question() == []


def test_a_run_is_followed_to_its_end():
    follower = follower_of()

    frames = [
        *follower.frames(event_of(RunStarted, version=2, n=1, kind="resume")),
        *follower.frames(event_of(StepStarted, version=2, n=2, step="search")),
        *follower.frames(event_of(NoticeGiven, version=2, n=3, code="recovering")),
        *follower.frames(changed(version=2, messages=[words_of()])),
    ]

    assert types(frames) == ["progress", "notice", "complete"]
    assert [(frame["run"], frame["seq"]) for frame in frames] == [(2, 2), (2, 3), (2, 9)]
    assert (follower.thread.status, follower.thread.turn) == ("idle", 2)
    assert follower.question() == []


def test_a_new_question_replaces_the_old_one():
    follower = follower_of()

    frames = follower.frames(
        changed(
            version=2,
            status="waiting",
            interrupt={"id": "q2", "kind": "clarify"},
            messages=[words_of(kind="text"), question_of("q2")],
        )
    )

    assert types(frames) == ["complete", "interrupt"]
    assert frames[1]["interrupt_id"] == "q2"
    assert [frame["interrupt_id"] for frame in follower.question()] == ["q2"]


def test_a_failed_run_says_so_and_asks_its_question_again():
    follower = follower_of()

    failed = follower.frames(event_of(RunFailed, version=2, n=4, code="timeout", retry=True))
    after = follower.frames(
        changed(version=2, status="waiting", interrupt={"id": "q1", "kind": "confirm"})
    )

    assert (types(failed), failed[0]["code"], failed[0]["retry"]) == (["error"], "timeout", True)
    assert types(after) == ["interrupt"]
    assert after[0]["interrupt_id"] == "q1"


def test_a_turn_that_changed_nothing_asks_for_the_picture():
    follower = follower_of(status="idle", interrupt=None)

    assert follower.frames(changed(version=2)) is None


def test_a_message_of_another_tab_is_shown_and_its_run_counts_from_then_on():
    follower = follower_of()
    message = {
        "id": 5, "client_id": "c5", "kind": "text", "text": "yes", "data": {},
        "created_at": "2026-03-02",
    }  # fmt: skip

    frames = follower.frames(event_of(MessageStored, version=2, n=0, message=message))

    assert (types(frames), frames[0]["id"], frames[0]["text"]) == (["said"], "c5", "yes")
    assert follower.question() == []


@pytest.mark.parametrize(
    "old",
    [
        event_of(StepStarted, version=1, turn=1, step="search"),
        event_of(RunFailed, version=1, turn=1, code="internal", retry=True),
        changed(version=1, turn=2),
    ],
    ids=["step", "failure", "change"],
)
def test_events_of_an_older_run_change_nothing(old):
    follower = follower_of(run_version=2)
    before = follower.thread

    assert follower.frames(old) == []
    assert follower.thread == before


@pytest.mark.parametrize(
    "late",
    [
        event_of(StepStarted, version=3, turn=0, step="search"),
        changed(version=3, turn=1),
        changed(version=3, turn=0),
    ],
)
def test_events_of_a_turn_that_was_shown_change_nothing(late):
    follower = follower_of(run_version=3)
    before = follower.thread

    assert follower.frames(late) == []
    assert follower.thread == before


@pytest.mark.parametrize(
    "after_a_gap",
    [
        event_of(StepStarted, version=3, turn=2, step="search"),
        event_of(RunStarted, version=3, turn=2, kind="start"),
        changed(version=3, turn=3),
    ],
)
def test_after_a_gap_only_the_whole_picture_will_do(after_a_gap):
    assert follower_of().frames(after_a_gap) is None


def test_a_question_without_its_words_asks_for_the_picture():
    follower = follower_of()

    assert (
        follower.frames(changed(status="waiting", interrupt={"id": "q9", "kind": "clarify"}))
        is None
    )


@pytest.mark.parametrize(
    ("thread", "past"),
    [
        ({"turn": 0, "run_version": 9}, True),
        ({"turn": 1, "run_version": 2}, True),
        ({"turn": 1, "run_version": 3}, False),
        ({"turn": 1, "run_version": 4}, False),
        ({"turn": 2, "run_version": 3}, False),
    ],
)
def test_a_picture_read_before_what_was_shown_is_known_as_old(thread, past):
    follower = follower_of(run_version=3)

    assert follower.is_past(view_of(**thread)) is past


EVENTS = st.lists(
    st.one_of(
        st.builds(
            lambda version, turn: event_of(StepStarted, version=version, turn=turn, step="search"),
            st.integers(1, 4),
            st.integers(0, 4),
        ),
        st.builds(
            lambda version, turn: changed(version=version, turn=turn, messages=[words_of()]),
            st.integers(1, 4),
            st.integers(0, 4),
        ),
    ),
    max_size=12,
)


@given(EVENTS)
def test_whatever_comes_in_whatever_order_the_view_never_goes_back(events):
    follower = follower_of()
    for event in events:
        before = follower.thread
        frames = follower.frames(event)
        after = follower.thread
        assert (after.turn, after.run_version) >= (before.turn, before.run_version)
        if frames is None:
            follower.picture(replace(after, turn=max(event.turn, after.turn)), [], None)


@pytest.mark.parametrize(
    "event",
    [
        event_of(MessageStored, message={"id": 1, "text": "会议"}),
        event_of(RunStarted, kind="start"),
        event_of(StepStarted, step="search"),
        event_of(NoticeGiven, code="queued"),
        changed(interrupt={"id": "q"}, messages=[words_of()]),
        event_of(RunFailed, code="internal", retry=True),
    ],
    ids=lambda event: event.name,
)
def test_an_event_survives_the_channel_layer_and_a_newer_servers_are_ignored(event):
    assert unpack(pack(event)) == event
    assert unpack({**pack(event), "added_later": 1}) == event
    assert unpack({**pack(event), "name": "made_up_later"}) is None
