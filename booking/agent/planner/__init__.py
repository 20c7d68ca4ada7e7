"""Planners: they read a message and propose what to do; `dialogue.advance` disposes.

`proposals` is what a planner is given and answers. `rules` is the one that always works. `llm` asks
a language model and believes none of what it says unproved: `schema` is what a model may answer,
`prompt` what it is told, `evidence` what of its answer counts, `model` speaks to it. `choice` reads
the settings. Only `llm` and `model` load LangChain, and only `choice` knows when.
"""

from booking.agent.planner.proposals import Action, Heard, Planned, Planner, Proposal
from booking.agent.planner.rules import LABELS, propose, propose_answer

__all__ = [
    "LABELS",
    "Action",
    "Heard",
    "Planned",
    "Planner",
    "Proposal",
    "propose",
    "propose_answer",
]
