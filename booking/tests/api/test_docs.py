"""docs/api.md says what the API does."""

import re
from pathlib import Path

from drf_spectacular.generators import SchemaGenerator

from booking.api.problems import FOREIGN, STATUSES

PAGE = (Path(__file__).parents[3] / "docs/api.md").read_text("utf-8")


def test_every_code_is_documented_with_its_status():
    table = dict(
        re.findall(
            r"^\| `(\w+)` \| (.+) \|$", PAGE.partition("## What goes wrong")[2], re.MULTILINE
        )
    )
    assert set(table) == {*STATUSES, *FOREIGN}
    assert {
        code: str(status) for code, status in STATUSES.items() if code != "invalid"
    }.items() <= (table.items())


def test_every_operation_is_documented():
    paths = SchemaGenerator().get_schema(public=True)["paths"]
    operations = {
        (method.upper(), re.sub(r"\{\w*?(\w+?)\}", r"{}", path.removeprefix("/api/v1/")))
        for path, found in paths.items()
        for method in found
    }
    lines = re.findall(r"^\| `([A-Z]+) (\S+?)`(?:, `(\S+?)`)? \|", PAGE, re.MULTILINE)
    documented = {
        (method, re.sub(r"\?.*|\{\w+\}", lambda found: "{}" if found[0][0] == "{" else "", address))
        for method, *addresses in lines
        for address in addresses
        if address
    }
    assert documented == operations
