"""Evidence: complete, sealed, checked without a database; labels; threads a deploy would lose."""

import asyncio
import hashlib
import io
import json
import zipfile
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from agentruntime import agents
from agentruntime.models import Effect, Message, Thread
from agentruntime.testing import running_host
from agentruntime.timetravel import history
from audit import export
from audit.models import Correction, Operation
from audit.tests.conftest import say


@pytest.fixture
def evidence(desk, booked):
    address = reverse("admin:audit_export", args=[booked.pk])
    return desk.post(address, {"reason": "court"}).content


def test_an_export_holds_all_there_is(evidence, booked, boss):
    with zipfile.ZipFile(io.BytesIO(evidence)) as archive:
        names = archive.namelist()
        read = {name: json.loads(archive.read(name)) for name in names}

    states = [name for name in names if name.startswith("checkpoints/")]
    assert len(states) == 7
    assert read[f"checkpoints/{booked.head}.json"]["state"]["result"]["room"] == "P01"
    assert read["messages.json"][0]["fields"]["text"] == "a room for six"
    assert read["effects.json"][0]["pk"] == Effect.objects.get().pk
    assert read["manifest.json"]["versions"]["langgraph"]
    [operation] = Operation.objects.all()
    assert (operation.kind, operation.by) == ("export", boss)
    assert operation.details["seal"] == read["manifest.json"]["seal"]


def test_an_export_is_verified_without_a_database(evidence, tmp_path, django_db_blocker):
    path = tmp_path / "e.zip"
    path.write_bytes(evidence)
    out = StringIO()

    with django_db_blocker.block():
        call_command("verify_export", path, stdout=out)

    assert "as exported" in out.getvalue()


