"""The documents say what the code does: protocol, decision records, links."""

import ast
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

import pytest

from agentruntime import exceptions
from agentruntime.edges import consumers
from agentruntime.edges.bindings import simple
from agentruntime.edges.decoder import decode
from agentruntime.edges.follower import Follower
from agentruntime.events import (
    MessageStored,
    NoticeGiven,
    QueueChanged,
    RunFailed,
    StepStarted,
    ThreadChanged,
)
from agentruntime.persistence.records import MessageView, ThreadView
from booking.agent.spec import SPEC
from config.env import ROOT

PROTOCOL = (ROOT / "docs/protocol.md").read_text("utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
STAMPS = {"session_id", "run", "seq"}
AT = datetime(2026, 12, 1, 9, tzinfo=UTC)


def table(text):
    """The cells of the first table in a text, by the word in each row's first cell."""
    rows = text.partition("\n|---")[2].partition("\n\n")[0].splitlines()[1:]
    cells = [[cell.strip(" `") for cell in row.strip("|").split("|")] for row in rows]
    return {first: rest for first, *rest in cells}


def section(title, *, level=2):
    marks = "#" * level
    _, _, rest = PROTOCOL.partition(f"\n{marks} {title}\n")
    return re.split(rf"\n{marks} ", rest)[0]


def examples(title):
    return [
        json.loads(text) for text in re.findall(r"```json\n(.*?)```", section(title), re.DOTALL)
    ]


def faults(kind=exceptions.RuntimeFault):
    return [kind, *(fault for each in kind.__subclasses__() for fault in faults(each))]


def literals(*paths):
    """Every constant of some modules' code."""
    for path in paths:
        for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
            if isinstance(node, ast.Constant):
                yield node.value


def raised_codes():
    """The values of `code=` in calls, wherever the runtime raises a fault."""
    for path in (ROOT / "agentruntime").rglob("*.py"):
        if "tests" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                for word in node.keywords:
                    if word.arg == "code" and isinstance(word.value, ast.Constant):
                        yield word.value.value


def sent_types():
    """The frame types that the binding writes: the values of "type" in its dictionaries."""
    for node in ast.walk(ast.parse(Path(simple.__file__).read_text("utf-8"))):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "type":
                    yield value.value


def test_every_code_is_documented_and_no_other():
    raised = {code for code in raised_codes() if isinstance(code, str)} - set(simple.NOTICES)
    assert (
        set(table(section("Codes")))
        == {fault.code for fault in faults()} | set(simple.ERRORS) | raised
    )


def test_the_page_says_which_errors_may_be_tried_again():
    words = {(True,): "yes", (False,): "no", (False, True): "as the frame says"}
    for code, (_, retry) in table(section("Codes")).items():
        fitting = {fault.retry for fault in faults() if fault.code == code}
        assert retry == words[tuple(sorted(fitting or {exceptions.BadFrame.retry}))], code


def test_every_notice_is_documented_and_no_other():
    assert set(table(section("notice", level=3))) == set(simple.NOTICES)


def test_every_close_code_is_documented_and_no_other():
    used = literals("agentruntime/edges/consumers.py", "agentruntime/operations/server.py")
    sent = {str(each) for each in used if type(each) is int and 4000 <= each < 5000}
    assert set(table(section("Codes").partition("| close |")[2])) == sent


def test_every_frame_is_documented_with_an_example_and_no_other():
    taken, sent = set(table(section("From the client"))), set(table(section("From the server")))
    assert taken == set(simple._READERS)
    assert sent == set(sent_types())
    assert {each["type"] for each in examples("From the client")} == taken
    assert {each["type"] for each in examples("From the server")} == sent
    for name in sent:
        assert f"\n### {name}\n" in PROTOCOL


@pytest.mark.parametrize("frame", examples("From the client"), ids=lambda each: each["type"])
def test_the_clients_examples_are_read(frame):
    simple.read(decode(json.dumps(frame)))


def stored(role, kind, interrupt_id="", **data):
    return MessageView(
        id=1,
        role=role,
        kind=kind,
        text="words",
        data=data,
        interrupt_id=interrupt_id,
        client_id="m1",
        created_at=AT,
    )


def frames_sent():
    """One frame of each type, made as the server makes them."""
    question = stored("assistant", "clarify", "q1", missing=["capacity"])
    thread = ThreadView(
        id="booking-1-x",
        agent="booking",
        owner_id=1,
        language="en",
        status="waiting",
        run_version=1,
        lease_owner=None,
        turn=1,
        head="",
        interrupt={"id": "q1", "kind": "clarify"},
        summary=SPEC.describe({}),
        title="",
    )
    follower = Follower(spec=SPEC, language="en", thread=thread)
    yield from follower.picture(thread, [stored("user", "text"), question], None)
    run = {"thread": thread.id, "version": 2, "turn": 1}
    said = {**vars(stored("user", "answer", "q1", room="A301")), "created_at": AT.isoformat()}
    done = {**said, "role": "assistant", "kind": "complete", "interrupt_id": ""}
    for event in (
        MessageStored(**run, n=0, message=said),
        StepStarted(**run, n=1, step="understand"),
        NoticeGiven(**run, n=2, code="recovering"),
        QueueChanged(**run, n=3, waiting=["m5", "m6"]),
        RunFailed(**run, n=4, code="internal", retry=True),
        ThreadChanged(**{**run, "turn": 2}, n=5, status="idle", messages=[done]),
    ):
        yield from follower.frames(event)
    yield simple.accepted("m1", "start")
    yield simple.withdrawn("m5")
    yield simple.pong(AT.isoformat())


def keys_of(frame):
    """A frame's keys, with those of the transcript's lines."""
    lines = {key for line in frame.get("transcript", ()) for key in line}
    return frame.keys() - STAMPS, lines


def test_the_servers_examples_have_the_keys_that_are_sent():
    sent = {frame["type"]: keys_of(frame) for frame in frames_sent()}
    assert sent.keys() == set(sent_types())
    for frame in examples("From the server"):
        assert keys_of(frame) == sent[frame["type"]], frame["type"]
        assert "session_id" in frame


def test_the_slots_of_the_examples_are_those_the_agent_shows():
    shown = SPEC.describe({})["slots"].keys()
    for frame in examples("From the server"):
        assert set(frame.get("slots", shown)) == set(shown), frame["type"]


def test_the_limits_of_the_page_are_the_codes():
    assert f"1 to {simple.MAX_TEXT:,} characters" in PROTOCOL
    assert f"up to {simple.MAX_ID} characters" in PROTOCOL
    assert f"within {consumers.INIT_SECONDS:.0f} seconds" in PROTOCOL


def slug(heading):
    words = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return words.replace(" ", "-")


def anchors(page):
    return {slug(each) for each in re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_link_leads_nowhere(page):
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = unquote(link).partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def texts_of_the_project():
    """Every module and script, but this one, and every page."""
    for folder in ("agentruntime", "audit", "booking", "config", "script", "tests"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".sh", ""} and path.is_file() and path != Path(__file__):
                yield path, path.read_text("utf-8")
    for page in PAGES:
        yield page, page.read_text("utf-8")


def test_every_document_the_code_names_is_there():
    decisions = {path.name[:4] for path in (ROOT / "docs/adr").glob("[0-9]*.md")}
    for path, text in texts_of_the_project():
        assert set(re.findall(r"docs/adr/(\d{4})", text)) <= decisions, path
        for name in re.findall(r"\bdocs/[a-z]+\.md\b", text):
            assert (ROOT / name).is_file(), (path, name)


def test_every_test_a_guarantee_names_is_there():
    named = re.findall(r"`(test_\w+)`", (ROOT / "docs/guarantees.md").read_text("utf-8"))
    tests = {
        node.name
        for path in (*ROOT.glob("*/tests/**/test_*.py"), *ROOT.glob("tests/**/test_*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert len(named) > 50
    assert sorted(set(named) - tests) == []


def test_decisions_are_numbered_without_gaps_and_shaped_alike():
    pages = sorted((ROOT / "docs/adr").glob("[0-9]*.md"))
    assert [int(page.name[:4]) for page in pages] == list(range(1, len(pages) + 1))
    for page in pages:
        headings = re.findall(r"^#+ .+$", page.read_text("utf-8"), re.MULTILINE)
        assert re.fullmatch(rf"# {page.name[:4]} .+", headings[0]), page.name
        assert headings[1:4] == ["## Context", "## Decision", "## Consequences"], page.name
