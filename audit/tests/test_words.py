"""Codes of the runtime and of agents in people's words."""

import itertools

import pytest
from django.utils.translation import override

from agentruntime.orchestration import policy
from agentruntime.testing import probe_spec
from audit import codes, presenters


def rules():
    """Every rule that `policy.decide` can name, and those messages are set aside by."""
    questions = [None, {"id": "q"}]
    found = {
        policy.decide(
            status=status, interrupt=asked, kind=kind, interrupt_id=answers,
            message_class=message_class, strategy=strategy,
        ).rule
        for status, asked, kind, answers, message_class, strategy in itertools.product(
            ("idle", "waiting", "running", "archived"), questions, ("text", "answer"),
            ("", "q", "another"), ("", *policy.CLASSES), policy.STRATEGIES,
        )
    }  # fmt: skip
    return sorted(found | {"stale_answer", "rolled_back", "given_up", "retried"})


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_rule_and_class_of_the_runtime_has_words(language):
    with override(language):
        for code in rules():
            assert "_" not in codes.rule_words(code), code
        for code in policy.CLASSES:
            assert codes.class_words(code) != code or code == "answer"
    assert len(rules()) > 15


def test_a_class_is_the_agents_word_first_and_several_are_all_told():
    spec = probe_spec().__class__(
        **{**probe_spec().__dict__, "words": {"class:hope": {"en": "a hope", "zh": "希望"}}}
    )
    assert presenters.class_words([spec], "hope+correction", "en") == "a hope + a correction"
    assert presenters.class_words([spec], "", "en") == ""
    assert presenters.effect_words([spec], "launch", "en") == "launch"


@pytest.mark.parametrize(
    ("pointer", "value", "words"),
    [
        ("/dialogue/phase", "HELD", "On hold"),
        ("/draft/wish", "HELD", "HELD"),
        ("/draft/phases", ["HELD", "x"], "On hold, x"),
        ("/result/start", "2026-12-02T15:00:00+08:00", "2026-12-02 15:00 (UTC+08:00)"),
        ("/result/start", "2026-12-02T15:00:00.5Z", "2026-12-02 15:00 (UTC)"),
        ("/draft/wish", "at 2026-12-02T15:00:00Z", "at 2026-12-02T15:00:00Z"),
        ("/draft/wish", None, "–"),
        ("/draft/wish", True, "yes"),
    ],
)
def test_values_are_told_by_where_they_stand(pointer, value, words):
    on_hold = {"en": "On hold", "zh": "搁置"}
    spec = probe_spec().__class__(
        **{**probe_spec().__dict__, "words": {"phase:HELD": on_hold, "phases:HELD": on_hold}}
    )
    assert presenters.told(spec, pointer, value, "en") == words
