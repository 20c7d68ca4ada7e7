"""The strict decoder: plain JSON objects, or BadFrame, and nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentruntime.edges.bindings import simple
from agentruntime.edges.decoder import MAX_BYTES, MAX_DEPTH, decode
from agentruntime.exceptions import BadFrame
from agentruntime.plain import check_plain

GOOD = [
    ("{}", {}),
    (' {"type": "ping"} \n', {"type": "ping"}),
    (
        '{"a": [1, -2.5, true, false, null, "会议 🏢"]}',
        {"a": [1, -2.5, True, False, None, "会议 🏢"]},
    ),
    (r'{"a": "\ud83c\udfe2 \u4f1a"}', {"a": "🏢 会"}),
    (r'{"a": "\\ \" [ { "}', {"a": '\\ " [ { '}),
    ('{"n": 9223372036854775807}', {"n": 2**63 - 1}),
    ('{"n": -9223372036854775808}', {"n": -(2**63)}),
    ('{"n": 1e300}', {"n": 1e300}),
    ('{"a": {"a": 1}, "b": {"a": 1}}', {"a": {"a": 1}, "b": {"a": 1}}),
    ('{"a": ' + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1) + "}", None),
    ('{"a": "' + "[" * 1000 + '"}', {"a": "[" * 1000}),
]


@pytest.mark.parametrize(("text", "value"), GOOD, ids=range(len(GOOD)))
def test_a_plain_object_is_read(text, value):
    assert decode(text) == (json.loads(text) if value is None else value)


BAD = {
    "nothing": "",
    "blank": " ",
    "no_json": "hello",
    "half": '{"a": ',
    "two": "{} {}",
    "a_comment": '{"a": 1} // no',
    "single_quotes": "{'a': 1}",
    "a_trailing_comma": '{"a": 1,}',
    "a_byte_order_mark": "\ufeff{}",
    "an_array": "[]",
    "a_string": '"ping"',
    "a_number": "1",
    "null": "null",
    "nul": r'{"a": "x\u0000y"}',
    "nul_in_a_key": r'{"x\u0000y": 1}',
    "raw_nul": '{"a": "\0"}',
    "a_raw_line_feed": '{"a": "\n"}',
    "a_lone_surrogate": r'{"a": "\ud800"}',
    "a_lone_low_surrogate": r'{"a": "\udc00"}',
    "surrogates_turned_round": r'{"a": "\udc00\ud800"}',
    "a_surrogate_in_a_key": r'{"\udfff": 1}',
    "a_raw_surrogate": '{"a": "\ud800"}',
    "nan": '{"a": NaN}',
    "infinity": '{"a": Infinity}',
    "minus_infinity": '{"a": -Infinity}',
    "1e999": '{"a": 1e999}',
    "minus_1e999": '{"a": [-1e999]}',
    "2_to_63": '{"a": 9223372036854775808}',
    "below_2_to_63": '{"a": -9223372036854775809}',
    "5000_digits": '{"a": ' + "9" * 5000 + "}",
    "5000_digits_and_a_point": '{"a": ' + "9" * 5000 + ".5}",
    "a_key_twice": '{"a": 1, "a": 1}',
    "a_key_twice_deep_down": '{"a": [{"b": 1, "b": 2}]}',
    "a_key_twice_by_escape": r'{"a": 1, "\u0061": 2}',
    "too_deep": '{"a": ' + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "}",
    "too_deep_objects": '{"a":' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1),
    "60000_brackets": "[" * 60000,
    "60000_closing": "]" * 60000,
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_anything_else_is_bad_json(text):
    with pytest.raises(BadFrame) as caught:
        decode(text)

    assert caught.value.code == "bad_json"
    assert not caught.value.retry


def of_bytes(size, letter):
    empty = '{"a": ""}'
    count, rest = divmod(size - len(empty), len(letter.encode()))
    return '{"a": "' + letter * count + "x" * rest + '"}'


@pytest.mark.parametrize("letter", ["x", "会", "🏢"])
def test_64_kb_is_the_most(letter):
    longest = of_bytes(MAX_BYTES, letter)
    assert len(longest.encode()) == MAX_BYTES == 64 * 1024
    assert decode(longest)

    with pytest.raises(BadFrame) as caught:
        decode(of_bytes(MAX_BYTES + 1, letter))

    assert caught.value.code == "too_large"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
NOISE = st.text() | st.binary().map(lambda raw: raw.decode("utf-8", "surrogateescape"))
SYNTAX = st.text(alphabet='{}[]":,\\u0d8ctrueNaIfinity-1e9. \n\0\ud800')


@given(NOISE | SYNTAX | JSON.map(json.dumps) | st.dictionaries(st.text(), JSON).map(json.dumps))
def test_any_text_is_a_plain_object_or_a_bad_frame(text):
    try:
        found = decode(text)
    except BadFrame:
        return

    check_plain(found, "frame")
    assert isinstance(found, dict)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found == json.loads(text)


FRAMES = st.fixed_dictionaries(
    {"type": st.sampled_from(["init", "message", "answer", "stop", "sync", "ping", "x"]) | JSON},
    optional={
        "session_id": JSON,
        "content": JSON,
        "id": JSON,
        "interrupt_id": JSON,
        "value": JSON,
    },
)


@given(FRAMES)
def test_any_object_is_a_request_or_a_bad_frame(frame):
    try:
        request = simple.read(frame)
    except BadFrame as error:
        request = error

    codes = {"bad_json", "unknown_type", "too_large"}
    assert isinstance(request, simple.Request) or request.code in codes
