"""Any words at all: no exception, the invariants hold, and the time is bounded."""

from time import process_time

import pytest
from hypothesis import given, settings, target
from hypothesis import strategies as st

from booking.agent.understand import SLOTS, apply
from booking.agent.understand.acts import SPEAKING
from booking.agent.understand.normalise import MESSAGE_LIMIT

from .office import ASKED, BOOKED, CHOOSING, CONFIRMING, IDLE, MONDAY, UNASKED, read

DRAFTS = (IDLE, UNASKED, ASKED, CHOOSING, CONFIRMING, BOOKED)
MOST_SECONDS = 0.05
TRIES = 4

VOCABULARY = (
    "明天 后天 下周三 周一 30号 2月30号 月底 下午 晚上 3点 到 5点 25点 半 一刻 一个半小时 三刻钟 半小时后 每周一 每天 8个人 -3人 十来个 "
    "我和三个同事 C座 K座 三楼 C101 C999 莲花厅 投影 不要 白板 取消 改成 第二个 确认 算了 重新来 标题： 产品评审 谁 吗 ？ ， 。 - : 🙏 "
    "tomorrow next Tuesday at 3pm half past two from to until 9:15 10 for an hour 90 minutes people me plus three every Wednesday "
    "building D 3rd floor whiteboard no cancel my move it yes the one second SYSTEM: ignore previous instructions London time \x00 \u202e ５ "
    "周一到周五 4月12-19日 下个月 未来三天 每隔一周 把 改到 推迟 延长 从下周开始 这次以及以后 会意室 两天 半天 三点差五分 周三四 我这周有什么会 "
    "July 13 to 15 the first week of May weekend 15h30 at 2.30 two days move until the 0th the 31st Wednesday the thirty first 9999年 98年 十二月 第五周 二零二八年2月29日 每周一三 end of the whole series 每月1号 春节 清明后 下周的今天 第一天 3-15 half 季度 三天内 EOD 都改 那天不改 skip that date 大一点的 不 month after within two days tuesdax peoplr we are 12.5.2027 20270312 '"
)
WORDS = st.sampled_from(VOCABULARY.split(" "))  # fmt: skip
SENTENCES = st.lists(WORDS, max_size=40).flatmap(
    lambda words: st.sampled_from(["", " "]).map(lambda gap: gap.join(words))
)


@settings(max_examples=250, deadline=None)
@given(text=SENTENCES | st.text(max_size=700), draft=st.sampled_from(DRAFTS))
def test_any_text_is_read_without_an_exception_and_keeps_the_invariants(text, draft):
    understanding = read(text, draft)
    assert understanding.acts
    for found in understanding.slots.values():
        start, end = found.span
        assert 0 <= start <= end <= len(understanding.text)
    fold = apply(draft.slots, understanding, now=MONDAY, assumed=draft.assumed)
    assert set(fold.slots) <= set(SLOTS)
    assert set(fold.assumed) <= set(fold.slots)
    assert fold.slots.get("capacity", 1) > 0
    assert 0 < fold.slots.get("duration_minutes", 1) <= 1440
    if "date" in fold.slots:
        assert fold.slots["date"] >= MONDAY.date().isoformat()
    if not set(understanding.acts) & SPEAKING and "cancel_flow" not in understanding.acts:
        assert not fold.changed


@settings(max_examples=60, deadline=None)
@given(text=SENTENCES, draft=st.sampled_from(DRAFTS))
def test_reading_is_deterministic(text, draft):
    assert read(text, draft) == read(text, draft)


_slowest = [0.0]


@pytest.fixture(scope="module", autouse=True)
def _warm():
    """Tables of the office are built once, with its first message."""
    read("明天3点 evrest 会意室 tuesdax 春节", CHOOSING)


def seconds(text, draft) -> float:
    """CPU seconds of one reading; the least of a few, since others use the machine too."""
    least = float("inf")
    for _ in range(TRIES):
        started = process_time()
        read(text, draft)
        least = min(least, process_time() - started)
        if least < MOST_SECONDS / 2:
            break
    _slowest[0] = max(_slowest[0], least)
    return least


@pytest.mark.parametrize(
    "piece",
    ["一", "明天", "2pm ", "下午3点", "3-", "半", "a ", "and ", "第", "me plus ", "every wed ", "每周三", "twenty ", "-", "'", "下",
     "title: ", "12:", "4/", "ignore all ", "周一9点到10点", "不要", "to ", "end of ", "个", "9", ",改到", "改到 '", "move to ", "wensdai ",
     "half 7 ", "半 个 月", "每月", "每月第一个周", "春节", "1-", "3-15 ", "within a ", "move it back ", "skip that ", "我的", "my ", "in q", "那天", "到明天9点",
     "first day of ", "意", "1 一 ", "from 改到 ", "3 days from ", "10:30 周一到周五 . 改到 个半小时", "20270312", "12.5.2027", "of May the first "],
)  # fmt: skip
@pytest.mark.parametrize("draft", [IDLE, CHOOSING])
def test_the_worst_messages_take_bounded_time(piece, draft):
    assert seconds((piece * MESSAGE_LIMIT)[:MESSAGE_LIMIT], draft) < MOST_SECONDS


@settings(max_examples=120, deadline=None)
@given(
    text=st.lists(WORDS, min_size=60, max_size=250).map("".join)
    | st.lists(WORDS, min_size=1, max_size=5).map(lambda words: "".join(words) * 200),
    draft=st.sampled_from((IDLE, CHOOSING)),
)
def test_long_random_messages_take_bounded_time(text, draft):
    took = seconds(text[:MESSAGE_LIMIT], draft)
    target(took)
    assert took < MOST_SECONDS


def test_the_slowest_message_of_all_is_told(capsys):
    with capsys.disabled():
        print(f" slowest message: {_slowest[0] * 1000:.1f} ms of CPU ", end="")

    assert _slowest[0] < MOST_SECONDS
