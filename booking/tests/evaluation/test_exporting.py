"""Conversations become cases: held for real, exported, masked, and played again to the same end."""

import json
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from agentruntime.agents import NoCase
from agentruntime.models import Message, Thread
from agentruntime.persistence.pools import in_db_thread
from booking.evaluation.cases import read
from booking.evaluation.exporting import case_of
from booking.evaluation.judging import judge
from booking.evaluation.masking import Masks, TooManyPeople
from booking.evaluation.playing import playing

ZONE = ZoneInfo("Asia/Shanghai")


def fixture():
    """Rooms that are open every day, and bookings of tomorrow with names and titles in them."""
    tomorrow = (datetime.now(ZONE) + timedelta(days=1)).date().isoformat()
    return {
        "user": {"id": "u1001", "building": "A"},
        "people": {"u1001": "李雷", "u2002": "王芳", "u2003": "韩梅"},
        "policy": {"open": {"days": list(range(1, 8)), "from": "08:00", "to": "21:00"}},
        "bookings": [
            {"id": 1, "room": "A305", "start": f"{tomorrow}T15:00", "end": f"{tomorrow}T16:00",
             "organizer": "u1001", "title": "永安客户演示"},
            {"id": 2, "room": "A302", "start": f"{tomorrow}T14:00", "end": f"{tomorrow}T15:00",
             "organizer": "u2002", "title": "裁员名单", "visibility": "private"},
        ],
    }  # fmt: skip


CONVERSATIONS = {
    "booked": ("zh", [
        {"text": "明天下午2点，1小时，6个人，主题是“薪资谈判”"},
        {"text": "第一个"},
        {"text": "确认"},
    ]),
    "clicked": ("en", [
        {"text": "Room for 6 tomorrow at 2pm, one hour"},
        {"answer": {"room": "A301"}},
        {"answer": {"approved": True}},
    ]),
    "for somebody": ("zh", [{"text": "帮王芳订明天上午11点，半小时，4个人，电话13912345678"}]),
    "cancelled": ("en", [{"text": "cancel my client demo tomorrow"}, {"text": "yes"}]),
    "moved": ("zh", [{"text": "把明天的客户演示改到下午五点"}, {"text": "确认"}]),
    "asked": ("zh", [{"text": "韩梅和我明天下午开会"}]),
    "refused": ("en", [{"text": "a room for 6 tomorrow at 11pm for an hour"}]),
    "corrected beside": ("en", [
        {"text": "Room for 8 tomorrow at 2pm, one hour"},
        {"text": "actually 4pm", "gap_ms": 200, "while_running": True},
    ]),
    "dropped": ("zh", [{"text": "明天下午3点，一小时，5个人"}, {"text": "算了"}]),
    "changed its own": ("en", [
        {"text": "B201 tomorrow at 10 for an hour, 7 people"},
        {"text": "yes"},
        {"text": "cancel that booking"},
        {"text": "yes"},
    ]),
}  # fmt: skip
SECRETS = (
    "王芳",
    "李雷",
    "韩梅",
    "薪资谈判",
    "永安",
    "裁员名单",
    "13912345678",
    "wangfang",
    "wang fang",
)


def started(lang, turns):
    line = {
        "id": "one", "lang": lang, "now": datetime.now(ZONE).isoformat(), "turns": turns,
        "expect": {
            "classification": [""] * len(turns), "slots": {}, "phase": "IDLE", "outcome": "",
        },
    }  # fmt: skip
    return read(json.dumps(line), fixture=fixture())


async def exported(player, name, labels=None):
    await player.play(started(*CONVERSATIONS[name]))
    thread = await in_db_thread(Thread.objects.latest, "created_at")
    made = await in_db_thread(case_of, thread.pk, labels or {})
    return thread, json.dumps(made, ensure_ascii=False)


@pytest.mark.parametrize("name", CONVERSATIONS)
async def test_an_exported_conversation_plays_to_the_same_end(transactional_db, name):
    async with playing() as player:
        _, line = await exported(player, name)
        case = read(line, fixture={})
        played, world = await player.play(case)

    assert judge(case, played, world) == [], line
    assert [secret for secret in SECRETS if secret in line.lower()] == []


async def test_what_was_written_is_expected(transactional_db):
    async with playing() as player:
        _, line = await exported(player, "booked")

    made = json.loads(line)["expect"]
    (write,) = made["writes"]
    assert (write["op"], write["room"], write["status"], write["headcount"]) == (
        "create", "A301", "booked", 6,
    )  # fmt: skip
    assert (made["phase"], made["outcome"]) == ("BOOKED", "booked")


async def test_a_corrected_label_is_what_is_expected(transactional_db):
    async with playing() as player:
        thread, _ = await exported(player, "dropped")
    message = await in_db_thread(
        Message.objects.filter(thread=thread, role="user").order_by("pk").first
    )

    made = await in_db_thread(case_of, thread.pk, {message.pk: "query_availability"})

    assert made["expect"]["classification"] == ["query_availability", "cancel_flow"]


async def test_what_cannot_become_a_case_says_why(transactional_db):
    async with playing() as player:
        thread, _ = await exported(player, "dropped")

    async def refused(match):
        with pytest.raises(NoCase, match=match):
            await in_db_thread(case_of, thread.pk, {})

    said = Message.objects.filter(thread=thread, role="user")
    await in_db_thread(lambda: said.filter(text="算了").update(status="withdrawn"))
    await refused("taken back")
    await in_db_thread(lambda: said.update(status="withdrawn"))
    await refused("nothing has been said")
    await in_db_thread(lambda: Thread.objects.filter(pk=thread.pk).update(sandbox=True))
    await refused("copy")
    with pytest.raises(NoCase, match="no such thread"):
        await in_db_thread(case_of, "nothing", {})


def test_masks_are_the_same_everywhere_and_of_the_same_script():
    masks = Masks()
    mei, tom = masks.person(["王芳"]), masks.person(["Tom Smith", "Smith Tom"])

    assert masks.person(["王芳"]) == mei != tom
    assert masks.title("季度预算") == masks.title("季度预算")
    text = masks.text(
        "王芳 and WANG FANG, tom smith: 季度预算, a@b.cn, +86 139 1234 5678, room 301"
    )
    latin = "chen chen"
    topic = masks.title("季度预算")
    assert text == (
        f"{mei} and {latin}, {tom}: {topic}, someone@example.com, 13800000000, room 301"
    )


def test_there_are_not_endless_masks():
    masks = Masks()
    for number in range(10):
        masks.person([f"Person {number}"])

    with pytest.raises(TooManyPeople):
        masks.person(["One more"])
