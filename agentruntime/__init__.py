"""Runs any LangGraph graph for many people at once, durably. Knows no booking, no admin."""
