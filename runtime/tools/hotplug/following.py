"""What becomes of a connection to an MCP server: news of its list, and its loss."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import anyio

if TYPE_CHECKING:
    from mcp import Client

#: Seconds that a changed list is left to settle.
SETTLE: Final = 0.1


class Following:
    """One connection, followed.

    Attributes:
        listens: set once changes are told of, or are known not to be.
    """

    def __init__(self) -> None:
        self.listens = anyio.Event()
        self._news = anyio.Event()
        self._gone = False
        self._calls: set[anyio.CancelScope] = set()

    def lost(self) -> None:
        """Say that the connection is gone; no call is waited for any longer."""
        self._gone = True
        self._news.set()
        for scope in self._calls:
            scope.cancel()

    async def heard(self, message: Any) -> None:
        """Take what the server says unasked; both old and new servers say so when a list changed."""
        from mcp.types import ToolListChangedNotification  # noqa: PLC0415 - loaded by then

        if isinstance(message, ToolListChangedNotification):
            self._news.set()

    @contextlib.contextmanager
    def until_lost(self) -> Iterator[anyio.CancelScope]:
        """Leave the block when the connection is gone."""
        with anyio.CancelScope() as scope:
            self._calls.add(scope)
            try:
                if self._gone:
                    scope.cancel()
                yield scope
            finally:
                self._calls.discard(scope)

    async def changed(self) -> bool:
        """Wait until the list of tools may have changed; ``False`` where the connection is gone."""
        await self._news.wait()
        self._news = anyio.Event()
        return not self._gone

    async def subscribe(self, client: Client) -> None:
        """Be told of changes, where the server can tell, until cancelled."""
        from mcp import MCPError  # noqa: PLC0415 - loaded by then
        from mcp.client.subscriptions import (  # noqa: PLC0415 - loaded by then
            ListenNotSupportedError,
            SubscriptionLost,
        )

        try:
            async with client.listen(tools_list_changed=True) as changes:
                self.listens.set()
                async for _ in changes:
                    self._news.set()
        except SubscriptionLost:
            self.lost()
        except (ListenNotSupportedError, MCPError):
            pass
        finally:
            self.listens.set()
