"""A supervisor that makes any call again, for the sabotage of c10-opt-in-twice."""

from runtime.recovery.observe import RunScope
from runtime.recovery.supervise import Supervisor
from runtime.tools.base import Context, Tool, ToolCall, ToolResult

_recover = Supervisor._recover


async def any_tool(
    self: Supervisor,
    tool: Tool,
    call: ToolCall,
    result: ToolResult,
    context: Context,
    scope: RunScope,
) -> ToolResult:
    """A call of any tool may be made again."""
    if tool.read_only:
        return await _recover(self, tool, call, result, context, scope)
    return await tool.run(call.arguments, context)
