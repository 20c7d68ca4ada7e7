"""The booking graph: understand, then whatever the dialogue goes on with, until it asks or ends."""

from typing import Any

from langgraph.graph import START, StateGraph

from agentruntime.execution.context import RunContext
from booking.agent import attending, changing, nodes
from booking.agent.state import BookingState


def build_graph() -> "StateGraph[Any, Any, Any, Any]":
    """The graph, not compiled."""
    graph = StateGraph(BookingState, context_schema=RunContext)
    graph.add_node("understand", nodes.understand_said)
    graph.add_node("clarify", nodes.clarify)
    graph.add_node("search", nodes.search)
    graph.add_node("ask", nodes.ask)
    graph.add_node("book", nodes.book)
    graph.add_node("target", changing.find_target)
    graph.add_node("change", changing.change)
    graph.add_node("check_in", attending.check_in)
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
