"""simple.v1: events and threads to frames, frames to requests. Pure (see docs/protocol.md)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentruntime.agents import AgentSpec
from agentruntime.exceptions import BadFrame
from agentruntime.orchestration.policy import STRATEGIES
from agentruntime.persistence.records import MessageView, ThreadView

MAX_TEXT = 2000
MAX_ID = 64

Frame = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Init:
    session_id: str


@dataclass(frozen=True, kw_only=True)
class Say:
    """Words, or a structured answer when `value` is set."""

    id: str | None
    text: str
    interrupt_id: str
    value: Mapping[str, Any] | None = None
    strategy: str = "auto"


@dataclass(frozen=True, kw_only=True)
class Withdraw:
    """Take back a message that still waits, by its client id."""

    id: str


@dataclass(frozen=True, kw_only=True)
class Stop:
    """Stop the active run."""


@dataclass(frozen=True, kw_only=True)
class Sync:
    """Send the whole picture again."""


@dataclass(frozen=True, kw_only=True)
class Ping:
    """Answer at once."""


Request = Init | Say | Withdraw | Stop | Sync | Ping

NOTICES: dict[str, dict[str, str]] = {
    "adjusting": {"en": "Taking that in as well.", "zh": "好的，一并考虑。"},
    "superseded": {"en": "Starting again with your change.", "zh": "按您的更改重新处理。"},
    "queued": {"en": "Noted. I will get to it next.", "zh": "收到，处理完当前的就来。"},
    "recovering": {
        "en": "There was a hiccup. Picking up where we were.",
        "zh": "刚才中断了一下，正在从原处继续。",
    },
    "stopped": {
        "en": "Stopped, as you asked. Nothing was booked.",
        "zh": "已按您的要求停止，没有产生任何预订。",
    },
    "degraded": {
        "en": "The connection is slow at the moment. Nothing is lost.",
        "zh": "连接暂时较慢，内容不会丢失。",
    },
}

# By how many wait: none, one, more.
QUEUE: dict[str, tuple[str, str, str]] = {
    "en": ("", "1 message waiting", "{count} messages waiting"),
    "zh": ("", "1 条消息等待处理", "{count} 条消息等待处理"),
}

ERRORS: dict[str, dict[str, str]] = {
    "bad_json": {"en": "That message could not be read.", "zh": "无法识别这条消息。"},
    "unknown_type": {"en": "That kind of message is not known.", "zh": "不支持这种消息。"},
    "too_large": {"en": "That message is too long.", "zh": "消息太长了。"},
    "too_fast": {
        "en": "That was a lot at once. Please wait a moment.",
        "zh": "发送得太快了，请稍等片刻。",
    },
    "not_initialised": {"en": "The conversation is not open yet.", "zh": "对话尚未建立。"},
    "stale_answer": {
        "en": "That question is no longer open.",
        "zh": "这个问题已经不再等待回答。",
    },
    "not_found": {"en": "There is no such conversation.", "zh": "没有找到这个对话。"},
    "archived": {
        "en": "This conversation is closed. Please start a new one.",
        "zh": "这个对话已经关闭，请开始新的对话。",
    },
    "already_read": {
        "en": "That has been read already and cannot be taken back.",
        "zh": "这条消息已经在处理，无法撤回。",
    },
    "quarantined": {
        "en": "I have tried this three times and failed each time, so I have set it aside and the"
        " administrators can see it. Nothing was booked. You can go on with something else, or put"
        " it differently.",
        "zh": "这条消息我尝试了三次都没有成功，已先搁置，管理员可以看到。没有产生任何预订。"
        "您可以换个说法，或继续其他预订。",
    },
    "busy": {"en": "Too much is waiting. Please wait a moment.", "zh": "等待处理的太多，请稍候。"},
    "conflict": {"en": "Something newer took its place.", "zh": "已被更新的内容取代。"},
    "upstream": {
        "en": "The service cannot be reached right now. Please try again.",
        "zh": "服务暂时无法连接，请重试。",
    },
    "timeout": {
        "en": "That took too long and was stopped. Please try again.",
        "zh": "处理超时已停止，请重试。",
    },
    "internal": {
        "en": "Something went wrong on our side. Nothing was booked. Please try again.",
        "zh": "系统出了点问题，没有产生任何预订，请重试。",
    },
}


def read(frame: Mapping[str, Any]) -> Request:
    """A client's frame as a request. Raises BadFrame (`unknown_type`, `bad_json`, `too_large`)."""
    kind = frame.get("type")
    if not isinstance(kind, str) or kind not in _READERS:
        raise BadFrame("no such type", code="unknown_type")
    return _READERS[kind](frame)


def _text(frame: Mapping[str, Any], key: str, *, limit: int, default: str | None = None) -> str:
    value = frame.get(key, default)
    if not isinstance(value, str):
        raise BadFrame(f"{key} is text")
    if len(value) > limit:
        raise BadFrame(f"{key} is too long", code="too_large")
    return value


def _client_id(frame: Mapping[str, Any]) -> str | None:
    return _text(frame, "id", limit=MAX_ID, default="") or None


def _read_init(frame: Mapping[str, Any]) -> Init:
    return Init(session_id=_text(frame, "session_id", limit=120, default=""))


def _read_message(frame: Mapping[str, Any]) -> Say:
    text = _text(frame, "content", limit=MAX_TEXT).strip()
    if not text:
        raise BadFrame("content is empty")
    return Say(
        id=_client_id(frame),
        text=text,
        interrupt_id=_text(frame, "interrupt_id", limit=MAX_ID, default=""),
        strategy=_strategy(frame),
    )


