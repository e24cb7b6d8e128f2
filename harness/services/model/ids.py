"""Ids of replies and of tool calls: fresh, unique within a trial, the same in each replay."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace

from harness.services.model.protocols.base import Stamp
from harness.services.reply import Turn
from sandboxes import clock

_WIDTH = 24


class Ids:
    """Gives ids out by number, and tokens that stand for ids in a reply kept for later.

    A token is as long as an id, so that a patched reply has the length of its template; it
    holds a secret of this process, so that no text of a script can be taken for one.
    """

    def __init__(self) -> None:
        self._given = 0
        self._secret = secrets.token_hex((_WIDTH - 4) // 2)
        self.created = int(clock.wall())
        self.template = Stamp(self.token("", 9999), self.created)

    def token(self, prefix: str, at: int) -> str:
        """What stands for the id of call number ``at``."""
        return f"{prefix}{self._secret}{at:04d}"

    def next(self) -> str:
        """A new id, without prefix."""
        self._given += 1
        return f"{self._given:0{_WIDTH}d}"

    def next_sent(self) -> bytes:
        """:meth:`next` as it is sent."""
        self._given += 1
        return b"%024d" % self._given

    def stamp(self) -> Stamp:
        """For one reply."""
        return Stamp(self.next(), self.created)

    def fresh(self, turn: Turn) -> Turn:
        """``turn`` with ids in place of its tokens."""
        calls = (
            replace(call, id=call.id.replace(self.token("", at), self.next()))
            for at, call in enumerate(turn.calls)
        )
        return replace(turn, calls=tuple(calls))

    def tokens(self, calls: int) -> Sequence[bytes]:
        """What stands for the ids of that many calls, as it is sent."""
        return [self.token("", at).encode() for at in range(calls)]

    def renewal(self, calls: int) -> Sequence[tuple[bytes, bytes]]:
        """Each of those tokens with a new id for it."""
        return [(token, self.next_sent()) for token in self.tokens(calls)]
