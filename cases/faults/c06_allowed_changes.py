"""Guards that let too much through, for the sabotages of c06-allowed-changes."""

from dataclasses import replace

from runtime.recovery.observe import Failed
from runtime.tools.base import Context, Tool, ToolCall


def whatever_is_proposed(cls: str, call: ToolCall, tool: Tool, context: Context) -> None:
    """Nothing that the model proposes works around anything."""


def any_change(failed: Failed, context: Context) -> ToolCall:  # noqa: ARG001
    """Any other file will do as well."""
    if "path" not in failed.call.arguments:
        return failed.call
    return replace(failed.call, arguments={"path": "other.txt"})
