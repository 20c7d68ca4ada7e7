"""What a system check says of the planner's settings; a wrong one leaves people to the rules."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks


@checks.register
def check_model(**kwargs: Any) -> list[checks.CheckMessage]:
    """Whether a model can be asked, where one is to be."""
    if settings.ROOMWISE["planner"] != "llm":
        return []
    told = settings.ROOMWISE["model"]
    found: list[checks.CheckMessage] = []
    if not told["name"]:
        found.append(
            checks.Warning(
                "ROOMWISE_PLANNER is llm, but ROOMWISE_MODEL names no model: the rules plan.",
                hint="Set ROOMWISE_MODEL, as in openai:gpt-4.1-mini, or ROOMWISE_PLANNER=rules.",
                id="booking.W001",
            )
        )
    if told["url"] and urlsplit(told["url"]).scheme not in {"http", "https"}:
        found.append(
            checks.Warning(
                "ROOMWISE_MODEL_URL is no http or https address: the rules will plan.",
                id="booking.W002",
            )
        )
    if not 0 < told["seconds"] <= 60:
        found.append(
            checks.Warning(
                "ROOMWISE_MODEL_SECONDS is not between 0 and 60: nobody waits that long.",
                id="booking.W003",
            )
        )
    return found
