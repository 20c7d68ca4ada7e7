"""Compile the translation catalogues with Babel, and refuse incomplete ones.

The .mo files are committed, so a server needs neither GNU gettext nor this step, however it is
deployed; `--check` (part of script/check) fails when one is not what its .po says.
"""

import io
import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parent.parent.parent
IGNORED = {".venv", "var", "node_modules"}


def catalogues() -> list[Path]:
    return [
        path
        for path in sorted(ROOT.glob("**/locale/*/LC_MESSAGES/*.po"))
        if not IGNORED & set(path.relative_to(ROOT).parts)
    ]


def problems(catalogue: Catalog) -> list[str]:
    """Entries nobody translated, or whose placeholders differ."""
    found = []
    for message in catalogue:
        if not message.id:
            continue
        translated = message.string if isinstance(message.string, tuple) else (message.string,)
        if message.fuzzy or not all(translated):
            found.append(f"not translated: {message.id!r}")
        found += [f"{error}: {message.id!r}" for error in message.check(catalogue)]
    return found


def spoken(compiled: bytes) -> dict[str, object]:
    """What a compiled catalogue says, whichever tool compiled it (msgfmt orders it otherwise)."""
    messages = read_mo(io.BytesIO(compiled))
    # A plural's id and string are lists or tuples, depending on who read them.
    return {repr((m.context, plain(m.id))): plain(m.string) for m in messages if m.id}


def plain(text: object) -> object:
    return tuple(text) if isinstance(text, list) else text


def main(*, only_check: bool) -> int:
    bad = 0
    for path in catalogues():
        with path.open("rb") as file:
            catalogue = read_po(file, locale=path.parent.parent.name)
        compiled = io.BytesIO()
        write_mo(compiled, catalogue)
        found = problems(catalogue)
        target = path.with_suffix(".mo")
        if not only_check:
            target.write_bytes(compiled.getvalue())
        elif not target.exists() or spoken(target.read_bytes()) != spoken(compiled.getvalue()):
            found.append(f"{target.name} is out of date: run script/messages")
        for problem in found:
            sys.stdout.write(f"{path.relative_to(ROOT)}: {problem}\n")
        bad += len(found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(only_check="--check" in sys.argv[1:]))
