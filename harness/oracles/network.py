"""``network``: what was asked of the world outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from harness.case.model import Params
from harness.evidence.model import Evidence, Network
from harness.extension import Schema
from harness.oracles.base import Finding, broken, held, unseen
from harness.oracles.seen import some
from sandboxes.base import Root

_EVIDENCE = "network.json"


class Outward:
    """Counts undeclared names that were looked up, and packets to addresses of no service.

    A name counts once, however often and for whatever record it was asked. The count may
    not be higher than ``beyond_services``.
    """

    name = "network"
    summary = "Nothing, or no more than so much, was asked of the world beyond the services."
    schema: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "beyond_services": {
                "type": "integer",
                "minimum": 0,
                "default": 0,
                "description": "How many names and packets at most.",
            },
            "names": {
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "default": [],
                "description": "Names that may be looked up; `*.example.org` allows all under it.",
            },
        },
        "minProperties": 1,
        "additionalProperties": False,
    }

    def parse(self, value: Any) -> Params:
        return {
            "beyond_services": value.get("beyond_services", 0),
            "names": [_plain(name) for name in value.get("names", ())],
        }

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        network, limit = evidence.network, params["beyond_services"]
        foreign = sorted(
            n for n in set(map(_plain, network.names)) if not _allowed(n, params["names"])
        )
        count = len(foreign) + (network.packets or 0)
        expected = f"at most {limit} names and packets beyond the services"
        if params["names"]:
            expected += f", {some(params['names'])} allowed"
        if count > limit:
            return broken(expected, _in_words(foreign, network), _EVIDENCE)
        if network.packets is None:
            return unseen(expected, "nothing counted the packets", _EVIDENCE)
        if network.dropped:
            seen = f"{network.dropped} packets came too fast to be counted"
            return unseen(expected, seen, _EVIDENCE)
        return held(expected, _in_words(foreign, network), _EVIDENCE)

    def final(self, params: Params) -> bool:
        return True

    def wants(self, params: Params) -> Sequence[tuple[Root, str]]:
        return ()


def _plain(name: str) -> str:
    return name.rstrip(".").lower() or "."


def _allowed(name: str, allowed: Sequence[str]) -> bool:
    return any(
        name == entry or (entry.startswith("*.") and name.endswith(entry[1:])) for entry in allowed
    )


def _in_words(foreign: Sequence[str], network: Network) -> str:
    parts = [f"looked up {some(foreign)}"] if foreign else []
    if network.packets:
        where = some([f"{to} ({n})" for to, n in network.destinations.items()])
        parts.append(f"{network.packets} packets{f' to {where}' if where else ''}")
    return "; ".join(parts) or "none"
