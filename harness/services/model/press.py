"""Renders each distinct reply once, and patches fresh ids into copies of it.

Serialising a streamed reply costs more than all the rest of serving it. What a reply says
differs little from one request to the next: a script has few turns, and an agent sends each
of them to one model by one protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.services.model.heard import Heard
from harness.services.model.ids import Ids
from harness.services.model.protocols.base import ModelProtocol
from harness.services.reply import Part, Turn, Wire

#: Replies kept; the oldest goes first.
_KEPT = 256


class _Key(NamedTuple):
    protocol: str
    stream: bool
    wants_usage: bool
    model: str | None
    turn: Turn


@dataclass(frozen=True, slots=True)
class _Plate:
    """A rendered reply, and the parts of it that hold tokens."""

    wire: Wire
    slots: tuple[int, ...]


class Press:
    """Makes wires of turns whose calls have tokens for ids."""

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._message = ids.template.id.encode()
        self._plates: dict[_Key, _Plate] = {}

    def wire(self, protocol: ModelProtocol, heard: Heard, turn: Turn) -> Wire:
        """The reply, with ids that no reply before had."""
        key = _Key(protocol.name, heard.stream, heard.wants_usage, heard.model, turn)
        plate = self._plates.get(key) or self._engrave(key, protocol, heard)
        stamp = self._ids.stamp()
        renewal = [(self._message, stamp.id.encode())]
        if turn.calls:
            renewal += self._ids.renewal(len(turn.calls))
        parts = list(plate.wire.parts)
        for slot in plate.slots:
            parts[slot] = _renewed(parts[slot], renewal)
        wire = plate.wire
        headers = {**wire.headers, **protocol.headers(stamp)}
        return Wire(wire.status, headers, parts, wire.chunked, protocol=wire.protocol)

    def _engrave(self, key: _Key, protocol: ModelProtocol, heard: Heard) -> _Plate:
        wire = protocol.render(heard, key.turn, self._ids.template)
        tokens = [self._message, *self._ids.tokens(len(key.turn.calls))]
        slots = tuple(
            at for at, part in enumerate(wire.parts) if any(token in part.data for token in tokens)
        )
        if len(self._plates) >= _KEPT:
            del self._plates[next(iter(self._plates))]
        plate = self._plates[key] = _Plate(wire, slots)
        return plate


def _renewed(part: Part, renewal: Sequence[tuple[bytes, bytes]]) -> Part:
    data = part.data
    for token, fresh in renewal:
        data = data.replace(token, fresh)
    return Part(data, part.name, part.delay)