def _strategy(frame: Mapping[str, Any]) -> str:
    strategy = _text(frame, "strategy", limit=20, default="auto")
    if strategy not in STRATEGIES:
        raise BadFrame(f"strategy is one of {', '.join(STRATEGIES)}")
    return strategy


def _read_answer(frame: Mapping[str, Any]) -> Say:
    value = frame.get("value")
    if not isinstance(value, dict) or not value:
        raise BadFrame("value is an object")
    interrupt_id = _text(frame, "interrupt_id", limit=MAX_ID)
    if not interrupt_id:
        raise BadFrame("interrupt_id is empty")
    return Say(id=_client_id(frame), text="", interrupt_id=interrupt_id, value=value)


def _read_withdraw(frame: Mapping[str, Any]) -> Withdraw:
    client_id = _text(frame, "id", limit=MAX_ID)
    if not client_id:
        raise BadFrame("id is empty")
    return Withdraw(id=client_id)


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Request]] = {
    "init": _read_init,
    "message": _read_message,
    "answer": _read_answer,
    "withdraw": _read_withdraw,
    "stop": lambda _: Stop(),
    "sync": lambda _: Sync(),
    "ping": lambda _: Ping(),
}


def welcome(
    thread: ThreadView,
    messages: Sequence[MessageView],
    waiting: Sequence[str] = (),
    *,
    spec: AgentSpec,
    language: str,
) -> Frame:
    """Everything a page needs to draw itself, but the open question."""
    summary = thread.summary or spec.describe({})
    return {
        "type": "welcome",
        "message": spec.greeting.get(language, ""),
        "phase": summary.get("phase", ""),
        "slots": summary.get("slots", {}),
        "assumed": summary.get("assumed", []),
        "status": thread.status,
        "language": language,
        "waiting": list(waiting),
        "transcript": [_line(message, language) for message in messages],
    }


def _line(message: MessageView, language: str) -> Frame:
    return {
        "id": message.client_id or str(message.id),
        "role": message.role,
        "kind": "text" if message.kind == "answer" else message.kind,
        "text": _words(message.kind, message.text, message.data, language),
        "data": _data(message.role, message.kind, message.data),
        "interrupt_id": message.interrupt_id,
        "at": message.created_at.isoformat(),
    }


def _words(kind: str, text: str, data: Mapping[str, Any], language: str) -> str:
    """A message's words; the runtime's own are kept as a code and put in words here."""
    if kind == "error":
        return error_text(str(data.get("code")), language)
    if kind == "notice" and not text:
        return str(notice(str(data.get("code")), language=language)["message"])
    return text


def _data(role: str, kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """A card's data; of a person's only the answer they gave to one."""
    if role == "user":
        return {"value": dict(data)} if kind == "answer" else {}
    return dict(data)


def accepted(client_id: str | None, action: str) -> Frame:
    """The message is stored."""
    return {"type": "accepted", "id": client_id or "", "classification": action}


def said(message: Mapping[str, Any]) -> Frame:
    """Somebody (another tab of the same person) said something."""
    return {
        "type": "said",
        "id": str(message.get("client_id") or message["id"]),
        "text": message["text"],
        "data": _data("user", message["kind"], message["data"]),
        "at": message["created_at"],
    }


def progress(node: str, *, spec: AgentSpec, language: str) -> Frame:
    """A step of the run began."""
    label, index, total = spec.step(node, language)
    return {"type": "progress", "step": node, "label": label, "index": index, "total": total}


def notice(code: str, *, language: str) -> Frame:
    """Something about the run."""
    texts = NOTICES.get(code, {})
    return {"type": "notice", "code": code, "message": texts.get(language, code)}


def queue(waiting: Sequence[str], *, language: str) -> Frame:
    """What waits behind the run in progress now."""
    count = len(waiting)
    texts = QUEUE.get(language, QUEUE["en"])
    words = texts[min(count, len(texts) - 1)].format(count=count)
    return {"type": "queue", "waiting": list(waiting), "message": words}


def withdrawn(client_id: str) -> Frame:
    """A message that waited was taken back: it is not part of the conversation."""
    return {"type": "withdrawn", "id": client_id}


def interrupt(question: Mapping[str, Any], summary: Mapping[str, Any]) -> Frame:
    """The agent waits for an answer to the question of this message."""
    return {
        "type": "interrupt",
        "interrupt_id": question["interrupt_id"],
        "kind": question["kind"],
        "message": question["text"],
        "phase": summary.get("phase", ""),
        "slots": summary.get("slots", {}),
        "assumed": summary.get("assumed", []),
        "data": question["data"],
    }


def complete(message: Mapping[str, Any], summary: Mapping[str, Any], *, language: str) -> Frame:
    """A request is done, or a question of the person's answered (`data` is empty then)."""
    is_notice = message["kind"] == "notice"
    return {
        "type": "complete",
        "id": str(message["id"]),
        "message": _words(message["kind"], message["text"], message["data"], language),
        "phase": summary.get("phase", ""),
        "slots": summary.get("slots", {}),
        "assumed": summary.get("assumed", []),
        "data": {} if is_notice else message["data"],
        "at": message["created_at"],
    }


def error(code: str, *, language: str, retry: bool, client_id: str | None = None) -> Frame:
    """Something could not be done; `id` is that of the message it is about, if it is about one."""
    return {
        "type": "error",
        "id": client_id or "",
        "code": code,
        "message": error_text(code, language),
        "retry": retry,
    }


def error_text(code: str, language: str) -> str:
    """People's words for an error code."""
    texts = ERRORS.get(code, ERRORS["internal"])
    return texts.get(language, texts["en"])


def pong(timestamp: str) -> Frame:
    """Answer to a ping."""
    return {"type": "pong", "timestamp": timestamp}
