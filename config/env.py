"""The environment, read in one place: every setting a site engineer may turn.

`SETTINGS` is the one table; README.md repeats it and the suite compares the two.
Imports nothing of the project and nothing of Django.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent


def _flag(text: str) -> bool:
    if text.lower() in {"1", "true", "yes", "on"}:
        return True
    if text.lower() in {"0", "false", "no", "off", ""}:
        return False
    raise ValueError("use true or false")


def _number(least: float, most: float) -> Callable[[str], float]:
    """A reader of numbers within bounds, both included."""

    def read(text: str) -> float:
        value = float(text)
        if not least <= value <= most:
            raise ValueError(f"use a number from {least:g} to {most:g}")
        return value

    return read


def _whole(least: int, most: int) -> Callable[[str], int]:
    """A reader of whole numbers within bounds, both included."""
    return lambda text: int(_number(least, most)(str(int(text))))


def _planner(text: str) -> str:
    if text not in {"rules", "llm"}:
        raise ValueError("use rules or llm")
    return text


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _path(text: str) -> Path:
    path = Path(text).expanduser()
    return path if path.is_absolute() else ROOT / path


def _mail_server(text: str) -> dict[str, Any]:
    """Django's mail settings of an address; empty without one."""
    if not text:
        return {}
    parts = urlsplit(text)
    if parts.scheme not in {"smtp", "smtps"} or not parts.hostname:
        raise ValueError("use smtp://host:port or smtps://host:port")
    is_tls = parts.scheme == "smtps"
    return {
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or (465 if is_tls else 587),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": is_tls,
        "EMAIL_USE_TLS": not is_tls and parts.username is not None,
    }


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One variable: its default as one would type it, how it is read, what it is for."""

    name: str
    default: str
    read: Callable[[str], Any]
    about: str


class BadSetting(Exception):
    """An environment variable has a value that cannot be read."""


SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting(
            name="DEBUG",
            default="true",
            read=_flag,
            about="Demo mode: error pages with details, demo data allowed. Switch off in production.",
        ),
        Setting(
            name="SECRET_KEY",
            default="",
            read=str,
            about="Django's signing key. Required when DEBUG is off.",
        ),
        Setting(
            name="DATABASE_URL",
            default="",
            read=str,
            about="PostgreSQL 17 or newer. Empty: the embedded PostgreSQL in ROOMWISE_DATA.",
        ),
        Setting(
            name="REDIS_URL",
            default="",
            read=str,
            about="Redis for several processes. Empty: one process, in-memory channel layer.",
        ),
        Setting(
            name="ROOMWISE_DATA",
            default="var",
            read=_path,
            about="Where the embedded database and its log live; relative to the project.",
        ),
        Setting(
            name="PORT", default="8000", read=_whole(0, 65535), about="Port the server listens on."
        ),
        Setting(
            name="HOST",
            default="127.0.0.1",
            read=str,
            about="Address the server listens on.",
        ),
        Setting(
            name="ALLOWED_HOSTS",
            default="localhost,127.0.0.1,[::1]",
            read=_words,
            about="Host names the portal answers to.",
        ),
        Setting(
            name="ALLOWED_ORIGINS",
            default="",
            read=_words,
            about="Origins, with scheme, that may open a WebSocket. Empty: http and https of every allowed host on this port.",
        ),
        Setting(
            name="TIME_ZONE",
            default="Asia/Shanghai",
            read=str,
            about="Zone pages are shown in; each site has its own for its rooms.",
        ),
        Setting(
            name="ROOMWISE_LEASE_SECONDS",
            default="12",
            read=_number(2, 600),
            about="How long a worker's right to run a thread lasts without renewal; two beats at least.",
        ),
        Setting(
            name="ROOMWISE_BEAT_SECONDS",
            default="3",
            read=_number(0.1, 60),
            about="How often leases are renewed.",
        ),
        Setting(
            name="ROOMWISE_WATCH_SECONDS",
            default="0.5",
            read=_number(0.05, 60),
            about="How often a worker looks for threads whose worker has died.",
        ),
        Setting(
            name="ROOMWISE_DEBOUNCE_SECONDS",
            default="0.8",
            read=_number(0.3, 1.5),
            about="Silence that ends what a person is saying in several messages, from 0.3 to 1.5; four times as long at most.",
        ),
        Setting(
            name="ROOMWISE_FLUSH_AFTER",
            default="5",
            read=_number(0, 3600),
            about="A run longer than this many seconds also saves at super-step boundaries.",
        ),
        Setting(
            name="ROOMWISE_RUN_SECONDS",
            default="120",
            read=_number(1, 3600),
            about="The longest a single run may take before it is ended as timed out.",
        ),
        Setting(
            name="ROOMWISE_DRAIN_SECONDS",
            default="8",
            read=_number(1, 300),
            about="How long SIGTERM waits for runs and sockets before it cancels them.",
        ),
        Setting(
            name="ROOMWISE_IDLE_SECONDS",
            default="600",
            read=_number(10, 864000),
            about="Silence after which an unfinished attempt counts as timed out; its conversation stays open.",
        ),
        Setting(
            name="ROOMWISE_HANG_SECONDS",
            default="60",
            read=_number(0, 3600),
            about="A process whose event loop has not answered for this long ends itself; 0 for never.",
        ),
        Setting(
            name="ROOMWISE_FRAMES_PER_SECOND",
            default="10",
            read=_number(1, 1000000),
            about="How fast one socket may speak; four times as many at once.",
        ),
        Setting(
            name="ROOMWISE_API_PER_MINUTE",
            default="300",
            read=_whole(1, 1000000),
            about="How many requests a minute a person may send to the REST API, per process.",
        ),
        Setting(
            name="ROOMWISE_PLANNER",
            default="rules",
            read=_planner,
            about="How people are understood: rules (offline, deterministic) or llm (a language model, checked; the rules when it fails).",
        ),
        Setting(
            name="ROOMWISE_MODEL",
            default="",
            read=str,
            about="The language model, as LangChain names it: provider:model, as in openai:gpt-4.1-mini. For another provider than OpenAI's protocol install its LangChain package.",
        ),
        Setting(
            name="ROOMWISE_MODEL_URL",
            default="",
            read=str,
            about="Base URL of the model's server. Empty: the provider's own.",
        ),
        Setting(
            name="ROOMWISE_MODEL_KEY",
            default="",
            read=str,
            about="Key for the model's server. Empty: the provider's own variable (OPENAI_API_KEY, ...).",
        ),
        Setting(
            name="ROOMWISE_MODEL_SECONDS",
            default="8",
            read=_number(0.5, 120),
            about="How long the model may take for a message before the rules read it.",
        ),
        Setting(
            name="EMAIL_URL",
            default="",
            read=_mail_server,
            about="Mail server, smtp://user:password@host:587 (with STARTTLS) or smtps://. Empty: mail is written to ROOMWISE_DATA/mail.",
        ),
        Setting(
            name="EMAIL_FROM",
            default="roomwise@localhost",
            read=str,
            about="Sender of mail, and host of the invitations in it.",
        ),
        Setting(
            name="LOG_LEVEL",
            default="INFO",
            read=str,
            about="Lowest level that is logged.",
        ),
    )
}


def read(name: str) -> Any:
    """The value of one setting from the environment, or its default.

    Raises BadSetting with the variable's name when the text cannot be read.
    """
    setting = SETTINGS[name]
    text = os.environ.get(name, setting.default)
    try:
        return setting.read(text)
    except ValueError as error:
        raise BadSetting(f"{name}={text!r}: {error}") from error
