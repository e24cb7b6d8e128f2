"""An MCP server as a source of tools: connected again when it is gone, and never waited for in vain."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.to_thread

from runtime.clock import Clock
from runtime.tools.base import Arguments, Context, ToolResult
from runtime.tools.calling import TIMED_OUT
from runtime.tools.hotplug.breaker import Breaker
from runtime.tools.hotplug.following import SETTLE, Following
from runtime.tools.hotplug.given import given, variable
from runtime.tools.hotplug.mcp_http import http_transport
from runtime.tools.hotplug.mcp_results import FAILED, as_result
from runtime.tools.hotplug.mcp_stdio import Program
from runtime.tools.hotplug.offers import Offer
from runtime.tools.hotplug.source import UNAVAILABLE, Listed, Troubled
from runtime.tools.hotplug.specs import BadPlug, McpSpec

if TYPE_CHECKING:
    from mcp import Client

#: Seconds before the first new try to connect, each time twice as many, and at most.
FIRST: Final = 0.5
MOST: Final = 60.0
#: Seconds that a server may take to come up and say what it has.
PATIENCE: Final = 20.0
#: Tools of one server.
TOOLS: Final = 512
_ACKNOWLEDGED: Final = 5.0  # seconds that a subscription may take
_SHARE: Final = 0.98  # of a call's time: the wrapper's deadline is a moment later


class McpServer:
    """One server, and the one connection to it.

    Args:
        spec: what to start, or where it answers.
        clock: the time.
        environment: the daemon's, of which it is given what the spec names.
        folder: where its program works.
        patience: seconds that it may take to come up.
    """

    def __init__(
        self,
        spec: McpSpec,
        clock: Clock,
        environment: Mapping[str, str],
        folder: Path,
        patience: float = PATIENCE,
    ) -> None:
        self._spec = spec
        self._clock = clock
        self._environment = environment
        self._folder = folder
        self._patience = patience
        self._breaker = Breaker(clock)
        self._following: Following | None = None
        self._client: Client | None = None
        self._why = "it has not come up yet"

    @property
    def said(self) -> str:
        """What it is, for people."""
        return f"the MCP server {self._spec.name}"

    async def serve(self, listed: Listed, troubled: Troubled) -> None:
        """Stay connected until cancelled; connect again, after longer and longer waits."""
        await _sdk()
        wait = FIRST
        while True:
            began = self._clock.monotonic()
            self._why = await self._connected(listed)
            await troubled(self._why)
            if self._clock.monotonic() - began > MOST:
                wait = FIRST
            await self._clock.sleep(wait)
            wait = min(wait * 2, MOST)

    async def _connected(self, listed: Listed) -> str:
        """Hold one connection, and say why it ended."""
        self._following = following = Following()
        errors = bytearray()
        with anyio.CancelScope() as scope:
            scope.deadline = anyio.current_time() + self._patience
            try:
                async with self._open(following, errors) as client, _beside(following, client):
                    self._client = client
                    await listed(await _offers(client))
                    scope.deadline = float("inf")
                    while await following.changed():
                        await self._clock.sleep(SETTLE)
                        await listed(await _offers(client))
            except Exception as error:  # noqa: BLE001 - whatever a server brings about is its own
                return _why(error, errors)
            finally:
                self._client = None
                following.lost()
        if scope.cancelled_caught:
            return f"{self.said} did not come up within {self._patience:g} seconds"
        return _why(None, errors)

    @contextlib.asynccontextmanager
    async def _open(self, following: Following, errors: bytearray) -> AsyncIterator[Client]:
        from mcp import Client  # noqa: PLC0415 - loaded by then

        if self._spec.url:
            name = self._spec.bearer
            token = variable(self.said, name, self._environment) if name else None
            transport: Any = http_transport(self._spec.url, token)
        else:
            environment = given(self.said, self._spec.env, self._environment)
            program = Program(self._spec.command, environment, self._folder, following.lost, errors)
            transport = program.transport()
        async with Client(transport, message_handler=following.heard, cache=None) as client:
            yield client

    async def look_again(self) -> None:
        """Nothing: what is accepted is what was listed last, and shown."""

    async def call(self, name: str, arguments: Arguments, context: Context) -> ToolResult:
        """Call a tool; the answer, or at the deadline, or at once, why there is none."""
        if not self._breaker.admits():
            said = f"{self.said} failed several times in a row, last: {self._why}"
            left = f"no call is made for {self._breaker.left:.0f} seconds"
            return ToolResult(error=f"{said}; {left}", exit_code=UNAVAILABLE)
        answered = False
        try:
            result, answered = await self._asked(name, arguments, context)
        finally:
            (self._breaker.worked if answered else self._breaker.failed)()
        return result

    async def _asked(
        self, name: str, arguments: Arguments, context: Context
    ) -> tuple[ToolResult, bool]:
        """The result of a call, and whether the server was there to give it."""
        client, following = self._client, self._following
        if client is None or following is None:
            said = f"{self.said} is not connected: {self._why}"
            return ToolResult(error=said, exit_code=UNAVAILABLE), False
        seconds = context.settings.tools.seconds * _SHARE
        try:
            with anyio.fail_after(seconds), following.until_lost() as cut:
                answer = await client.call_tool(name, dict(arguments))
        except TimeoutError:
            self._why = f"{name} did not answer within {seconds:g} seconds"
            return ToolResult(error=f"{self.said}: {self._why}", exit_code=TIMED_OUT), False
        except Exception as error:  # noqa: BLE001 - a server can bring about whatever it likes
            return self._refused(error, following)
        if cut.cancelled_caught:
            said = f"{self.said} ended during the call of {name}; whether it was done is unknown"
            return ToolResult(error=said, exit_code=UNAVAILABLE), False
        return as_result(answer), True

    def _refused(self, error: Exception, following: Following) -> tuple[ToolResult, bool]:
        """What came in the place of an answer: the server's refusal, or the end of the connection."""
        from mcp import MCPError  # noqa: PLC0415 - loaded by then
        from mcp.types import CONNECTION_CLOSED, INTERNAL_ERROR  # noqa: PLC0415 - loaded by then

        if not isinstance(error, MCPError):
            said = f"{self.said}: {type(error).__name__}: {error}"
            return ToolResult(error=said, exit_code=FAILED), True
        if error.code != CONNECTION_CLOSED:
            broken = error.code == INTERNAL_ERROR
            return ToolResult(error=error.message, exit_code=FAILED), not broken
        following.lost()
        said = f"{self.said} was lost during the call: {error.message}"
        return ToolResult(error=said, exit_code=UNAVAILABLE), False


