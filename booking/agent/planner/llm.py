"""The planner that asks a model: one call a message, one repair, a limit; then the rules.

It is never worse off than the rules are: whatever the model does, there is a proposal in time.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from booking.agent.planner import evidence, prompt, schema
from booking.agent.planner.model import WAYS, Answer, Model, ModelTrouble
from booking.agent.planner.proposals import Action, Heard, Planned
from booking.agent.planner.rules import planned_by_rules
from booking.agent.understand import Problem

log = logging.getLogger(__name__)

# After so many failures in a row the model is left alone for a while; then one try decides.
FAILURES, REST_SECONDS = 3, 30.0
_FAILED = frozenset({"unavailable", "timeout"})

# Verdicts after which the rules stand in for a model that was to be asked.
FALLBACKS = _FAILED | {"late", "resting", "malformed", "cut", "refused", "unsupported"}

# What takes back or changes an open confirmation (P14), and so may not be hidden by a model.
_VOIDING: frozenset[Action] = frozenset(
    {"fill", "select", "decline", "drop", "restart", "cancel_booking", "move_booking"}
)


@dataclass
class Asking:
    """One message's dealings with the model, for the run's figures."""

    verdict: str = "ok"
    calls: int = 0
    seconds: float = 0.0
    tokens: dict[str, int] = field(default_factory=lambda: {"input": 0, "output": 0})
    dropped: tuple[str, ...] = ()
    why: str = ""

    def count(self, usage: Mapping[str, int]) -> None:
        """Add what a call cost."""
        for name in self.tokens:
            self.tokens[name] += int(usage.get(f"{name}_tokens") or 0)


class LlmPlanner:
    """See `planner.Planner`. connect: makes or finds the model, at the first message."""

    def __init__(self, connect: Callable[[], Model], *, seconds: float) -> None:
        self._connect = connect
        self._model: Model | None = None
        self._seconds = seconds
        self._failures = 0
        self._rests_until = 0.0

    async def __call__(self, heard: Heard, *, until: float = inf) -> Planned:
        """The model's plan as far as it is proved, or the rules'. until: by the monotonic clock."""
        by_rules = planned_by_rules(heard)
        began = time.monotonic()
        if (why := self._why_not(by_rules, heard, until - began)) is not None:
            return _by_rules(by_rules, Asking(verdict=why))
        asking = Asking()
        weighed: evidence.Weighed | None = None
        try:
            if self._model is None:
                self._model = await asyncio.to_thread(self._connect)
            async with asyncio.timeout(min(self._seconds, until - time.monotonic())):
                weighed = await _asked(self._model, heard, asking)
        except TimeoutError:
            asking.verdict = "timeout"
        except ModelTrouble as trouble:
            asking.verdict, asking.why = trouble.code, trouble.why
        asking.seconds = time.monotonic() - began
        self._remember(asking.verdict)
        _log(asking, self._model)
        if weighed is None:
            return _by_rules(by_rules, asking, self._model)
        planned = weighed.planned
        action, wanted = planned.proposal.action, by_rules.proposal.action
        if action == "unclear" or _hides(action, wanted, heard.draft.phase):
            asking.verdict = "unsure" if action == "unclear" else "overruled"
            return _by_rules(by_rules, asking, self._model)
        figures = {
            **_figures("llm", asking, self._model),
            "agrees": _facts(planned) == _facts(by_rules),
        }
        if not _is_understood(by_rules) and action not in _VOIDING:
            planned = _doubted(planned)
        return replace(planned, figures=figures)

    def _why_not(self, by_rules: Planned, heard: Heard, left: float) -> str | None:
        """Why no model is asked, as a verdict. left: seconds that the turn has for it."""
        if by_rules.proposal.action in schema.NEVER or "injection" in by_rules.label:
            return "own"
        if heard.acts_at_once:
            return "own"
        if left <= 0:
            return "late"
        return "resting" if time.monotonic() < self._rests_until else None

    def _remember(self, verdict: str) -> None:
        self._failures = self._failures + 1 if verdict in _FAILED else 0
        if self._failures >= FAILURES:
            self._rests_until = time.monotonic() + REST_SECONDS


def _is_understood(by_rules: Planned) -> bool:
    understanding = by_rules.proposal.understanding
    codes = {each.code for each in understanding.problems} if understanding else set()
    return by_rules.proposal.action != "unclear" and "not_understood" not in codes


def _doubted(planned: Planned) -> Planned:
    """The plan with the rules' doubt kept: a yes in one breath with such words is asked again."""
    understanding = planned.proposal.understanding
    if understanding is None:
        return planned
    problems = (*understanding.problems, Problem("not_understood", "", (0, 0)))
    understood = replace(understanding, problems=problems)
    return replace(planned, proposal=replace(planned.proposal, understanding=understood))


