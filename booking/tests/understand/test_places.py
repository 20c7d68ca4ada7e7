"""Rooms, buildings, floors, features, titles and people."""

import pytest

from .office import CHOOSING, codes, read, values


@pytest.mark.parametrize(
    ("text", "room"),
    [
        ("订C101明天3点", "C101"), ("book c-101 tomorrow 3pm", "C101"), ("C 101 tomorrow 3pm", "C101"),
        ("book 101 tomorrow 3pm", "C101"), ("room 101 tomorrow 3pm", "C101"), ("莲花厅明天3点", "C101"),
        ("lotus hall tomorrow 3pm", "C101"), ("Ｄ３０８ 明天3点", "D308"), ("everest tomorrow 3pm", "D305"),
    ],
)  # fmt: skip
def test_codes_names_and_aliases_match_exactly(text, room):
    found = read(text).slots["room"]
    assert (found.value, found.assumed) == (room, False)


@pytest.mark.parametrize(
    ("text", "room"),
    [("连花厅明天3点", "C101"), ("云海会意室明天3点", "C210"), ("evrest tomorrow 3pm", "D305"), ("lotos hall tomorrow 3pm", "C101")],
)  # fmt: skip
def test_names_that_sound_or_look_alike_are_read_back(text, room):
    found = read(text).slots["room"]
    assert (found.value, found.assumed) == (room, True)


@pytest.mark.parametrize("text", ["book D306 tomorrow 3pm", "订C102明天3点", "D3O5 tomorrow 3pm"])
def test_a_code_never_becomes_another(text):
    assert "room" not in values(text)


def test_an_unknown_code_is_said():
    assert codes("订C999明天3点")["room"] == "unknown_room"


@pytest.mark.parametrize("text", ["101 people tomorrow 3pm", "明天3点101个人"])
def test_a_number_of_people_is_no_room(text):
    found = values(text)
    assert found["capacity"] == 101
    assert "room" not in found


@pytest.mark.parametrize(
    ("text", "building"),
    [
        ("C座", "C"),
        ("D栋", "D"),
        ("building d", "D"),
        ("north wing", "C"),
        ("北翼", "C"),
        ("Tower C", "C"),
    ],
)
def test_buildings_are_known_by_code_and_name(text, building):
    assert values(f"{text} 明天3点")["building"] == building


def test_an_unknown_building_is_said():
    assert codes("明天3点，K座")["building"] == "unknown_building"


@pytest.mark.parametrize(
    ("text", "floor"),
    [("三楼", 3), ("3层", 3), ("3F", 3), ("third floor", 3), ("floor 3", 3), ("on the 3rd floor", 3), ("负一楼", -1), ("十二层", 12)],
)  # fmt: skip
def test_floors_are_read(text, floor):
    assert values(f"{text} 明天3点")["floor"] == floor


@pytest.mark.parametrize(
    ("text", "features"),
    [
        ("要有投影和白板", ["projector", "whiteboard"]), ("with a projector", ["projector"]),
        ("要能视频会议", ["video_conference"]), ("needs VC", ["video_conference"]),
        ("with video conferencing and a white board", ["whiteboard", "video_conference"]),
        ("有电视的", ["tv"]), ("要话筒", ["microphone"]), ("mic and TV please", ["microphone", "tv"]),
    ],
)  # fmt: skip
def test_features_have_synonyms(text, features):
    assert set(values(f"明天3点 {text}")["features"]) == set(features)


@pytest.mark.parametrize("text", ["不要投影", "投影不用了", "no projector", "without a projector"])
def test_an_unwanted_feature_is_dropped(text):
    found = values(text, CHOOSING)
    assert found == {"without": ["projector"]}


@pytest.mark.parametrize("text", ["要电视和白板，不要投影", "a TV and a whiteboard, no projector"])
def test_a_denial_reaches_only_its_own_thing(text):
    found = values(f"明天3点 {text}")
    assert (set(found["features"]), found["without"]) == ({"tv", "whiteboard"}, ["projector"])


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("明天3点，主题：季度复盘", "季度复盘"), ("tomorrow 3pm, titled Roadmap Q2", "Roadmap Q2"),
        ('明天3点，标题是"取消所有预订"', "取消所有预订"), ("明天3点面试", "面试"), ("interview tomorrow 3pm", "interview"),
    ],
)  # fmt: skip
def test_titles_are_data(text, title):
    understanding = read(text)
    assert understanding.slots["title"].value == title
    assert understanding.acts == ("new_request",)


@pytest.mark.parametrize(
    ("text", "person"), [("帮陈晓东订明天3点", "p2"), ("book tomorrow 3pm for Danny Chen", "p2"), ("on behalf of Chen Xiaodong tomorrow 3pm", "p2")]
)  # fmt: skip
def test_somebody_else_is_named_and_never_the_organizer(text, person):
    assert values(text)["on_behalf_of"] == person


@pytest.mark.parametrize("text", ["帮我订明天3点", "帮张敏订明天3点", "和陈晓东开会，明天3点"])
def test_oneself_and_attendees_are_nobody_else(text):
    assert "on_behalf_of" not in values(text)


@pytest.mark.parametrize(
    "text", ["same room as my product review, tomorrow at 10", "和产品评审同一间会议室，明天10点"]
)
def test_the_room_of_an_own_booking_can_be_meant(text):
    understanding = read(text)
    assert understanding.slots["room"].value == "C210"
    assert understanding.acts == ("new_request",)
