"""While a failure waits for a person, the model does not work around it."""

from __future__ import annotations

from runtime.recovery.classes import FailureClass
from runtime.recovery.guard.effects import effects
from runtime.recovery.guard.table import NEVER, WORKAROUNDS
from runtime.tools.base import Context, Tool, ToolCall


def workaround(cls: str, call: ToolCall, tool: Tool, context: Context) -> str | None:
    """Why a call may not be made while a failure of a class is open, or ``None``."""
    refused = NEVER | WORKAROUNDS.get(FailureClass(cls), frozenset())
    found = effects(call, tool, context) & refused
    return f"it would change {', '.join(sorted(found))}" if found else None
