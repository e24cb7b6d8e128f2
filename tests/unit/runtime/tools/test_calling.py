"""The one wrapper of every call, around a tool that is not what it should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.settings import Settings
from runtime.tools.base import Context, Tool, ToolCall
from runtime.tools.calling import CRASHED, call_tool
from tests.unit.runtime.clocks import Standing
from tests.unit.runtime.recovery.failures import never

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_a_schema_that_cannot_be_used_is_the_tools_own_failure(tmp_path: Path):
    endless = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}
    tool = Tool("odd", "plug", "A tool.", endless, never, True)
    context = Context(tmp_path, Standing(), Settings(), {})

    result = await call_tool(tool, ToolCall("c", "odd", {}), context)

    assert result.exit_code == CRASHED
    assert result.error.startswith("odd: ")
