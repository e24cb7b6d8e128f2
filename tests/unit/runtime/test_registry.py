"""The table of tools: no duplicates, all or none, and changes beside calls."""

from __future__ import annotations

import pytest

from runtime.tools.base import Arguments, Context, Tool, ToolResult
from runtime.tools.registry import BadTool, DuplicateTool, Registry


async def nothing(arguments: Arguments, context: Context) -> ToolResult:
    return ToolResult()


def tool(name: str, family: str = "fs_read", **schema: object) -> Tool:
    return Tool(name, family, "It does nothing.", {"type": "object", **schema}, nothing)


def test_a_duplicate_is_refused_and_nothing_that_came_with_it_stays():
    registry = Registry([tool("stat")])

    with pytest.raises(DuplicateTool, match="the tool stat of plug is there already, of fs_read"):
        registry.add([tool("fresh", "plug"), tool("stat", "plug")])

    assert [each.name for each in registry] == ["stat"]


def test_a_duplicate_within_what_is_added_is_refused():
    with pytest.raises(DuplicateTool):
        Registry([tool("stat"), tool("stat")])


def test_a_schema_that_is_none_is_refused():
    with pytest.raises(BadTool, match="the schema of the tool odd"):
        Registry([tool("odd", properties={"a": {"type": "strnig"}})])


def test_arguments_that_are_no_object_are_refused():
    with pytest.raises(BadTool, match="no object"):
        Registry([Tool("odd", "plug", "Odd.", {"type": "string"}, nothing)])


def test_a_family_is_taken_out_whole():
    registry = Registry([tool("stat"), tool("one", "plug"), tool("two", "plug")])

    assert registry.remove("plug") == ("one", "two")
    assert [each.name for each in registry] == ["stat"]
    assert registry.remove("plug") == ()


def test_a_family_is_replaced_in_one_step_or_not_at_all():
    registry = Registry([tool("stat"), tool("one", "plug"), tool("two", "plug")])

    registry.replace("plug", [tool("two", "plug"), tool("three", "plug")])
    assert [each.name for each in registry] == ["stat", "two", "three"]
    with pytest.raises(DuplicateTool):
        registry.replace("plug", [tool("four", "plug"), tool("stat", "plug")])
    assert [each.name for each in registry] == ["stat", "two", "three"]
