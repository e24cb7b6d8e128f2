"""Events that agents print, one JSON document on a line, found among whatever else is there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


def events(stdout: bytes) -> Iterator[Mapping[str, Any]]:
    """Every JSON object that is a line of its own, or an entry of a list that is."""
    for line in stdout.splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        for event in value if isinstance(value, list) else (value,):
            if isinstance(event, dict):
                yield event
