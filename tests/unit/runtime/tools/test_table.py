"""What holds of every core tool."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runtime.daemon.parts import FAMILIES
from runtime.tools.base import RETRIABLE, Context, Tool
from runtime.tools.calling import problems
from tests.house.checkout import ROOT
from tests.unit.runtime.tools.calls import TOOLS, caller, snapshot

pytestmark = pytest.mark.anyio

ALL = [pytest.param(tool, id=tool.name) for tool in TOOLS]
READERS = [pytest.param(tool, id=tool.name) for tool in TOOLS if tool.read_only]
SIX = 6

#: Arguments of each tool that reads, with which it does something in the fixtures' workspace.
EXAMPLES: dict[str, dict[str, Any]] = {
    "read_file": {"path": "in"},
    "list_dir": {},
    "glob": {"pattern": "**/*.py"},
    "grep": {"pattern": "t.o", "regex": True},
    "stat": {"path": "a"},
    "hash": {"path": "a/file"},
    "diff": {"old": "a/file", "new": "data.csv"},
    "patch_preview": {
        "patch": "--- a/a/file\n+++ b/a/file\n@@ -1,3 +1,4 @@\n one\n+more\n 2\n three\n"
    },
    "json_query": {"path": "data.json", "pointer": "/items"},
    "yaml_query": {"path": "data.yaml"},
    "csv_query": {"path": "data.csv"},
    "regex_test": {"pattern": "a+", "text": "aa"},
    "wait": {"id": "bg-1"},
    "env_get": {"name": "PATH"},
    "which": {"program": "git"},
    "git_status": {},
    "git_log": {},
    "git_diff": {"path": "a/file"},
    "git_show": {"ref": "HEAD"},
    "git_blame": {"path": "a/file"},
    "git_branch_list": {"remote": True},
    "pr_view": {"repository": "o/r", "number": 1},
    "issue_list": {"repository": "o/r"},
    "issue_view": {"repository": "o/r", "number": 1},
    "sql_query": {"path": "data.db", "sql": "SELECT * FROM x"},
    "schema": {"path": "data.db"},
    "migrate_plan": {"path": "data.db", "migrations": "a"},
    "dump": {"path": "data.db"},
    "http_get": {"url": "http://127.0.0.1:9/"},
    "http_head": {"url": "http://127.0.0.1:9/"},
    "dns_lookup": {"host": "127.0.0.1"},
    "port_check": {"host": "127.0.0.1", "port": 9},
    "pip_list": {},
    "npm_list": {},
    "env_freeze": {},
    "ps": {},
    "disk": {},
    "memory": {},
    "load": {},
    "logs_tail": {"path": "a/file"},
    "service_status": {"service": "none"},
}


def test_every_family_has_its_six_and_no_name_is_there_twice():
    families: dict[str, list[str]] = {}
    for tool in TOOLS:
        families.setdefault(tool.family, []).append(tool.name)

    assert {name: len(found) for name, found in families.items()} == dict.fromkeys(FAMILIES, SIX)
    assert len({tool.name for tool in TOOLS}) == len(TOOLS)


def test_what_may_be_retried_is_there_and_only_reads():
    for name in RETRIABLE:
        tool = TOOLS.get(name)
        assert tool is not None
        assert tool.read_only, name


def test_the_docs_name_every_tool_where_it_belongs():
    text = (ROOT / "docs/tools.md").read_text()
    for family in FAMILIES:
        row = next(line for line in text.splitlines() if line.startswith(f"| `{family}` |"))
        _, _, reads, writes, _ = row.split("|")
        of = [tool for tool in TOOLS if tool.family == family]
        assert set(re.findall("`(.+?)`", reads)) == {tool.name for tool in of if tool.read_only}
        assert set(re.findall("`(.+?)`", writes)) == {
            tool.name for tool in of if not tool.read_only
        }


@pytest.mark.parametrize("tool", ALL)
def test_a_declaration_is_whole(tool: Tool):
    assert re.fullmatch(r"[A-Z][^\n]*\.", tool.summary)
    assert re.fullmatch("[a-z][a-z0-9_]*", tool.name)
    assert tool.price is not None
    assert tool.price > 0
    assert tool.idempotent or not tool.read_only
    assert tool.schema["additionalProperties"] is False
    assert set(tool.schema["required"]) <= set(tool.schema["properties"])
    assert all(schema.get("description") for schema in tool.schema["properties"].values())
    for form in tool.strict:
        assert set(form) <= set(tool.schema["properties"])


@pytest.mark.parametrize("tool", ALL)
def test_its_schema_refuses_what_it_does_not_know(tool: Tool):
    assert any("unheard_of" in each for each in problems(tool, {"unheard_of": 1}))


@pytest.mark.parametrize("tool", ALL)
def test_its_schema_refuses_what_is_missing_or_of_another_type(tool: Tool):
    for name in tool.schema["required"]:
        assert any(f"'{name}' is a required property" in each for each in problems(tool, {}))
    for name in tool.schema["properties"]:
        wrong = problems(tool, {name: {"not": ["this"]}})
        assert any(each.startswith(name) for each in wrong), name


@pytest.mark.parametrize("tool", ALL)
def test_what_a_program_gets_cannot_be_an_option(tool: Tool):
    """A word that reaches a program's arguments begins with no dash, by the schema itself."""
    for name, schema in tool.schema["properties"].items():
        inner = schema.get("items", schema)
        if (pattern := inner.get("pattern")) and name != "sql":
            assert not re.search(pattern, "--output=x"), name
            assert not re.search(pattern, "x\0y"), name


def test_each_that_reads_has_an_example():
    assert {tool.name for tool in TOOLS if tool.read_only} == set(EXAMPLES)


@pytest.mark.parametrize("tool", READERS)
async def test_what_reads_changes_nothing(tool: Tool, repository: Path, context: Context):
    nowhere = {**context.environment, "GITHUB_API_URL": "http://127.0.0.1:9"}
    context = replace(context, environment=nowhere)
    (repository / "a/file").write_text("one\n2\nthree\n")
    before = snapshot(repository)
    assert problems(tool, EXAMPLES[tool.name]) == []

    result = await caller(context)(tool.name, **EXAMPLES[tool.name])

    assert snapshot(repository) == before
    assert "Traceback" not in result.error
    assert result.ok or tool.name in NOT_HERE, result


#: Those that fail here, for they ask something that is not there.
NOT_HERE = {
    "wait",
    "pr_view",
    "issue_list",
    "issue_view",
    "http_get",
    "http_head",
    "port_check",
    "npm_list",
    "service_status",
}
