"""The tables, byte for byte, and what changed since an earlier run."""

import json

from booking.evaluation import report
from booking.evaluation.judging import Fault
from booking.evaluation.report import Result

GOOD = Result(
    id="a", file="f", lang="zh", family="booked", classes=report.pairs(["confirm"], ["confirm"])
)
BAD = Result(
    id="b", file="f", lang="en", family="questions",
    classes=report.pairs(["query_mine", "confirm"], ["query_room"]),
    faults=[Fault(check="phase", wanted="IDLE", got="BOOKED")],
)  # fmt: skip
GRAVE = Result(
    id="c", file="f", lang="zh", family="booked", faults=[Fault(check="leak", got="x", grave=True)]
)


def test_the_table_has_families_and_languages():
    assert report.scores([BAD, GOOD, GRAVE]) == (
        "| family    | en  | zh  | all |\n"
        "|-----------|-----|-----|-----|\n"
        "| booked    |     | 1/2 | 1/2 |\n"
        "| questions | 0/1 |     | 0/1 |\n"
        "| all       | 0/1 | 1/2 | 1/3 |"
    )


def test_the_matrix_has_a_row_for_what_it_should_be():
    assert report.confusion([GOOD, BAD]) == (
        "|   | should be  | 1 | 2 | 3 | 4 |\n"
        "|---|------------|---|---|---|---|\n"
        "| 2 | confirm    | 1 | 1 |   |   |\n"
        "| 3 | query_mine |   |   |   | 1 |"
    )


def test_faults_are_told_and_the_grave_ones_marked():
    assert report.failures([GOOD, BAD, GRAVE]) == (
        "b (questions, en)\n"
        "  phase: wanted 'IDLE', got 'BOOKED'\n"
        "c (booked, zh)\n"
        "  WRONG WRITE OR LEAK leak: wanted None, got 'x'"
    )


def test_the_json_counts_and_keeps_every_case():
    found = report.as_json([GOOD, BAD, GRAVE], planner="rules")

    assert (found["passed"], found["total"], found["grave"]) == (1, 3, ["c"])
    assert found["families"]["booked"] == {"passed": 1, "total": 2}
    assert [case["id"] for case in found["cases"]] == ["a", "b", "c"]
    assert json.loads(json.dumps(found)) == found


def test_what_changed_is_named_case_by_case():
    old = report.as_json(
        [GOOD, BAD, Result(id="z", file="f", lang="en", family="x")], planner="rules"
    )
    other = Result(id="b", file="f", lang="en", family="x", faults=[Fault(check="outcome")])
    failing = Result(id="a", file="f", lang="zh", family="x", faults=[Fault(check="slots")])
    new = report.as_json([failing, other, GRAVE], planner="llm")

    assert report.compared(old, new) == (
        "2/3 (rules) -> 0/3 (llm)\n"
        "a: fails now: slots\n"
        "b: still fails, otherwise: phase -> outcome\n"
        "c: is new, fails\n"
        "z: is gone"
    )
    assert report.compared(old, old) == "2/3 (rules) -> 2/3 (rules)"
