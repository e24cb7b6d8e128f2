"""``upstream.oversized``: a body that is far larger than anyone expects."""

from __future__ import annotations

from dataclasses import replace

from harness.case.grammar import size as in_bytes
from harness.case.model import Params
from harness.faults.schemas import size
from harness.faults.upstream_base import UpstreamFault, size_of, with_service
from harness.services.reply import Part, Wire

_PIECE = 64 << 10


class Oversized(UpstreamFault):
    """A whole, well-formed reply: the rule's body, and then padding up to the size."""

    name = "upstream.oversized"
    summary = "A service answers with its body padded to a huge size."
    serves = True
    schema = with_service(
        size=size("of the body, at most 256MiB", default="32MiB"),
        pad={
            "type": "string",
            "minLength": 1,
            "maxLength": 1,
            "pattern": "^[ -~]$",
            "description": "the character that it is padded with",
            "default": " ",
        },
    )

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Pad the body; one that is that large already is left alone."""
        asked = params["size"]
        wanted = min(asked if isinstance(asked, int) else in_bytes(asked), 256 << 20)
        missing = wanted - size_of(wire)
        if missing <= 0:
            return wire
        piece = params["pad"].encode() * _PIECE
        padding = [Part(piece)] * (missing // _PIECE)
        if rest := missing % _PIECE:
            padding.append(Part(piece[:rest]))
        headers = {n: v for n, v in wire.headers.items() if n.lower() != "content-length"}
        return replace(wire, headers=headers, parts=(*wire.parts, *padding))
