"""``upstream.reset``: the connection to a service is reset before its reply is whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.case.model import Params
from harness.faults.upstream_base import UpstreamFault, size_of, with_service
from harness.services.reply import End, Part, Wire


class Reset(UpstreamFault):
    """A TCP reset in place of the reply, or in the middle of its body."""

    name = "upstream.reset"
    summary = "The connection to a service is reset (RST), before its reply or in its body."
    schema = with_service(
        after_bytes={
            "type": "integer",
            "minimum": 0,
            "description": "bytes of the body that are sent before; absent: not even a head is",
        }
    )

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Send nothing, or the head and a part of the body, and reset.

        A body that is no longer than that is left alone: there is nothing to cut.
        """
        count = params.get("after_bytes")
        if count is None:
            return replace(wire, head=False, parts=(), end=End.RESET)
        size = size_of(wire)
        if count >= size:
            return wire
        headers = wire.headers if wire.chunked else {**wire.headers, "content-length": str(size)}
        return replace(wire, headers=headers, parts=tuple(_first(wire.parts, count)), end=End.RESET)


def _first(parts: Sequence[Part], count: int) -> Iterator[Part]:
    for part in parts:
        if count <= 0:
            return
        yield replace(part, data=part.data[:count])
        count -= len(part.data)