async def _sdk() -> None:
    """Load the SDK, beside the event loop: it takes seconds."""
    try:
        await anyio.to_thread.run_sync(importlib.import_module, "mcp")
    except ModuleNotFoundError as error:
        if error.name != "mcp":
            raise
        raise BadPlug(
            "MCP servers need the extra `mcp`, which is not installed",
            "install it: pip install 'shakeout[mcp]'",
        ) from None


@contextlib.asynccontextmanager
async def _beside(following: Following, client: Client) -> AsyncIterator[None]:
    """Listen to changes, from before the first list on, so that none is missed."""
    async with anyio.create_task_group() as group:
        group.start_soon(following.subscribe, client)
        with anyio.move_on_after(_ACKNOWLEDGED):
            await following.listens.wait()
        yield
        group.cancel_scope.cancel()


async def _offers(client: Client) -> list[Offer]:
    """All tools that a server has, page by page."""
    found: list[Offer] = []
    cursors: set[str | None] = set()
    cursor: str | None = None
    while cursor not in cursors:
        cursors.add(cursor)
        page = await client.list_tools(cursor=cursor)
        found += [
            Offer(tool.name, tool.description or "", tool.input_schema) for tool in page.tools
        ]
        if len(found) > TOOLS:
            raise BadPlug(f"it has more than {TOOLS} tools", "")
        cursor = page.next_cursor
        if cursor is None:
            break
    return found


def _why(error: Exception | None, errors: bytearray) -> str:
    """Why a connection ended, in the innermost words that there are."""
    inner: BaseException | None = error
    while isinstance(inner, BaseExceptionGroup):
        inner = inner.exceptions[0]
    said = "it ended" if inner is None else f"{type(inner).__name__}: {inner}"
    if isinstance(inner, BadPlug):
        said = str(inner)
    last = errors.decode(errors="replace").strip()[-500:]
    return f"{said}; it wrote: {last}" if last else said
