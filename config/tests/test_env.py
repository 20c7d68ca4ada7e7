"""The settings: read, refused, and the same in README.md as in the code."""

import re
from pathlib import Path

import pytest

from config import env

README = env.ROOT / "README.md"
ROW = re.compile(r"^\| `([A-Z_]+)` \|(.*)\|\s*$", re.MULTILINE)


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.split("|")]


def test_readme_lists_every_setting_with_its_default_and_use() -> None:
    rows = {name: cells(rest) for name, rest in ROW.findall(README.read_text("utf-8"))}
    assert list(rows) == list(env.SETTINGS)
    for name, setting in env.SETTINGS.items():
        default, about = rows[name]
        assert default.strip("`") == setting.default, name
        assert about == setting.about, name


@pytest.mark.parametrize("name", env.SETTINGS)
def test_every_default_can_be_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(name, raising=False)
    env.read(name)


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("ON", True), ("0", False), ("", False)]
)
def test_flags(text: str, value: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEBUG", text)
    assert env.read("DEBUG") is value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("DEBUG", "maybe"),
        ("PORT", "eighty"),
        ("PORT", "70000"),
        ("ROOMWISE_LEASE_SECONDS", "soon"),
        ("ROOMWISE_LEASE_SECONDS", "0"),
        ("ROOMWISE_BEAT_SECONDS", "-1"),
        ("ROOMWISE_BEAT_SECONDS", "nan"),
        ("ROOMWISE_DEBOUNCE_SECONDS", "0.2"),
        ("ROOMWISE_DEBOUNCE_SECONDS", "2"),
        ("ROOMWISE_RUN_SECONDS", "inf"),
        ("ROOMWISE_API_PER_MINUTE", "1.5"),
    ],
)
def test_what_cannot_be_read_is_named(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, text)
    with pytest.raises(env.BadSetting, match=f"{name}='{text}'"):
        env.read(name)


def test_relative_data_belongs_to_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOMWISE_DATA", "var")
    assert env.read("ROOMWISE_DATA") == env.ROOT / "var"
    monkeypatch.setenv("ROOMWISE_DATA", "/srv/roomwise")
    assert env.read("ROOMWISE_DATA") == Path("/srv/roomwise")
