"""The one extension point: what an app tells the runtime about its agent.

Everything but `build_graph` is a pure function of the agent's state, so that edges and the audit
app can show, mask and edit it without knowing the app.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from agentruntime.exceptions import UnknownAgent

if TYPE_CHECKING:  # a command that runs no agent need not load LangGraph
    from langgraph.graph import StateGraph

State = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Step:
    """People's words for one node of the graph, by language."""

    node: str
    labels: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Said:
    """One message as an agent's `classify` and graph see it; `at` is ISO 8601 with zone."""

    id: int
    at: str
    text: str = ""
    value: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Field:
    """One value of the state that a fork may change.

    path: the channel and the key in it, as in `slots.date`. labels: its name, by language.
    choices: `(value, words)` of each value it may have, in a language, read when a form is shown.
    """

    path: str
    kind: Literal["text", "integer", "date", "time", "list"]
    labels: Mapping[str, str]
    minimum: int | None = None
    maximum: int | None = None
    choices: Callable[[str], Sequence[tuple[str, str]]] | None = None


@dataclass(frozen=True, kw_only=True)
class Edit:
    """What changed fields make of a state: new channel values (None for none), and the node the
    graph goes on from as if it had just returned them.
    """

    update: dict[str, Any] | None
    after: str


class NoCase(Exception):
    """A conversation cannot become an evaluation case; says why."""


def _cannot_tell(thread: str, labels: Mapping[int, str]) -> dict[str, Any]:
    raise NoCase("this agent has no evaluation")


def _cannot_edit(state: State, changes: Mapping[str, Any]) -> Edit:
    raise NotImplementedError("this agent's state has no editable fields")


@dataclass(frozen=True, kw_only=True)
class AgentSpec:
    """An agent.

    build_graph: the graph, not compiled; its input channel `said` takes `{"messages": [...]}`,
        its questions are `interrupt({"kind", "message", "data"})`.
    classify: what a message beside a run is (one of `policy.CLASSES`), given the thread's summary
        and the messages that the run answers or that wait already.
    is_settled: whether more words are unlikely to follow at once, given the same; a run waits a
        moment for the rest of what is not.
    describe: a state as people see it: `phase`, `slots`, `title` and whatever the portal shows.
    redact: the state with personal words masked.
    outcome: how the attempt at a task ends with this state (`success`, `cancelled`, `failed`), ""
        while it goes on; asked only when the thread waits for nothing.
    phrase: a structured answer in a person's words, for the transcript, by language.
    editable_fields: what a fork may change.
    words: people's words, by language, where operators read them: for nodes that have no step, for
        keys of the state (`phase`, `result.room`), and for codes under their key (`phase:BOOKED`,
        `status:held`); what a message was taken to be is under `class`, an effect under `effect`.
    edit: a state with some of these fields (by path) changed; None empties a field.
    simulate: what an effect (its name and arguments) would answer if it happened; it does not.
    volatile: keys whose values come from chance or the clock; two runs of one turn may differ there.
    as_of: a context in which an app's reads see the world about as it was at an instant; entered
        in a transaction of its own that is rolled back. Replays of old conversations read so.
    labels: what a message may be taken to be once the graph has read it.
    personal: keys of effects' arguments and results that hold what a person wrote.
    as_case: a thread, by its id, as an evaluation case in plain values, with everything private
        masked; given the classes, by message, that administrators say are right. Raises NoCase.
    validate: what is wrong with a state, in words for an operator; nothing for one that can go on.
    loaders: by version of the state, what makes the next version's state of it. Each is given every
        state that is read, however old, and leaves one that has what it adds as it is.
    point_of_no_return: names of nodes after whose start a run is not stopped for a correction.
    effect_nodes: nodes that act outside the state.
    greeting: the first words of a thread, by language.
    """

    name: str
    build_graph: Callable[[], "StateGraph[Any, Any, Any, Any]"]
    classify: Callable[[Said, Mapping[str, Any], Sequence[Said]], str]
    describe: Callable[[State], dict[str, Any]]
    redact: Callable[[State], dict[str, Any]]
    phrase: Callable[[Mapping[str, Any], str], str]
    is_settled: Callable[[Sequence[Said], Mapping[str, Any]], bool] = lambda said, summary: True
    outcome: Callable[[State], str] = lambda state: "success"
    steps: Sequence[Step] = ()
    editable_fields: Sequence[Field] = ()
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    edit: Callable[[State, Mapping[str, Any]], Edit] = _cannot_edit
    simulate: Callable[[str, Mapping[str, Any]], Any] = lambda name, arguments: {}
    volatile: frozenset[str] = frozenset()
    as_of: Callable[[datetime], AbstractContextManager[None]] = lambda moment: nullcontext()
    labels: Sequence[str] = ()
    personal: frozenset[str] = frozenset()
    as_case: Callable[[str, Mapping[int, str]], dict[str, Any]] = _cannot_tell
    validate: Callable[[State], Sequence[str]] = lambda state: ()
    loaders: Mapping[int, Callable[[State], State]] = field(default_factory=dict)
    point_of_no_return: frozenset[str] = frozenset()
    effect_nodes: frozenset[str] = frozenset()
    version: int = 1
    greeting: Mapping[str, str] = field(default_factory=dict)

    def step(self, node: str, language: str) -> tuple[str, int, int]:
        """`(label, position from 1, number of steps)` of a node; 0 for one without words."""
        for index, step in enumerate(self.steps):
            if step.node == node:
                return step.labels.get(language, node), index + 1, len(self.steps)
        return node, 0, len(self.steps)

    def loaded(self, state: State) -> State:
        """A stored state as this version of the agent has it."""
        for version in sorted(self.loaders):
            state = self.loaders[version](state)
        return state


_agents: dict[str, AgentSpec] = {}


def register(spec: AgentSpec) -> None:
    """Make an agent known to this process; called once, when its app is ready."""
    _agents[spec.name] = spec


def get_agent(name: str) -> AgentSpec:
    """The agent of that name. Raises UnknownAgent."""
    try:
        return _agents[name]
    except KeyError:
        raise UnknownAgent(name) from None


def all_agents() -> list[AgentSpec]:
    """Every registered agent, by name."""
    return [_agents[name] for name in sorted(_agents)]
