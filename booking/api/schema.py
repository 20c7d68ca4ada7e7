"""The OpenAPI document, completed: every operation may answer with a problem, and says which codes."""

from typing import Any

from booking.api.problems import FOREIGN, MEDIA_TYPE, STATUSES

PROBLEM = {
    "type": "object",
    "description": "What went wrong (RFC 9457); the codes are those of the chat.",
    "properties": {
        "type": {"type": "string"},
        "code": {"type": "string", "enum": sorted({*STATUSES, *FOREIGN})},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "For people, in the language asked for."},
        "errors": {"type": "object", "description": "What is wrong with each field."},
        "rule": {"type": "string", "description": "Of code policy: which rule says no."},
        "params": {"type": "object", "description": "Of code policy: the rule's values."},
        "nearest": {
            "type": "object",
            "nullable": True,
            "description": "Of code policy: the nearest time that would be allowed.",
        },
        "dates": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Of code series_clash: the dates that cannot be had, and why.",
        },
        "alternatives": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Of code taken, and of the rule capacity: what could be had instead.",
        },
    },
    "required": ["type", "code", "status", "detail"],
}


def complete(result: dict[str, Any], **_generator: Any) -> dict[str, Any]:
    """A postprocessing hook of drf-spectacular."""
    result["components"].setdefault("schemas", {})["Problem"] = PROBLEM
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for operations in result["paths"].values():
        for operation in operations.values():
            operation["responses"]["default"] = {"description": "A problem.", "content": content}
    return result
