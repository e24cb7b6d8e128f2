"""The events as server-sent events: those that were, those to come, and the model's words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import anyio
from starlette.types import Receive, Scope, Send

from runtime.agent.pieces import Pieces
from runtime.daemon.answers import Answers
from runtime.daemon.shown import event
from runtime.events import Events

#: Seconds of silence before a comment that shows that the connection is alive.
BEAT: Final = 15.0
_HEAD: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
]


class EventStream:
    """An answer that goes on until who asked for it, or the daemon, ends it."""

    def __init__(
        self,
        events: Events,
        pieces: Pieces,
        answers: Answers,
        stopping: anyio.Event,
        *,
        after: int,
        conversation: str | None,
    ) -> None:
        self._events = events
        self._pieces = pieces
        self._answers = answers
        self._stopping = stopping
        self._after = after
        self._conversation = conversation
        self._sending = anyio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Answer with the stream."""
        await send({"type": "http.response.start", "status": 200, "headers": _HEAD})
        async with anyio.create_task_group() as group:
            group.start_soon(self._follow, send)
            group.start_soon(self._hear, send)
            group.start_soon(self._beat, send)
            group.start_soon(self._until_gone, receive, group.cancel_scope)
            await self._stopping.wait()
            group.cancel_scope.cancel()
        await send({"type": "http.response.body", "body": b""})

    async def _follow(self, send: Send) -> None:
        async for each in self._events.follow(self._after):
            if self._conversation in (None, each.conversation):
                body = await anyio.to_thread.run_sync(self._answers.written, event(each))
                head = f"id: {each.id}\nevent: {each.kind}\ndata: ".encode()
                await self._send(send, head + body + b"\n\n")

    async def _hear(self, send: Send) -> None:
        with self._pieces.listening() as heard:
            async for piece in heard:
                if self._conversation in (None, piece.conversation):
                    await self._send(
                        send, _piece({"conversation": piece.conversation, "text": piece.text})
                    )

    async def _beat(self, send: Send) -> None:
        while True:
            await anyio.sleep(BEAT)
            await self._send(send, b":\n\n")

    async def _send(self, send: Send, body: bytes) -> None:
        async with self._sending:
            await send({"type": "http.response.body", "body": body, "more_body": True})

    async def _until_gone(self, receive: Receive, scope: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()


def _piece(said: Mapping[str, Any]) -> bytes:
    """What has no number, for it is kept nowhere."""
    return f"event: text\ndata: {json.dumps(said)}\n\n".encode()
