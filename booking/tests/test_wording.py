import pytest
from django.utils.translation import override

from booking.tests.understand.office import CHOOSING, read
from booking.wording import assistant_texts, examples

TYPED = {
    "date": ("2027-03-11", "Thursday", "周四"),
    "start_time": ("15:00", "3 pm", "下午三点"),
    "duration_minutes": (90, "90 minutes", "一个半小时"),
    "capacity": (8, "8", "8"),
    "building": ("D", "D", "D座"),
    "floor": (3, "3", "3楼"),
    "room": ("D305", "D305", "D305"),
    "features": (["projector"], "projector", "投影"),
    "title": ("Budget review", "Budget review", "Budget review"),
}


@pytest.mark.parametrize("slot", TYPED)
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_correction_that_a_chip_begins_is_understood(language, slot):
    value, *typed = TYPED[slot]
    with override(language):
        beginning = assistant_texts()[f"correct_{slot}"]
    understood = read(beginning + typed[language == "zh-hans"], CHOOSING)
    assert {name: found.value for name, found in understood.slots.items()} == {slot: value}


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_example_is_something_the_agent_understands(language):
    shown = examples(language)
    assert [each["lang"] for each in shown].count("zh-Hans") == (3 if language != "en" else 1)
    for each in shown:
        assert read(each["text"]).acts[0] != "out_of_domain", each["text"]
