"""What a turn takes from a thread's unread messages."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from agentruntime.execution.turns import turn_input
from agentruntime.persistence.records import MessageView

AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
OPEN = {"id": "q1", "kind": "confirm"}


def message(number, text="", *, value=None, answers=""):
    return MessageView(
        id=number,
        role="user",
        kind="text" if value is None else "answer",
        text=text,
        data=value or {},
        interrupt_id=answers,
        client_id=f"c{number}",
        created_at=AT + timedelta(seconds=number),
    )


def plain(number, text):
    return {"id": number, "at": f"2026-03-02T09:30:0{number}+00:00", "text": text}


STALE = ("refused", "stale_answer")


def test_words_on_an_idle_thread_are_the_input_of_a_fresh_run():
    taken = turn_input(None, [message(1, "a room"), message(2, "for six")])

    assert taken.interrupt is None
    assert taken.value == {"messages": [plain(1, "a room"), plain(2, "for six")]}
    assert (taken.consumed, taken.aside) == ([1, 2], {})


def test_words_answer_the_open_question_together():
    taken = turn_input(OPEN, [message(1, "yes"), message(2, "and a projector")])

    assert taken.interrupt == "q1"
    assert taken.value["text"] == "yes\nand a projector"
    assert taken.value["messages"] == [plain(1, "yes"), plain(2, "and a projector")]


def test_a_structured_answer_is_a_turn_of_its_own():
    answer = message(1, "Yes", value={"approved": True}, answers="q1")

    taken = turn_input(OPEN, [answer, message(2, "thanks")])

    assert taken.consumed == [1]
    assert taken.value["approved"] is True
    assert taken.value["messages"] == [
        {"id": 1, "at": "2026-03-02T09:30:01+00:00", "value": {"approved": True}}
    ]
    assert "text" not in taken.value


def test_words_before_a_structured_answer_come_first_and_alone():
    answer = message(2, "Yes", value={"approved": True}, answers="q1")

    taken = turn_input(OPEN, [message(1, "wait"), answer, message(3, "more")])

    assert (taken.consumed, taken.aside) == ([1], {})
    assert taken.value["text"] == "wait"


def test_what_answers_another_question_is_refused_and_the_rest_is_read():
    stale = message(1, "A301", value={"room": "A301"}, answers="q0")
    late_words = message(2, "the first", answers="q0")

    taken = turn_input(OPEN, [stale, late_words, message(3, "the second", answers="q1")])

    assert (taken.aside, taken.consumed) == ({1: STALE, 2: STALE}, [3])


def test_an_answer_without_an_open_question_is_refused():
    taken = turn_input(None, [message(1, "Yes", value={"approved": True}, answers="q1")])

    assert (taken.aside, taken.consumed, taken.value) == ({1: STALE}, [], {})


def test_words_that_roll_back_are_read_alone_and_what_came_after_with_them():
    before = [message(1, "a room"), message(2, "for six")]
    instead = replace(message(3, "no, a hall"), rule="rollback_as_asked")

    taken = turn_input(None, [*before, instead, message(4, "for nine")])

    assert taken.aside == {1: ("refused", "rolled_back"), 2: ("refused", "rolled_back")}
    assert taken.consumed == [3, 4]


def test_the_clock_can_be_shifted_for_evaluations():
    taken = turn_input(None, [message(1, "a room")], shift=timedelta(days=-1))

    assert taken.messages[0].at == "2026-03-01T09:30:01+00:00"


MESSAGES = st.lists(
    st.tuples(st.sampled_from(["text", "answer"]), st.sampled_from(["", "q1", "q2"])), max_size=8
).map(
    lambda kinds: [
        message(n + 1, "w", value={"v": 1} if kind == "answer" else None, answers=answers)
        for n, (kind, answers) in enumerate(kinds)
    ]
)


@given(interrupt=st.sampled_from([None, OPEN]), pending=MESSAGES)
def test_every_message_is_read_once_in_its_order_however_many_turns_it_takes(interrupt, pending):
    left, read, refused = list(pending), [], []
    while left:
        taken = turn_input(interrupt, left)
        assert taken.consumed or taken.aside
        assert bool(taken.value) == bool(taken.consumed)
        read += taken.consumed
        refused += taken.aside
        gone = {*taken.consumed, *taken.aside}
        left = [each for each in left if each.id not in gone]

    assert read == sorted(read)
    assert sorted(read + refused) == [each.id for each in pending]
