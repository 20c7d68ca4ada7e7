"""The one strict JSON decoder: what a client sends becomes plain JSON or a BadFrame."""

import json
import math
from typing import Any

from agentruntime.exceptions import BadFrame
from agentruntime.plain import NotPlain, check_plain

MAX_BYTES = 64 * 1024
MAX_DEPTH = 16


def decode(text: str) -> dict[str, Any]:
    """One JSON object.

    Raises BadFrame: `too_large` over 64 KB; `bad_json` for anything but an object, nesting over
    16, a duplicate key, NaN or infinity, an integer over 64 bits, NUL, or a lone surrogate.
    """
    if len(text) > MAX_BYTES or len(text.encode(errors="replace")) > MAX_BYTES:
        raise BadFrame("a frame is at most 64 KB", code="too_large")
    _check_depth(text)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
        check_plain(value, "frame")
    except NotPlain as error:
        raise BadFrame(str(error)) from error
    except (ValueError, RecursionError) as error:
        raise BadFrame("not JSON") from error
    if not isinstance(value, dict):
        raise BadFrame("a frame is a JSON object")
    return value


def _check_depth(text: str) -> None:
    """Count brackets outside strings, so that the parser never recurses deeply."""
    depth = 0
    quoted = escaped = False
    for char in text:
        if escaped:
            escaped = False
        elif quoted:
            escaped = char == "\\"
            quoted = char != '"'
        elif char == '"':
            quoted = True
        elif char in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise BadFrame("nested too deeply")
        elif char in "]}":
            depth -= 1


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BadFrame("a key appears twice")
    return found


def _no_constant(name: str) -> None:
    raise BadFrame(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise BadFrame("a number is out of range")
    return number
