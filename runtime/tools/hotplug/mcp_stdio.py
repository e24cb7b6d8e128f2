"""An MCP server that is a program of ours: spoken with over its input and output."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

from runtime import processes
from runtime.tools.hotplug import warden

if TYPE_CHECKING:
    from mcp.client import Transport

#: Bytes of one message; a server that sends more in one is not listened to any longer.
MESSAGE: Final = 1 << 24
_SAID: Final = 2_000  # bytes of its errors that are kept to tell why it ended
_PARTING: Final = 1.0  # seconds in which it may end by itself


class Program:
    """The program of a server.

    Args:
        command: it, and its arguments.
        environment: all that it is given.
        folder: where it works.
        ended: told when it says no more.
        errors: where the end of what it writes as its errors is kept.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        ended: Callable[[], None],
        errors: bytearray,
    ) -> None:
        self._command = command
        self._environment = environment
        self._folder = folder
        self._ended = ended
        self._errors = errors

    def transport(self) -> Transport:
        """It, as the SDK wants it."""
        return self._running()

    @contextlib.asynccontextmanager
    async def _running(self) -> AsyncIterator[Any]:
        heard, to_read = anyio.create_memory_object_stream[Any](0)
        to_write, sent = anyio.create_memory_object_stream[Any](0)
        argv = [sys.executable, "-I", "-S", warden.__file__]
        async with (
            heard,
            to_read,
            to_write,
            sent,
            processes.lasting(
                argv,
                self._command,
                folder=self._folder,
                environment=self._environment,
                parting=_PARTING,
            ) as process,
            anyio.create_task_group() as group,
        ):
            group.start_soon(self._listen, process.stdout, heard)
            group.start_soon(self._speak, process.stdin, sent)
            group.start_soon(self._note, process.stderr)
            try:
                yield to_read, to_write
            finally:
                group.cancel_scope.cancel()

    async def _listen(self, output: ByteReceiveStream | None, heard: Any) -> None:
        """Hand over each line as a message, until there are no more."""
        from mcp.shared.message import SessionMessage  # noqa: PLC0415 - with the SDK, when needed
        from mcp.types import jsonrpc_message_adapter as adapter  # noqa: PLC0415

        async with heard:
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                async for line in _lines(output):
                    try:
                        message = SessionMessage(adapter.validate_json(line, by_name=False))
                    except ValueError:
                        self._keep(b"not a message: " + line[:200] + b"\n")
                        continue
                    await heard.send(message)
        self._ended()

    async def _speak(self, stdin: ByteSendStream | None, sent: Any) -> None:
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for each in sent:
                message = each.message.model_dump(by_alias=True, exclude_unset=True, mode="json")
                if stdin is not None:
                    await stdin.send(json.dumps(message).encode() + b"\n")

    async def _note(self, stream: ByteReceiveStream | None) -> None:
        if stream is None:
            return
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for piece in stream:
                self._keep(piece)

    def _keep(self, piece: bytes) -> None:
        self._errors += piece
        del self._errors[:-_SAID]


async def _lines(stream: ByteReceiveStream | None) -> AsyncIterator[bytes]:
    """The lines of a stream; it ends at one that is too long."""
    left = bytearray()
    if stream is None:
        return
    async for piece in stream:
        *whole, rest = piece.split(b"\n")
        for line in whole:
            if len(left) + len(line) > MESSAGE:
                return
            yield bytes(left + line)
            left.clear()
        left += rest
        if len(left) > MESSAGE:
            return
