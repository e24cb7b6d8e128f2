"""``upstream.garbage``: bytes that are no HTTP, or a body that is not what it says it is."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from harness.case.model import Params
from harness.faults.upstream_base import UpstreamFault, with_service
from harness.services.reply import End, Part, Wire

_BLOCK = hashlib.sha256().digest_size


class Garbage(UpstreamFault):
    """The same bytes in every trial, so that what a client makes of them can be compared."""

    name = "upstream.garbage"
    summary = "A service answers with bytes that mean nothing, instead of HTTP or as its body."
    schema = with_service(
        instead={
            "enum": ["reply", "body"],
            "description": "what they take the place of; a body keeps its status and its headers",
            "default": "reply",
        },
        bytes={
            "type": "integer",
            "minimum": 1,
            "maximum": 1 << 20,
            "description": "how many",
            "default": 512,
        },
    )

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Put them in its place."""
        parts = (Part(noise(params["bytes"])),)
        if params["instead"] == "reply":
            return replace(wire, head=False, parts=parts, end=End.CLOSE)
        headers = {n: v for n, v in wire.headers.items() if n.lower() != "content-length"}
        return replace(wire, headers=headers, parts=parts)


def noise(size: int) -> bytes:
    """Bytes without meaning, the same each time; they are no text and no HTTP."""
    blocks = [hashlib.sha256(b"noise %d" % n).digest() for n in range(-(-size // _BLOCK))]
    return (b"\xff" + b"".join(blocks))[:size]
