"""What the bytes of a request mean, where they repeat the last one of their connection.

A client says the same head each time, save for the length of the body; one that tries again,
or that measures, says the same body too. So the last small request that came in one piece is
remembered until the next one comes. Bytes that are the same throughout mean the same request,
and it is the very same one that is given, with notes of what was worked out of it. Bytes that
differ in no more than the length and the body mean the same head with that body. All others
mean whatever a parser says, which can tell nothing more of those two.
"""

from __future__ import annotations

from typing import Final, Self

from harness.services.base import Incoming, Notes

_MOST: Final = 16 << 10
_MOST_DIGITS: Final = 6
_LENGTH: Final = "content-length"
_NAMED: Final = b"\r\ncontent-length:"
_END: Final = b"\r\n\r\n"

_EXPECT: Final = "expect"


class Recall:
    """Remembers one request: ``piece`` is its bytes, from the first to the last."""

    __slots__ = ("_after", "_before", "_incoming", "_piece")

    def __init__(self, piece: bytes, incoming: Incoming) -> None:
        self._piece = piece
        self._incoming = incoming
        # The head around the digits of its length; no piece starts with what is not there.
        self._before, self._after = _around_length(piece, incoming) or (piece, b"")

    @classmethod
    def of(cls, piece: bytes, incoming: Incoming) -> Self | None:
        """Remember it, if it is small, and its client was to be told nothing before its end."""
        if len(piece) > _MOST or _EXPECT in incoming.headers:
            return None
        return cls(piece, incoming)

    def again(self, piece: bytes) -> Incoming | None:
        """The very same request, if these are its bytes."""
        if piece != self._piece:
            return None
        if self._incoming.notes is None:
            self._incoming = self._incoming._replace(notes=Notes())
        return self._incoming

    def alike(self, piece: bytes) -> Incoming | None:
        """The request, if it differs from the last in no more than its body; remember it instead."""
        if len(piece) > _MOST or not piece.startswith(self._before):
            return None
        at = len(self._before)
        end = piece.find(b"\r\n", at, at + _MOST_DIGITS + 2)
        digits = piece[at:end]
        if not digits.isdigit() or not piece.startswith(self._after, end):
            return None
        body = piece[end + len(self._after) :]
        if len(body) != int(digits):
            return None
        conn, method, path, headers, _, _ = self._incoming
        self._piece = piece
        self._incoming = Incoming(conn, method, path, {**headers, _LENGTH: digits.decode()}, body)
        return self._incoming


def _around_length(piece: bytes, incoming: Incoming) -> tuple[bytes, bytes] | None:
    """The head up to the digits of its length and from there on, if it has one."""
    end = piece.find(_END)
    named = piece[: max(end, 0)].lower().find(_NAMED)
    if named < 0:
        return None
    digits = incoming.headers[_LENGTH].encode()
    at = piece.index(digits, named + len(_NAMED))
    return piece[:at], piece[at + len(digits) : end + len(_END)]
