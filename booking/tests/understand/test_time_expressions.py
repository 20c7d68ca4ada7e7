"""The public set of time expressions that lies beside the project, where it does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
SHARED = PROJECT.parent / "shared"
CASES = SHARED / "cases" / "time_expressions.jsonl"
LEAST = {"en": 90.0, "zh": 92.0}
MOST_MS = 50


@pytest.mark.skipif(not CASES.exists(), reason="the shared time expressions are not here")
def test_public_time_expressions_are_read():
    ran = subprocess.run(  # noqa: S603
        [sys.executable, "eval_datetime.py", "--lib", "time_expressions", "--specs", str(CASES)],
        cwd=SHARED,
        env={
            **os.environ,
            "PYTHONPATH": str(PROJECT / "script" / "lib"),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    results = {line["lang"]: line for line in map(json.loads, ran.stdout.splitlines())}
    assert {
        lang: each["accuracy"] >= LEAST[lang] for lang, each in results.items()
    } == dict.fromkeys(LEAST, True), ran.stdout
    assert all("exception" not in each["failures"] for each in results.values())
    assert max(each["ms_p95"] for each in results.values()) < MOST_MS