def rewritten(evidence, change):
    """The same zip with other contents: `change` takes and returns `{name: bytes}`."""
    with zipfile.ZipFile(io.BytesIO(evidence)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in change(files).items():
            archive.writestr(name, data)
    return out


def without_last(files):
    return dict(list(files.items())[1:])


def with_another_word(files):
    return {**files, "messages.json": files["messages.json"].replace(b"six", b"ten")}


def with_one_more(files):
    return {**files, "more.json": b"{}"}


def with_a_forged_hash(files):
    manifest = json.loads(files["manifest.json"])
    changed = with_another_word(files)
    for entry in manifest["files"]:
        if entry["name"] == "messages.json":
            entry["sha256"] = hashlib.sha256(changed["messages.json"]).hexdigest()
    return {**changed, "manifest.json": json.dumps(manifest).encode()}


def with_files_in_another_order(files):
    manifest = json.loads(files["manifest.json"])
    manifest["files"].reverse()
    return {**files, "manifest.json": json.dumps(manifest).encode()}


@pytest.mark.parametrize(
    "change",
    [
        without_last,
        with_another_word,
        with_one_more,
        with_a_forged_hash,
        with_files_in_another_order,
    ],
)
def test_whatever_is_changed_is_noticed(evidence, change):
    with pytest.raises(export.Tampered):
        export.verify(rewritten(evidence, change))


@pytest.mark.parametrize("rubbish", [b"", b"no zip", b"PK\x05\x06" + b"\0" * 18])
def test_rubbish_is_no_export(rubbish, tmp_path):
    path = tmp_path / "x.zip"
    path.write_bytes(rubbish)

    with pytest.raises(CommandError):
        call_command("verify_export", path)


def test_the_command_writes_once_and_needs_a_reason(booked, tmp_path):
    path = tmp_path / "e.zip"
    with pytest.raises(CommandError, match="why"):
        call_command("export_thread", booked.pk, to=path, reason=" ")
    assert not path.exists()
    call_command("export_thread", booked.pk, to=path, reason="court", stdout=StringIO())
    with path.open("rb") as file:
        assert export.verify(file).thread == booked.pk

    with pytest.raises(CommandError, match="already"):
        call_command("export_thread", booked.pk, to=path, reason="court")
    with pytest.raises(CommandError, match="no thread"):
        call_command("export_thread", "nothing", to=tmp_path / "n.zip", reason="court")


def test_a_correction_is_a_case_for_the_evaluation(desk, booked, boss):
    message = Message.objects.filter(thread=booked, role="user").earliest("pk")
    page = desk.get(reverse("admin:audit_decisions", args=[booked.pk])).content.decode()
    assert "a room for six" in page
    assert "text_on_idle_thread" in page
    address = reverse("admin:audit_correct", args=[booked.pk, message.pk])

    assert (
        b"no such label" in desk.post(address, {"label": "x", "reason": "r"}, follow=True).content
    )
    assert b"Please say why" in desk.post(address, {"label": "cancel"}, follow=True).content
    desk.post(address, {"label": "supplement", "reason": "first try"})
    desk.post(address, {"label": "cancel", "reason": "they meant to stop"})

    [correction] = Correction.objects.all()
    assert (correction.label, correction.by) == ("cancel", boss)
    assert Operation.objects.filter(kind="correct").count() == 2
    out = StringIO()
    call_command("export_labels", agent="probe", stdout=out)
    case = json.loads(out.getvalue())
    assert (case["turns"], case["label"]) == ([{"text": "a room for six"}], "cancel")


def test_a_message_of_another_thread_or_of_the_agent_is_not_corrected(desk, booked, converse):
    other = converse(1)
    theirs = Message.objects.filter(thread=other, role="user").first()
    agents_own = Message.objects.filter(thread=booked, role="assistant").first()

    for message in (theirs, agents_own):
        address = reverse("admin:audit_correct", args=[booked.pk, message.pk])
        assert desk.post(address, {"label": "cancel", "reason": "r"}).status_code == 404


def check_threads():
    out = StringIO()
    call_command("check_threads", stdout=out)
    return out.getvalue()


def test_threads_that_go_on_are_no_trouble(converse):
    converse(1)
    converse(3)

    assert check_threads() == "2 threads would go on.\n"


@pytest.fixture
def deploy(probe):
    """`deploy(version=2)`: another version of the agent takes the probe's place."""

    def put(**changes):
        agents.register(replace(agents.get_agent("probe"), **changes))
        history.forget_graphs()

    return put


def renamed(build_graph):
    """The graph with the node that asks which room under another name."""

    def build():
        graph = build_graph()
        graph.nodes["pick"] = graph.nodes.pop("choose")
        graph.edges = {
            tuple("pick" if end == "choose" else end for end in edge) for edge in graph.edges
        }
        return graph

    return build


def test_a_renamed_node_is_noticed_before_its_question_vanishes(converse, deploy, probe):
    waiting = converse(1)
    deploy(build_graph=renamed(probe.build_graph))
    out = StringIO()

    with pytest.raises(CommandError, match="1 troubles"):
        call_command("check_threads", stdout=out)

    assert out.getvalue().startswith(f"{waiting.pk}: its open question would vanish")


def test_a_state_that_does_not_validate_is_noticed_and_a_loader_mends_it(converse, deploy):
    thread = converse(1)

    def validate(state):
        return [] if "wish_en" in state["draft"] else ["draft.wish_en is missing"]

    deploy(version=2, validate=validate)
    with pytest.raises(CommandError):
        check_threads()
    deploy(loaders={1: with_wish_en})

    assert "would go on" in check_threads()
    assert history.opened(thread, thread.head).values["draft"]["wish_en"] == "a room for six"


def with_wish_en(state):
    draft = state.get("draft")
    return {**state, "draft": {"wish_en": draft["wish"], **draft}} if draft else state


def test_a_run_of_the_new_code_goes_on_from_the_loaded_state(converse, deploy):
    thread = converse(1)
    deploy(version=2, loaders={1: with_wish_en})

    async def answer():
        async with running_host() as host:
            await say(host, thread.pk, "answer", {"room": "P01"}, turn=2)

    asyncio.run(answer())

    thread.refresh_from_db()
    deploy(loaders={})
    assert history.opened(thread, thread.head).values["draft"]["wish_en"] == "a room for six"


def test_an_agent_that_is_gone_and_a_head_that_is_gone_are_noticed(converse, probe):
    thread = converse(1)
    Thread.objects.filter(pk=thread.pk).update(head="0" * 8 + "-0000-0000-0000-" + "0" * 12)
    with pytest.raises(CommandError, match="1 troubles"):
        check_threads()
    agents._agents.pop("probe")
    history.forget_graphs()

    with pytest.raises(CommandError, match="1 troubles"):
        check_threads()
