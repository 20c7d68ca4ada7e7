"""Whole conversations, through the runtime and a real database, judged by what came of them."""

import json
from pathlib import Path

import pytest

from agentruntime.persistence.pools import in_db_thread
from booking.tests.playing import judge, load, load_world, play, slowed

OWN = Path(__file__).parent / "cases"
SHARED = Path(__file__).resolve().parents[3] / "shared" / "cases"


def _cases(folder: Path):
    if not (folder / "conversations.jsonl").exists():
        return []
    return load((folder / "conversations.jsonl").read_text(encoding="utf-8"))


async def _play(case, folder):
    fixture = json.loads((folder / "fixture.json").read_text(encoding="utf-8"))
    ids = await in_db_thread(load_world, fixture)
    played = await play(case)
    return judge(case, played, ids), played


def _named(folder: Path):
    return [pytest.param(case, id=case["id"]) for case in _cases(folder)]


@pytest.mark.parametrize("case", _named(OWN))
async def test_a_conversation_ends_as_expected(case, transactional_db, monkeypatch):
    await _judge(case, OWN, monkeypatch)


@pytest.mark.parametrize("case", _named(SHARED))
async def test_a_shared_conversation_ends_as_expected(case, transactional_db, monkeypatch):
    await _judge(case, SHARED, monkeypatch)


async def _judge(case, folder, monkeypatch):
    if any(turn.get("while_running") for turn in case["turns"]):
        slowed(monkeypatch)
    wrong, played = await _play(case, folder)

    assert wrong == [], "\n".join(played.words)
