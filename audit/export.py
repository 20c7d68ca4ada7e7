"""A thread as evidence: one zip, with a manifest whose hashes hang together.

Every file is in the manifest with its SHA-256; each entry's `chain` is the hash of the one before
it and its own, so that no file can be changed, added, dropped or moved without the last changing.
`verify` needs the zip alone.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import IO, Any

from django.core import serializers
from django.db.models import Model, QuerySet

from agentruntime.models import Effect, Message, Run, Thread
from agentruntime.persistence import checkpoints, pruning
from agentruntime.timetravel import history
from agentruntime.timetravel.diff import compare
from audit.models import Operation

FORMAT = "roomwise-evidence/1"
MANIFEST = "manifest.json"
SEED = "0" * 64
PAGE = 50
_PACKAGES = ("langgraph", "langgraph-checkpoint", "langgraph-checkpoint-postgres", "django")


class Tampered(Exception):
    """An export is not what its manifest says."""


@dataclass(frozen=True, kw_only=True)
class Verified:
    """files: how many; seal: the hash over all of them, in their order."""

    thread: str
    files: int
    seal: str


def write(thread: Thread, out: IO[bytes], *, at: str) -> str:
    """Write the zip; its seal. at: when, ISO 8601 with zone."""
    entries: list[dict[str, str]] = []
    chain = SEED
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _files(thread):
            data = _dumps(content)
            digest = hashlib.sha256(data).hexdigest()
            chain = _linked(chain, name, digest)
            entries.append({"name": name, "sha256": digest, "chain": chain})
            archive.writestr(name, data)
        manifest = {
            "format": FORMAT,
            "thread": thread.pk,
            "agent": thread.agent,
            "agent_version": thread.agent_version,
            "exported_at": at,
            "versions": {name: version(name) for name in _PACKAGES},
            "files": entries,
            "seal": chain,
        }
        archive.writestr(MANIFEST, _dumps(manifest))
    return chain


def verify(file: IO[bytes]) -> Verified:
    """Check an export against its manifest, without a database. Raises Tampered."""
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = json.loads(archive.read(MANIFEST))
            return _verified(archive, manifest)
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError) as error:
        raise Tampered(f"not an export: {error}") from error


def _verified(archive: zipfile.ZipFile, manifest: dict[str, Any]) -> Verified:
    if manifest["format"] != FORMAT:
        raise Tampered(f"unknown format {manifest['format']}")
    names = [entry["name"] for entry in manifest["files"]]
    if sorted(archive.namelist()) != sorted([*names, MANIFEST]):
        raise Tampered("the files are not those of the manifest")
    chain = SEED
    for entry in manifest["files"]:
        digest = hashlib.sha256(archive.read(entry["name"])).hexdigest()
        chain = _linked(chain, entry["name"], digest)
        if digest != entry["sha256"] or chain != entry["chain"]:
            raise Tampered(f"{entry['name']} was changed")
    if chain != manifest["seal"]:
        raise Tampered("the seal is not that of the files")
    return Verified(thread=manifest["thread"], files=len(names), seal=chain)


def _linked(chain: str, name: str, digest: str) -> str:
    return hashlib.sha256(f"{chain}\n{name}\n{digest}".encode()).hexdigest()


def _dumps(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True, default=str).encode()


def _files(thread: Thread) -> Iterator[tuple[str, Any]]:
    yield "thread.json", _rows(Thread.objects.filter(pk=thread.pk))
    yield "messages.json", _rows(Message.objects.filter(thread=thread).order_by("pk"))
    yield "runs.json", _rows(Run.objects.filter(thread=thread).order_by("version"))
    effects = Effect.objects.filter(thread=thread).order_by("pk")
    yield "effects.json", _rows(effects)
    yield "caused.json", [row for effect in effects for row in _caused(effect)]
    yield "operations.json", _rows(Operation.objects.filter(thread=thread.pk).order_by("pk"))
    yield from _checkpoints(thread)


def _rows(rows: "QuerySet[Any] | Sequence[Model]") -> Any:
    return serializers.serialize("python", rows)


def _caused(effect: Effect) -> list[Any]:
    """Every row elsewhere that points to an effect, with those that point to that: a booking and
    its occurrences, whatever app they are of.
    """
    found: list[Any] = []
    for row in _pointing_to(effect):
        found += _rows([row])
        found += _rows(_pointing_to(row))
    return found


def _pointing_to(row: Model) -> list[Model]:
    return [
        each
        for relation in row._meta.related_objects
        for each in relation.related_model._default_manager.filter(**{relation.field.name: row})
    ]  # fmt: skip


def _checkpoints(thread: Thread) -> Iterator[tuple[str, Any]]:
    """Each checkpoint's whole state and what it changed, oldest first, a page in memory at a time."""
    last = ""
    while page := pruning.ids(thread.pk, after=last, limit=PAGE):
        reader = checkpoints.CheckpointReader()
        reader.keep(thread.pk, page)
        reader.keep(thread.pk, reader.parents())
        for each in page:
            opened = history.opened(thread, each, reader=reader)
            changes = compare(opened.before, opened.values).changes
            yield (
                f"checkpoints/{each}.json",
                {
                    "id": each,
                    "parent": opened.point.parent,
                    "at": opened.point.at.isoformat(),
                    "source": opened.point.source,
                    "nodes": list(opened.point.nodes),
                    "next": list(opened.point.next),
                    "run": opened.point.run,
                    "run_version": opened.point.version,
                    "questions": [question.__dict__ for question in opened.point.questions],
                    "errors": list(opened.point.errors),
                    "state": opened.values,
                    "changes": [change.__dict__ for change in changes],
                },
            )
        last = page[-1]
