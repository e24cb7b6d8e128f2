"""Where plugged tools come from: the contract of a package, an MCP server, a skill."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol, TypeAlias

from runtime.tools.base import Arguments, Context, ToolResult
from runtime.tools.hotplug.offers import Offer

#: Exit codes of calls that did not come to an answer, as ``sysexits.h`` and shells have them.
UNAVAILABLE: Final = 69
GONE: Final = 127

Listed: TypeAlias = Callable[[Sequence[Offer]], Awaitable[None]]
Troubled: TypeAlias = Callable[[str], Awaitable[None]]


class Source(Protocol):
    """Something with tools."""

    @property
    def said(self) -> str:
        """What it is, for people: ``the MCP server demo``."""

    async def serve(self, listed: Listed, troubled: Troubled) -> None:
        """Hold it open until cancelled, or end where nothing has to be held.

        Args:
            listed: told what there is, once it is there and whenever it changes.
            troubled: told why nothing is, where it is tried again.

        Raises:
            AgentdError: it does not come up, and will not.
        """

    async def look_again(self) -> Sequence[Offer] | None:
        """What it has now; ``None`` where it says by itself when that changes."""

    async def call(self, name: str, arguments: Arguments, context: Context) -> ToolResult:
        """Call one of its tools."""
