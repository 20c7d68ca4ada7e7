"""Composition only: environment, settings, logging, routes and the embedded database."""

import os

# Read by LangGraph when it is imported: checkpoints may name no callable (docs/adr/0003).
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
os.environ.setdefault("LANGSMITH_TRACING", "false")
