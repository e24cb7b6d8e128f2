"""Failed calls to test with."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from runtime.recovery.classes import Classified, FailureClass
from runtime.recovery.observe import Failed
from runtime.tools.base import Arguments, Context, Tool, ToolCall, ToolResult


async def never(arguments: Arguments, context: Context) -> ToolResult:
    raise AssertionError


def tool(name: str = "http_get", price: str | None = "0.01", **changed: Any) -> Tool:
    cost = None if price is None else Decimal(price)
    return Tool(name, "net", "A tool.", {"type": "object"}, never, True, True, cost, **changed)


def failed(
    cls: FailureClass = FailureClass.NETWORK,
    tool: Tool | None = None,
    result: ToolResult | None = None,
    id: str = "f",  # noqa: A002
    **arguments: Any,
) -> Failed:
    called = tool or globals()["tool"]()
    call = ToolCall("call-1", called.name, arguments)
    given = result or ToolResult(error="connection reset by peer", exit_code=1)
    return Failed(call, called, given, Classified(cls, None, "a-rule"), id=id)
