"""Renders each distinct reply once, and prints copies of it with fresh ids.

Serialising a streamed reply costs more than all the rest of serving it. What a reply says
differs little from one request to the next: a script has few turns, and an agent sends each
of them to one model by one protocol. So a plate holds a reply as it leaves, head and framing
included, cut where the message's id stands; to print it is to join the pieces by a new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from harness.services.framing import USUAL, segments
from harness.services.model.heard import Heard
from harness.services.model.ids import Ids
from harness.services.model.protocols.base import ModelProtocol
from harness.services.reply import Part, Sealed, Turn, Wire

#: Replies kept; the oldest goes first.
_KEPT = 256

Renewal = Sequence[tuple[bytes, bytes]]
"""Tokens, each with the id that takes its place."""


class _Key(NamedTuple):
    protocol: str
    stream: bool
    wants_usage: bool
    model: str | None
    turn: Turn


@dataclass(frozen=True, slots=True)
class Plate:
    """A reply with tokens for ids: as a wire, and as the bytes around the message's token."""

    wire: Wire
    pieces: Sequence[bytes]
    calls: int


class Press:
    """Makes replies of turns whose calls have tokens for ids."""

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._message = ids.template.id.encode()
        self._plates: dict[_Key, Plate] = {}

    def plate(self, protocol: ModelProtocol, heard: Heard, turn: Turn) -> Plate:
        """The reply to print from."""
        key = _Key(protocol.name, heard.stream, heard.wants_usage, heard.model, turn)
        return self._plates.get(key) or self._engrave(key, protocol, heard)

    def print(self, plate: Plate) -> Sealed:
        """The reply, with ids that no reply before had."""
        message = self._ids.next_sent()
        data = message.join(plate.pieces)
        renewal: Renewal = self._ids.renewal(plate.calls) if plate.calls else ()
        for token, fresh in renewal:
            data = data.replace(token, fresh)
        return Sealed(plate.wire.status, data, partial(self._open, plate.wire, message, renewal))

    def wire(self, protocol: ModelProtocol, heard: Heard, turn: Turn) -> Wire:
        """The same, as a wire."""
        return self.print(self.plate(protocol, heard, turn)).open()

    def _open(self, wire: Wire, message: bytes, renewal: Renewal) -> Wire:
        ids = [(self._message, message), *renewal]
        old, new = self._message.decode(), message.decode()
        headers = {name: value.replace(old, new) for name, value in wire.headers.items()}
        return replace(wire, headers=headers, parts=[_renewed(part, ids) for part in wire.parts])

    def _engrave(self, key: _Key, protocol: ModelProtocol, heard: Heard) -> Plate:
        wire = protocol.render(heard, key.turn, self._ids.template)
        ((_, data),) = segments(wire, USUAL)
        if len(self._plates) >= _KEPT:
            del self._plates[next(iter(self._plates))]
        plate = Plate(wire, data.split(self._message), len(key.turn.calls))
        self._plates[key] = plate
        return plate


def _renewed(part: Part, renewal: Renewal) -> Part:
    data = part.data
    for token, fresh in renewal:
        data = data.replace(token, fresh)
    return Part(data, part.name, part.delay)
