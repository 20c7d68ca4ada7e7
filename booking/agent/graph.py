"""The booking graph: understand, then whatever the dialogue goes on with, until it asks or ends."""

import functools
from collections.abc import Awaitable, Callable
from typing import Any

from langgraph.graph import START, StateGraph

from agentruntime.execution.context import RunContext
from booking.agent import attending, changing, nodes
from booking.agent.state import BookingState

Before = Callable[[str], Awaitable[None]]


def build_graph(*, before: Before | None = None) -> "StateGraph[Any, Any, Any, Any]":
    """The graph, not compiled.

    before: awaited with the node's name before a node looks for rooms or acts.
    """
    graph = StateGraph(BookingState, context_schema=RunContext)
    graph.add_node("understand", nodes.understand_said)
    graph.add_node("clarify", nodes.clarify)
    graph.add_node("search", _after(before, nodes.search))
    graph.add_node("ask", nodes.ask)
    graph.add_node("book", _after(before, nodes.book))
    graph.add_node("target", changing.find_target)
    graph.add_node("change", _after(before, changing.change))
    graph.add_node("check_in", _after(before, attending.check_in))
    graph.add_node("answer", nodes.answer)
    graph.add_edge(START, "understand")
    graph.add_edge("ask", "understand")
    for node in (
        "understand",
        "clarify",
        "search",
        "book",
        "target",
        "change",
        "check_in",
        "answer",
    ):
        graph.add_conditional_edges(node, nodes.route)
    return graph


def _after(before: Before | None, node: Callable[..., Awaitable[Any]]) -> Any:
    if before is None:
        return node

    @functools.wraps(node)
    async def held(state: BookingState, runtime: nodes.Context) -> Any:
        await before(node.__name__)
        return await node(state, runtime)

    return held
