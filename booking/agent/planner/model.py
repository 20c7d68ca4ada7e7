"""Speaks to a language model through LangChain: structured answers, however its provider gives them.

Providers differ: what one answers by schema another does only as a call of a function or as plain
JSON. The ways are tried in turn, and the one that works is remembered.
"""

import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from langchain.chat_models import init_chat_model
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage

Way = Literal["json_schema", "function_calling", "json_mode"]
WAYS: tuple[Way, ...] = ("json_schema", "function_calling", "json_mode")

MOST_TOKENS = 200
# HTTP: the request is not understood, or there is no such thing here.
_UNSUPPORTED = frozenset({400, 404, 405, 415, 422, 501})

# Where answers go that are of no use, by what is wrong with them.
Trouble = Literal["malformed", "cut", "refused", "unavailable", "unsupported"]


class ModelTrouble(Exception):
    """The model gave nothing to use. code: what is wrong; said: its answer, if it gave one."""

    def __init__(self, code: Trouble, *, why: str = "", said: str = "", usage: Any = None) -> None:
        super().__init__(code)
        self.code, self.why, self.said = code, why, said
        self.usage: Mapping[str, int] = usage or {}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A decoded JSON object, its text, and what it cost in tokens (`input_tokens`, ...)."""

    value: Any
    said: str
    usage: Mapping[str, int]


class Model:
    """One model of one provider."""

    def __init__(self, name: str, *, url: str, key: str, seconds: float) -> None:
        """name: as `init_chat_model` takes it, `provider:model`. url, key: "" for the provider's own.

        Raises ModelTrouble when there is no such model to be had.
        """
        self.name = name
        try:
            self._chat = _chat(name, url=url, key=key, seconds=seconds)
        except Exception as error:
            raise ModelTrouble("unavailable", why=type(error).__name__) from error
        self._way = 0

    @property
    def way(self) -> Way:
        """How it is asked for structure now."""
        return WAYS[self._way]

    async def ask(self, messages: Sequence[tuple[str, str]], schema: Mapping[str, Any]) -> Answer:
        """One call. Raises ModelTrouble; `unsupported` after turning to the next way, where there
        is one, and for good with the last.
        """
        try:
            told = await _structured(self._chat, schema, self.way).ainvoke(list(messages))
        except Exception as error:  # every provider's library has its own
            trouble = _trouble(error)
            if trouble.code == "unsupported" and self._way + 1 < len(WAYS):
                self._way += 1
            raise trouble from error
        return _answer(told)


@lru_cache(maxsize=8)
def model(name: str, *, url: str, key: str, seconds: float) -> Model:
    """The process's one speaker to a model, which remembers how it wants to be asked."""
    return Model(name, url=url, key=key, seconds=seconds)


def _chat(name: str, *, url: str, key: str, seconds: float) -> BaseChatModel:
    options: dict[str, Any] = {
        "temperature": 0,
        "max_tokens": MOST_TOKENS,
        "timeout": seconds,
        "max_retries": 0,
    }
    if url:
        options["base_url"] = url
    if key:
        options["api_key"] = key
    made: BaseChatModel = init_chat_model(name, **options)
    if "default_headers" in type(made).model_fields:
        # A connection that is kept belongs to its event loop, and sandboxes have loops of their own.
        made = init_chat_model(name, default_headers={"Connection": "close"}, **options)
    return made


def _structured(chat: BaseChatModel, schema: Mapping[str, Any], way: Way) -> Any:
    more: dict[str, Any] = {}
    if "strict" in inspect.signature(chat.with_structured_output).parameters and way != "json_mode":
        more["strict"] = True
    return chat.with_structured_output(dict(schema), method=way, include_raw=True, **more)


def _answer(told: Mapping[str, Any]) -> Answer:
    """What came back, decoded. Raises ModelTrouble."""
    raw: AIMessage = told["raw"]
    usage = {k: v for k, v in (raw.usage_metadata or {}).items() if isinstance(v, int)}
    said = _said(raw)
    finish = str(raw.response_metadata.get("finish_reason") or "")
    if raw.additional_kwargs.get("refusal") or finish == "content_filter":
        raise ModelTrouble("refused", usage=usage)
    if finish == "length":
        raise ModelTrouble("cut", why="cut off", said=said, usage=usage)
    value = told["parsed"]
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = value[0] if value else None
    if not isinstance(value, Mapping):
        raise ModelTrouble("malformed", why="no JSON object", said=said, usage=usage)
    return Answer(value=value, said=said, usage=usage)


def _said(raw: AIMessage) -> str:
    if raw.tool_calls:
        return json.dumps(raw.tool_calls[0]["args"], ensure_ascii=False)
    return raw.content if isinstance(raw.content, str) else ""


def _charged(error: Exception) -> dict[str, int]:
    """What an answer that was cut off cost all the same, where its provider says so."""
    usage = getattr(getattr(error, "completion", None), "usage", None)
    told = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
    return {name: int(getattr(usage, theirs, 0) or 0) for name, theirs in told.items()}


def _trouble(error: Exception) -> ModelTrouble:
    """What an exception of a provider's library says, by its kind and not by its words."""
    name, status = type(error).__name__, getattr(error, "status_code", None)
    if "Refusal" in name or "ContentFilter" in name:
        return ModelTrouble("refused")
    if "LengthFinish" in name:
        return ModelTrouble("cut", why="cut off", usage=_charged(error))
    if isinstance(error, NotImplementedError | TypeError) or status in _UNSUPPORTED:
        return ModelTrouble("unsupported", why=name)
    if isinstance(error, OutputParserException | ValueError) and status is None:
        return ModelTrouble("malformed", why="no JSON object")
    return ModelTrouble("unavailable", why=f"{name} {status or ''}".strip())