def _hides(action: Action, by_rules: Action, phase: str) -> bool:
    """Whether a confirmation would stay open that the rules' reading of the words takes back."""
    return phase == "CONFIRMING" and by_rules in _VOIDING and action not in _VOIDING


async def _asked(model: Model, heard: Heard, asking: Asking) -> evidence.Weighed:
    """Ask, and once more where the answer is no plan. Raises ModelTrouble."""
    messages = prompt.messages(heard, with_schema=model.way == "json_mode")
    try:
        return _weighed(await _call(model, messages, heard, asking), heard, asking)
    except ModelTrouble as trouble:
        if trouble.code not in {"malformed", "cut"}:
            raise
        messages += prompt.repair(trouble.said, trouble.why)
    asking.verdict = "repaired"
    return _weighed(await _call(model, messages, heard, asking), heard, asking)


async def _call(
    model: Model, messages: list[tuple[str, str]], heard: Heard, asking: Asking
) -> Answer:
    """One answer, by whichever way the provider has. Raises ModelTrouble."""
    for _ in WAYS:
        asking.calls += 1
        way = model.way
        try:
            answer = await model.ask(messages, schema.schema(heard.draft.phase))
        except ModelTrouble as trouble:
            asking.count(trouble.usage)
            if trouble.code != "unsupported" or model.way == way:
                raise
            if model.way == "json_mode":
                messages = [*prompt.messages(heard, with_schema=True), *messages[2:]]
        else:
            asking.count(answer.usage)
            return answer
    raise ModelTrouble("unsupported")


def _weighed(answer: Answer, heard: Heard, asking: Asking) -> evidence.Weighed:
    try:
        plan = schema.checked(
            answer.value, phase=heard.draft.phase, cards=len(heard.draft.candidates)
        )
    except schema.BadPlan as bad:
        raise ModelTrouble("malformed", why=str(bad), said=answer.said) from bad
    weighed = evidence.weigh(plan, heard)
    asking.dropped = weighed.dropped
    return weighed


def _by_rules(planned: Planned, asking: Asking, model: Model | None = None) -> Planned:
    return replace(planned, figures=_figures("rules", asking, model))


def _figures(by: str, asking: Asking, model: Model | None) -> dict[str, Any]:
    return {
        "by": by,
        "verdict": asking.verdict,
        "fallback": asking.verdict in FALLBACKS,
        "model": model.name if model else "",
        "way": model.way if model else "",
        "calls": asking.calls,
        "seconds": round(asking.seconds, 3),
        "tokens": dict(asking.tokens),
        "dropped": list(asking.dropped),
    }


def _facts(planned: Planned) -> Any:
    """What a proposal would do, to compare two."""
    proposal = planned.proposal
    found = proposal.understanding.slots if proposal.understanding else {}
    return proposal.action, proposal.card, {slot: each.value for slot, each in found.items()}


def _log(asking: Asking, model: Model | None) -> None:
    log.info(
        "planned verdict=%s model=%s way=%s calls=%d seconds=%.3f input=%d output=%d dropped=%d why=%s",
        asking.verdict, model.name if model else "", model.way if model else "", asking.calls,
        asking.seconds, asking.tokens["input"], asking.tokens["output"], len(asking.dropped),
        asking.why,
    )  # fmt: skip
