"""Reading cases: what a line may be, and how a bad one is named."""

import json

import pytest

from booking.evaluation.cases import BadCase, load

GOOD = {
    "id": "one",
    "lang": "en",
    "now": "2027-03-01T09:00:00+08:00",
    "turns": [{"text": "a room"}],
    "expect": {
        "classification": ["new_request"],
        "slots": {},
        "phase": "COLLECTING_SLOTS",
        "outcome": "asked",
    },
}


def line(**changes):
    return json.dumps({**GOOD, **changes}, ensure_ascii=False)


@pytest.fixture
def file(tmp_path):
    def write(*lines, fixture=None):
        path = tmp_path / "some.jsonl"
        path.write_text("\n".join(lines), encoding="utf-8")
        if fixture is not None:
            (tmp_path / "fixture.json").write_text(fixture, encoding="utf-8")
        return path

    return write


def test_cases_start_from_the_world_beside_them_or_from_their_own(file):
    found = load(
        file(line(), "", line(id="two", fixture={"zone": "UTC"}), fixture='{"zone": "Asia/Tokyo"}')
    )

    assert [(case.id, case.fixture["zone"]) for case in found] == [
        ("one", "Asia/Tokyo"),
        ("two", "UTC"),
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "no JSON"),
        ("[]", "the case is no object"),
        (line(id=" "), "id is no text"),
        (line(lang="fr"), "lang is none of"),
        (line(now="soon"), "now is no instant"),
        (line(now="2027-03-01T09:00:00"), "now has no zone"),
        (line(turns=[]), "turns is empty"),
        (line(turns=[{"text": ""}]), "turn 1: text"),
        (line(turns=[{"text": "a", "gap_ms": "1"}]), "gap_ms"),
        (line(turns=[{"text": "a", "while_running": True}]), "turn 1 cannot"),
        (line(turns=[{"text": "a"}, {"text": "b"}]), "one class a turn"),
        (line(expect={}), "expect has no classification"),
        (line(expect={**GOOD["expect"], "phase": "DONE"}), "expect.phase"),
        (line(), "the id one is taken"),
    ],
)
def test_a_bad_line_is_named(file, text, why):
    with pytest.raises(BadCase, match=rf"line 3: .*{why}"):
        load(file(line(), "", text))


def test_what_cannot_be_read_is_named(file, tmp_path):
    with pytest.raises(BadCase, match=r"nowhere\.jsonl cannot be read"):
        load(tmp_path / "nowhere.jsonl")
    with pytest.raises(BadCase, match=r"fixture\.json is no JSON"):
        load(file(line(), fixture="{"))


@pytest.mark.parametrize(
    ("changes", "family"),
    [
        ({}, "clarifying"),
        ({"family": "of my own"}, "of my own"),
        (
            {
                "turns": [{"text": "a"}, {"text": "b", "while_running": True}],
                "expect": {**GOOD["expect"], "classification": ["new_request", "injection"]},
            },
            "interruptions",
        ),
        ({"expect": {**GOOD["expect"], "classification": ["new_request+injection"]}}, "injection"),
        ({"expect": {**GOOD["expect"], "outcome": "refused_policy"}}, "refusals"),
        ({"expect": {**GOOD["expect"], "outcome": "candidates_offered"}}, "in one message"),
    ],
)
def test_a_case_belongs_to_the_family_of_its_rarest_trait(file, changes, family):
    assert load(file(line(**changes)))[0].family == family
