"""Doubles for apps that build on the runtime, and for its own tests and bench.

`probe_spec` is a small agent with a real graph: five nodes, two questions, one effect, about
3 KB of state, no language understanding.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from agentruntime.agents import AgentSpec, Edit, Field, Said, Step
from agentruntime.execution.context import RunContext
from agentruntime.operations.host import HostSettings, RuntimeHost, set_host

ROOMS = [
    {
        "room": f"P{number:02}",
        "name": f"Probe room {number}",
        "seats": 4 + number,
        "features": ["projector", "whiteboard", "video_conference"],
        "reason": "free at that time and large enough, with the features that were asked for",
    }
    for number in range(12)
]


class ProbeState(TypedDict, total=False):
    """said: the turn's input; draft: what is known; result: what was done."""

    said: dict[str, Any]
    draft: dict[str, Any]
    result: dict[str, Any]


QUICK = HostSettings(beat_seconds=0.2, watch_seconds=0.1, debounce_seconds=0.05)

Hook = Callable[[str], Any]


async def _no_hook(node: str) -> None:
    return None


def probe_graph(
    hook: Hook = _no_hook, *, act: Callable[[RunContext, dict[str, Any]], Any] | None = None
) -> "StateGraph[Any, Any, Any, Any]":
    """Understand -> search -> choose (asks) -> confirm (asks) -> book.

    hook: awaited at the start of every node with its name. act: awaited in `book` with the
    context and the draft; returns plain JSON.
    """

    async def understand(state: ProbeState) -> ProbeState:
        await hook("understand")
        texts = [item.get("text", "") for item in state["said"]["messages"]]
        return {"draft": {"wish": " ".join(texts), "phase": "SEARCHING"}}

    async def search(state: ProbeState) -> ProbeState:
        await hook("search")
        return {"draft": {**state["draft"], "candidates": ROOMS, "phase": "CHOOSING"}}

    async def choose(state: ProbeState) -> ProbeState:
        answer = interrupt(
            {"kind": "select_room", "message": "Which room?", "data": {"candidates": ROOMS[:3]}}
        )
        await hook("choose")
        room = answer.get("room") or answer.get("text", "")
        return {"draft": {**state["draft"], "room": room, "phase": "CONFIRMING"}}

    async def confirm(state: ProbeState) -> ProbeState:
        answer = interrupt(
            {"kind": "confirm", "message": "Book it?", "data": {"summary": state["draft"]["room"]}}
        )
        await hook("confirm")
        approved = bool(answer.get("approved")) or answer.get("text", "").lower() == "yes"
        return {"draft": {**state["draft"], "approved": approved}}

    async def book(state: ProbeState, runtime: Runtime[RunContext]) -> ProbeState:
        await hook("book")
        draft = {**state["draft"], "phase": "BOOKED", "candidates": []}
        done = {"room": draft["room"], "approved": draft["approved"]}
        if act is not None:
            done = await act(runtime.context, draft)
        if runtime.context is not None:
            runtime.context.say(f"Booked {draft['room']}.", kind="complete", data=done)
        return {"draft": draft, "result": done}

    graph = StateGraph(ProbeState, context_schema=RunContext)
    for node in (understand, search, choose, confirm, book):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "understand")
    graph.add_edge("understand", "search")
    graph.add_edge("search", "choose")
    graph.add_edge("choose", "confirm")
    graph.add_edge("confirm", "book")
    graph.add_edge("book", END)
    return graph


_WORDS = {"no": "correction", "stop": "cancel", "and": "supplement"}


def _classify(said: Said, summary: Mapping[str, Any], before: Sequence[Said]) -> str:
    """By the first word: `no ...` corrects, `stop` cancels, `and ...` adds."""
    return _WORDS.get(said.text.partition(" ")[0], "new_intent")


def _is_settled(said: Sequence[Said], summary: Mapping[str, Any]) -> bool:
    """Words that end in dots are followed by more."""
    return not said[-1].text.endswith("...")


def _describe(state: Mapping[str, Any]) -> dict[str, Any]:
    draft = state.get("draft") or {}
    return {
        "phase": draft.get("phase", "IDLE"),
        "slots": {"room": draft.get("room"), **{k: draft[k] for k in ("seats",) if k in draft}},
        "title": draft.get("wish", "")[:40],
    }


def _edit(state: Mapping[str, Any], changes: Mapping[str, Any]) -> Edit:
    """Another wish is looked for anew."""
    draft = {"wish": "", **(state.get("draft") or {}), "candidates": [], "phase": "SEARCHING"}
    for path, value in changes.items():
        draft[path.partition(".")[2]] = value
    return Edit(update={"draft": draft}, after="understand")


PROBE_FIELDS = (
    Field(path="draft.wish", kind="text", labels={"en": "Wish", "zh": "愿望"}),
    Field(path="draft.seats", kind="integer", labels={"en": "Seats", "zh": "座位"}, minimum=1),
)


def probe_spec(
    name: str = "probe",
    *,
    hook: Hook = _no_hook,
    act: Callable[[RunContext, dict[str, Any]], Any] | None = None,
) -> AgentSpec:
    """The probe as an agent; register it under `name`."""
    labels = {"understand": "Reading", "search": "Searching", "book": "Booking"}
    return AgentSpec(
        name=name,
        build_graph=lambda: probe_graph(hook, act=act),
        classify=_classify,
        is_settled=_is_settled,
        describe=_describe,
        redact=lambda state: {"draft": sorted(state.get("draft") or {})},
        phrase=lambda value, language: str(value.get("room") or value.get("approved") or ""),
        steps=[Step(node=node, labels={"en": text, "zh": text}) for node, text in labels.items()],
        editable_fields=PROBE_FIELDS,
        edit=_edit,
        simulate=lambda name, arguments: {**arguments, "simulated": True},
        volatile=frozenset({"intent"}),
        validate=lambda state: [] if "draft" in state else ["there is no draft"],
        point_of_no_return=frozenset({"book"}),
        effect_nodes=frozenset({"book"}),
    )


@asynccontextmanager
async def running_host(settings: HostSettings | None = None) -> AsyncIterator[RuntimeHost]:
    """A started host as this process's own, stopped at the end. Register agents before."""
    host = RuntimeHost(settings or QUICK)
    await host.start()
    set_host(host)
    try:
        yield host
    finally:
        set_host(None)
        await host.stop()


async def until(condition: Callable[[], Any], *, seconds: float = 10.0) -> Any:
    """Wait until `condition` (awaited if it returns an awaitable) holds; its value.

    Raises TimeoutError.
    """
    async with asyncio.timeout(seconds):
        while True:
            value = condition()
            if hasattr(value, "__await__"):
                value = await value
            if value:
                return value
            await asyncio.sleep(0.01)
