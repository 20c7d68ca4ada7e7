"""Which planner this process reads people with, by its settings."""

from functools import lru_cache
from typing import TYPE_CHECKING

from django.conf import settings

from booking.agent.planner.proposals import Planner
from booking.agent.planner.rules import rules

if TYPE_CHECKING:
    from booking.agent.planner.model import Model


def chosen() -> Planner:
    """The planner of `ROOMWISE_PLANNER`, looked up each time: a replay may try another."""
    if settings.ROOMWISE["planner"] != "llm":
        return rules
    told = settings.ROOMWISE["model"]
    return _llm(told["name"], told["url"], told["key"], told["seconds"])


@lru_cache(maxsize=8)
def _llm(name: str, url: str, key: str, seconds: float) -> Planner:
    """Loaded when there is a model to ask: LangChain and its providers are heavy."""
    from booking.agent.planner.llm import LlmPlanner

    def connect() -> "Model":
        from booking.agent.planner.model import model

        return model(name, url=url, key=key, seconds=seconds)

    return LlmPlanner(connect, seconds=seconds)
