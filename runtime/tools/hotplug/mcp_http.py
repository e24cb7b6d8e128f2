"""An MCP server that answers at a URL."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any, Final

import httpx2

from runtime.tools.hotplug.mcp_stdio import MESSAGE

_STREAM: Final = "text/event-stream"
_CONNECT: Final = 10.0


@contextlib.asynccontextmanager
async def http_transport(url: str, token: str | None) -> AsyncIterator[Any]:
    """A connection to it, as the SDK wants it.

    Args:
        url: where it answers.
        token: what it wants to see, if anything.
    """
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415 - when needed

    headers = {"Authorization": f"Bearer {token}"} if token else {}
    timeout = httpx2.Timeout(_CONNECT, read=None)  # a call's own deadline ends the reading
    hooks = {"response": [_bounded]}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, event_hooks=hooks) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MESSAGE) as streams,
    ):
        yield streams


async def _bounded(response: httpx2.Response) -> None:
    """Let no answer be longer than a message may be; of a stream, the SDK bounds each event."""
    stream = response.stream
    if isinstance(stream, httpx2.AsyncByteStream) and _STREAM not in response.headers.get(
        "content-type", ""
    ):
        response.stream = _Bounded(stream)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MESSAGE
        async for piece in self._stream:
            left -= len(piece)
            if left < 0:
                raise httpx2.ReadError(f"the answer is longer than {MESSAGE} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
