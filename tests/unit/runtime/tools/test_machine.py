"""Packages, the machine, and the commands that the user declared."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runtime.settings import Settings, ToolSettings, load
from runtime.tools.base import Context
from tests.unit.runtime.tools.calls import TOOLS, Call, caller

pytestmark = pytest.mark.anyio

BUILDS = [tool.name for tool in TOOLS if tool.family == "build"]


@pytest.mark.parametrize("name", BUILDS)
async def test_a_declared_command_is_run_and_no_other(
    context: Context, workspace: Path, tmp_path: Path, name: str
):
    (tmp_path / "settings.yaml").write_text(
        f"tools:\n  commands:\n    {name}: pwd; echo {name} >&2; exit 4\n"
    )
    settings = load(tmp_path / "settings.yaml", {})

    result = await caller(replace(context, settings=settings))(name)
    none = await caller(context)(name)

    assert (result.output, result.error, result.exit_code) == (f"{workspace}\n", f"{name}\n", 4)
    assert none.error == (
        f"{name}: no command is declared; set tools.commands.{name} in settings.yaml\n"
    )


PROGRAM = """#!/bin/sh
printf '%s\\n' "$0" "$@" > {seen}
pwd >> {seen}
echo '[]'
"""


@pytest.fixture
def programs(context: Context, tmp_path: Path) -> tuple[Call, Path]:
    """Programs that note how they were called, in place of those that install."""
    folder, seen = tmp_path / "programs", tmp_path / "seen"
    folder.mkdir()
    for name in ("python3", "npm", "apt-get", "systemctl"):
        (folder / name).write_text(PROGRAM.format(seen=seen))
        (folder / name).chmod(0o755)
    path = {"PATH": f"{folder}:/usr/bin:/bin"}
    return caller(replace(context, environment=path)), seen


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("pip_list", {}, "pip --no-input --disable-pip-version-check list --format=json /"),
        ("env_freeze", {}, "pip --no-input --disable-pip-version-check freeze --all /"),
        ("pip_install", {"packages": ["a[b]==1.2", "c"]}, "install -- a[b]==1.2 c /"),
        ("npm_list", {"folder": "a"}, "--no-update-notifier {top}/a"),
        ("npm_install", {"packages": ["@a/b@^1.2"]}, "--ignore-scripts -- @a/b@^1.2 {top}"),
        ("sys_pkg", {"packages": ["libc6:amd64"]}, "--no-install-recommends -- libc6:amd64 /"),
        ("service_status", {"service": "x"}, "--lines=20 -- x {top}"),
    ],
)
async def test_programs_are_given_names_behind_a_dash(
    programs: tuple[Call, Path], workspace: Path, name: str, arguments: dict[str, Any], said: str
):
    call, seen = programs

    result = await call(name, **arguments)

    assert result.output == "[]\n"
    assert " ".join(seen.read_text().split()).endswith(said.format(top=workspace))


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("pip_install", "--index-url=http://x"),
        ("pip_install", "git+https://x/y"),
        ("pip_install", "./here"),
        ("pip_install", "a @ https://x"),
        ("pip_install", "a\n"),
        ("npm_install", "../x"),
        ("npm_install", "user/repository"),
        ("npm_install", "x@file:../y"),
        ("npm_install", "--registry=x"),
        ("sys_pkg", "./x.deb"),
        ("sys_pkg", "-o=x"),
    ],
)
async def test_a_package_is_a_name(call: Call, name: str, package: str):
    assert (await call(name, packages=[package])).exit_code == 2


@pytest.mark.parametrize("name", ["pip_list", "npm_list", "sys_pkg", "service_status"])
async def test_a_program_that_is_missing_is_named(context: Context, name: str):
    wanted: dict[str, Any] = {"sys_pkg": {"packages": ["x"]}, "service_status": {"service": "x"}}
    programs = {"sys_pkg": "apt-get", "service_status": "systemctl", "npm_list": "npm"}
    program = programs.get(name, "python3")

    result = await caller(replace(context, environment={"PATH": "/nowhere"}))(
        name, **wanted.get(name, {})
    )

    assert (result.exit_code, result.data["program"]) == (127, program)


async def test_what_lies_in_the_workspace_is_not_taken_for_pip(call: Call, workspace: Path):
    (workspace / "pip.py").write_text("open('ran', 'w')\n")

    result = await call("pip_list")

    assert not (workspace / "ran").exists()
    assert isinstance(json.loads(result.output), list)


async def test_processes_are_listed(call: Call):
    result = await call("ps", count=1000)
    one = await call("ps", name="no such command", count=1)

    assert f"\n{os.getpid()}\t{os.getppid()}\t" in result.output
    assert one.output == "pid\tppid\tuser\tstatus\trss\tcommand\n"


@pytest.mark.parametrize("name", ["disk", "memory", "load"])
async def test_the_machine_is_measured(call: Call, name: str):
    result = await call(name)
    facts = dict(line.split(": ") for line in result.output.splitlines())

    assert result.ok
    assert all(float(value) >= 0 for value in facts.values())
    assert float(facts.get("total", facts.get("processors", "0"))) > 0


async def test_the_end_of_a_log_is_read_however_long_it_is(context: Context, workspace: Path):
    with (workspace / "log").open("wb") as file:
        file.truncate(1 << 40)
        file.seek(0, 2)
        file.write(b"\nlast but one\n\xfflast\n")
    short = replace(context, settings=Settings(tools=ToolSettings(output=1024)))

    result = await caller(short)("logs_tail", path="log", lines=2)

    assert result.output == "last but one\n\udcfflast\n"
