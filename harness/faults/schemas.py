"""Small pieces that the schemas of faults are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.case import grammar
from harness.extension import Schema


def params(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    """The schema of a fault's ``with``: these keys and no others."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    if required:
        schema["required"] = list(required)
    return schema


def text(description: str, **more: Any) -> Schema:
    """A string."""
    return {"type": "string", "description": description, **more}


def size(description: str, **more: Any) -> Schema:
    """A size such as ``64KiB``, or a number of bytes."""
    return {"type": ["string", "integer"], "format": "size", "description": description, **more}


def bytes_of(written: str | int) -> int:
    """What was written for a :func:`size`, in bytes."""
    return written if isinstance(written, int) else grammar.size(written)


def duration(description: str, **more: Any) -> Schema:
    """A duration such as ``2s``."""
    return {"type": "string", "format": "duration", "description": description, **more}


def some_of(description: str, names: Sequence[str], default: Sequence[str]) -> Schema:
    """A list of some of these names, each once."""
    return {
        "type": "array",
        "items": {"enum": [str(name) for name in names]},
        "minItems": 1,
        "uniqueItems": True,
        "default": [str(name) for name in default],
        "description": description,
    }


def path_inside(description: str) -> Schema:
    """A path in the workspace or, as ``~/…``, in the home: relative, and without ``..``."""
    return text(description, pattern=grammar.PATH_INSIDE)
