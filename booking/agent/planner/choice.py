"""Which planner this process reads people with, by its settings."""

import logging
import time
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from django.conf import settings

from booking.agent.planner.proposals import Planner
from booking.agent.planner.rules import rules

if TYPE_CHECKING:
    from booking.agent.planner.llm import LlmPlanner
    from booking.agent.planner.model import Model


log = logging.getLogger(__name__)


def get_ready() -> None:
    """Load what asking the model takes, as a process starts: the first message has not the time.

    A model that is not to be had is no reason not to start.
    """
    told = settings.ROOMWISE["model"]
    if settings.ROOMWISE["planner"] != "llm" or not told["name"]:
        return
    from booking.agent.planner.model import ModelTrouble, model

    try:
        model(told["name"], url=told["url"], key=told["key"], seconds=told["seconds"])
    except ModelTrouble as trouble:
        log.warning("no model to ask name=%s why=%s", told["name"], trouble.why)


def chosen() -> Planner:
    """The planner of `ROOMWISE_PLANNER` for one turn, whose messages share the model's time.

    Looked up each time: a replay may try another. The rules where no model is named.
    """
    told = settings.ROOMWISE["model"]
    if settings.ROOMWISE["planner"] != "llm" or not told["name"]:
        return rules
    asks = _llm(told["name"], told["url"], told["key"], told["seconds"])
    return partial(asks, until=time.monotonic() + told["seconds"])


@lru_cache(maxsize=8)
def _llm(name: str, url: str, key: str, seconds: float) -> "LlmPlanner":
    """Loaded when there is a model to ask: LangChain and its providers are heavy."""
    from booking.agent.planner.llm import LlmPlanner

    def connect() -> "Model":
        from booking.agent.planner.model import model

        return model(name, url=url, key=key, seconds=seconds)

    return LlmPlanner(connect, seconds=seconds)
