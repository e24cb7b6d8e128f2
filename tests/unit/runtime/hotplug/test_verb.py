"""`agentd tools` where no daemon runs: the store is changed, for the next start."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from runtime import cli
from tests.unit.runtime.hotplug.test_skill import MANIFEST, written

Run: TypeAlias = Callable[..., tuple[int, str, str]]


@pytest.fixture
def agentd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Run:
    monkeypatch.setenv("AGENTD_HOME", str(tmp_path / "home"))

    def run(*words: str) -> tuple[int, str, str]:
        code = cli.main(["tools", *words])
        said = capfd.readouterr()
        return code, said.out, said.err

    return run


def plugs(agentd: Run) -> dict[str, Any]:
    _, out, _ = agentd("--json")
    return {each["name"]: each for each in json.loads(out)["plugs"]}


def test_core_tools_are_listed(agentd: Run):
    code, out, _ = agentd()

    assert code == 0
    assert any(line.split()[:2] == ["read_file", "fs_read"] for line in out.splitlines())


def test_each_kind_is_kept_for_the_next_start_and_taken_out_again(agentd: Run, tmp_path: Path):
    folder = written(tmp_path / "weather", MANIFEST)["folder"]
    for words in (
        ("mcp", "near", "--env", "HOME", "--", "server", "--flag", "x"),
        ("mcp", "far", "--url", "https://example.org/mcp", "--bearer", "TOKEN"),
        ("package", "Loud.Tools", "--path", str(tmp_path)),
        ("skill", folder),
    ):
        code, out, err = agentd("plug", *words)
        assert (code, err) == (0, "")
        assert out.endswith("comes up with the daemon\n")

    assert {name: each["kind"] for name, each in plugs(agentd).items()} == {
        "near": "mcp",
        "far": "mcp",
        "loud-tools": "package",
        "weather": "skill",
    }
    assert agentd("unplug", "far") == (0, "unplugged far\n", "")
    assert "far" not in plugs(agentd)
    assert agentd("accept", "near") == (0, "accepted of near: nothing had changed\n", "")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("plug", "mcp", "both", "--url", "http://x", "--", "c"), "either a command or a URL"),
        (("plug", "mcp", "Loud__Name", "--", "c"), "'Loud__Name' is no name for a plug"),
        (("plug", "mcp", "skill", "--", "c"), "'skill' is no name for a plug"),
        (("plug", "mcp", "far", "--url", "ftp://x"), "url: String should match"),
        (("plug", "skill", "/nowhere"), "/nowhere/SKILL.md: No such file"),
        (("plug", "mcp", "key", "--url", "https://u:hunter22@example.org/"), "holds a secret"),
        (("unplug", "nobody"), "nothing called 'nobody' is plugged in"),
        (("accept", "nobody"), "nothing called 'nobody' is plugged in"),
    ],
)
def test_what_cannot_be_done_is_said(agentd: Run, words: tuple[str, ...], problem: str):
    code, out, err = agentd(*words)

    assert (code, out) == (2, "")
    assert problem in err
    assert plugs(agentd) == {}


def test_a_name_is_taken_once(agentd: Run):
    agentd("plug", "mcp", "near", "--", "server")

    code, _, err = agentd("plug", "mcp", "near", "--", "other")
    assert (code, "'near' is plugged in" in err) == (2, True)


@pytest.mark.parametrize(
    ("rest", "command", "env"),
    [
        (("--", "npx", "-y", "--", "x"), ["npx", "-y", "--", "x"], []),
        (
            ("--env", "HOME", "--env", "USER", "--", "npx", "-y", "--", "x"),
            ["npx", "-y", "--", "x"],
            ["HOME", "USER"],
        ),
    ],
)
def test_a_command_is_kept_as_it_was_written(
    agentd: Run, tmp_path: Path, rest: tuple[str, ...], command: list[str], env: list[str]
):
    agentd("plug", "mcp", "near", *rest)

    with contextlib.closing(sqlite3.connect(tmp_path / "home" / "agentd.db")) as database:
        [(spec,)] = database.execute("SELECT spec FROM plugs").fetchall()
    stored = json.loads(spec)
    assert (stored["command"], stored["env"]) == (command, env)
