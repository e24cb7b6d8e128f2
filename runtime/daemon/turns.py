"""The turns that run, each carried on in the background until it ends or is ended."""

from __future__ import annotations

from collections import defaultdict

import anyio
from anyio.abc import TaskGroup

from runtime.agent.loop import Ended
from runtime.daemon.parts import Parts
from runtime.daemon.stopping import Stopping
from runtime.model.base import Said
from runtime.store.errors import StoreError


async def carry_on(parts: Parts, id: str) -> Ended:  # noqa: A002
    """Carry a conversation on that was taken, until there is nothing more to carry on."""
    try:
        ended = await _turn(parts, id)
        while await parts.conversations.take_answered(id):
            ended = await _turn(parts, id)
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True):
            await parts.agent.interrupted(id)
        raise
    return ended


async def _turn(parts: Parts, id: str) -> Ended:  # noqa: A002
    conversation = await parts.conversations.find(id)
    if conversation is None:
        return Ended(False, why="its conversation is gone from the store")
    return await parts.agent.turn(conversation, parts.models)


class Turns:
    """What runs, in a task group of the daemon's."""

    def __init__(self, parts: Parts, group: TaskGroup, stopping: Stopping) -> None:
        self._parts = parts
        self._stopping = stopping
        self._group = group
        self._scopes: defaultdict[str, set[anyio.CancelScope]] = defaultdict(set)
        self._ended = False

    async def begin(self, id: str, text: str) -> bool:  # noqa: A002
        """Say something in a conversation and carry it on; false where that is done already."""
        if self._ended or not await self._parts.conversations.take(id, Said("user", text)):
            return False
        self.start(id)
        return True

    async def answered(self, id: str) -> None:  # noqa: A002
        """Go on with what people noted to a retry; where a turn runs, it does so at its end."""
        if not self._ended and await self._parts.conversations.take_answered(id):
            self.start(id)

    def start(self, id: str) -> None:  # noqa: A002
        """Carry on a conversation that was taken."""
        self._group.start_soon(self._run, id)

    def interrupt(self, id: str) -> None:  # noqa: A002
        """End what runs in a conversation."""
        for scope in self._scopes.get(id, ()):
            scope.cancel()

    def end(self) -> None:
        """End all of them, and begin none any more."""
        self._ended = True
        for id in tuple(self._scopes):  # noqa: A001
            self.interrupt(id)

    async def _run(self, id: str) -> None:  # noqa: A002
        with anyio.CancelScope() as scope:
            self._scopes[id].add(scope)
            if self._ended:
                scope.cancel()
            try:
                await carry_on(self._parts, id)
            except StoreError as error:
                self._stopping.fail(error)
            finally:
                self._scopes[id].discard(scope)
                if not self._scopes[id]:
                    del self._scopes[id]
