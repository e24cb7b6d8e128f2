"""git reads without writing or running anything of the repository's, and writes what is named."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runtime.tools.base import Context
from runtime.tools.calling import BAD_ARGUMENTS
from tests.unit.runtime.tools.calls import TOOLS, Call, caller, git, snapshot

pytestmark = pytest.mark.anyio

READS: dict[str, dict[str, Any]] = {
    "git_status": {},
    "git_log": {},
    "git_diff": {},
    "git_show": {"ref": "HEAD"},
    "git_blame": {"path": "a/file"},
    "git_branch_list": {"remote": True},
}
#: Settings by which a repository has git start a program.
PROGRAMS = [
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.sshCommand",
    "core.askPass",
    "diff.external",
    "diff.x.y/z.command",
    "diff.x.y/z.textconv",
    "filter.x.y/z.clean",
    "filter.x.y/z.smudge",
    "filter.x.y/z.process",
    "gpg.program",
    "pager.log",
    "pager.diff",
    "alias.status",
]


@pytest.mark.parametrize("name", READS)
async def test_a_read_runs_nothing_of_the_repository_s_and_writes_nothing(
    repository: Path, context: Context, name: str
):
    run = repository.parent / "run"
    git(repository, "config", "log.showSignature", "true")
    git(repository, "config", "filter.x.y/z.required", "true")
    for setting in PROGRAMS:
        program = repository.parent / setting.replace("/", "_")
        program.write_text(f"#!/bin/sh\necho {setting} >> {run}\n")
        program.chmod(0o755)
        git(repository, "config", setting, f"{'!' * setting.startswith('alias')}{program}")
    for hook in ("post-index-change", "post-checkout", "fsmonitor-watchman"):
        (repository / ".git/hooks" / hook).write_text(f"#!/bin/sh\necho {hook} >> {run}\n")
        (repository / ".git/hooks" / hook).chmod(0o755)
    (repository / ".gitattributes").write_text("* filter=x.y/z diff=x.y/z\n")
    (repository / "a/file").write_text("one\n2\nthree\n")
    hostile = {"GIT_EXTERNAL_DIFF": "false", "GIT_DIR": "/nowhere", "GIT_PAGER": "false"}
    bound = replace(context, environment={**context.environment, **hostile})
    before = snapshot(repository)

    result = await caller(bound)(name, **READS[name])

    assert not run.exists(), run.read_text()
    assert snapshot(repository) == before
    assert result.ok, result


async def test_filters_are_off_for_reads(repository: Path, call: Call):
    """A filter with a plain name, for which attributes are sure to hold."""
    run = repository.parent / "run"
    git(repository, "config", "filter.x.clean", f"echo clean >> {run}; cat")
    git(repository, "config", "diff.x.textconv", f"echo textconv >> {run}; cat")
    git(repository, "config", "diff.x.command", f"echo command >> {run}; true")
    (repository / ".gitattributes").write_text("* filter=x diff=x\n")
    (repository / "a/file").write_text("one\n2\nthree\n")

    for name, arguments in READS.items():
        assert (await call(name, **arguments)).ok

    assert not run.exists(), run.read_text()
    git(repository, "diff")
    assert run.exists(), "git itself would have run them"


async def test_what_has_changed_is_said(repository: Path, call: Call):
    (repository / "a/file").write_text("one\n2\nthree\n")

    assert "modified:   a/file" in (await call("git_status")).output
    assert "1 .M N... 100644" in (await call("git_status", porcelain=True)).output
    assert "-two\n+2\n" in (await call("git_diff")).output
    assert (await call("git_diff", staged=True)).output == ""
    assert (await call("git_diff", raw=True)).output.startswith(":100644 100644 ")
    assert (await call("git_show", ref="HEAD:a/file")).output == "one\ntwo\nthree\n"
    assert (await call("git_log", porcelain=True)).output.endswith("\tA\tFirst\n")
    assert "First" in (await call("git_branch_list")).output
    assert "two" in (await call("git_blame", path="a/file", ref="HEAD")).output


async def test_the_history_of_what_is_gone_is_there(repository: Path, call: Call):
    git(repository, "rm", "-rq", "a/b")

    assert "First" in (await call("git_log", path="a/b/deep.py")).output
    assert "outside of the workspace" in (await call("git_log", path="../secret")).error


async def test_a_folder_above_the_workspace_is_no_repository(
    workspace: Path, context: Context, call: Call
):
    git(workspace.parent, "init", "-q")

    result = await call("git_status")

    assert result.exit_code == 128
    assert "not a git repository" in result.error


async def test_a_repository_of_somebody_else_s_is_read(repository: Path, call: Call):
    if os.geteuid() != 0:
        pytest.skip("giving files away needs root")
    for path in (repository, *repository.rglob("*")):
        os.chown(path, 61_234, 61_234, follow_symlinks=False)

    assert (await call("git_status")).ok


async def test_git_that_is_missing_is_named(repository: Path, context: Context):
    result = await caller(replace(context, environment={"PATH": "/nowhere"}))("git_log")

    assert (result.exit_code, result.error) == (127, "git: command not found\n")
    assert result.data["program"] == "git"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("git_log", {"ref": "--output=x"}),
        ("git_show", {"ref": "--ext-diff"}),
        ("git_diff", {"old": "-O/x"}),
        ("git_checkout", {"ref": "-f"}),
        ("git_branch", {"name": "-D"}),
        ("git_push", {"remote": "origin", "branch": "+main"}),
        ("git_push", {"remote": "origin", "branch": ":main"}),
        ("git_push", {"remote": "origin", "branch": "main\n"}),
        ("git_push", {"remote": "ext::sh -c x", "branch": "main"}),
        ("git_push", {"remote": "--receive-pack=x", "branch": "main"}),
        ("git_stash", {"action": "clear"}),
    ],
)
async def test_no_option_is_smuggled_in(
    repository: Path, call: Call, name: str, arguments: dict[str, Any]
):
    result = await call(name, **arguments)

    assert result.exit_code == BAD_ARGUMENTS
    assert not (repository / "x").exists()


async def test_what_is_named_is_committed_and_nothing_else(repository: Path, call: Call):
    (repository / "a/file").write_text("one\n2\nthree\n")
    (repository / "a/b/deep.py").write_text("x = 2\n")
    (repository / "*").write_text("star")

    folder = await call("git_add", paths=["a"])
    assert (await call("git_add", paths=["a/file", "*"])).ok
    assert (await call("git_commit", message="-Second")).ok

    assert "a: Is a directory" in folder.error
    assert git(repository, "show", "--name-only", "--format=%s").split() == [
        "-Second",
        "*",
        "a/file",
    ]
    assert "a/b/deep.py" in git(repository, "status", "--porcelain")


async def test_a_file_that_is_gone_can_be_staged(repository: Path, call: Call):
    (repository / "data.json").unlink()

    assert (await call("git_add", paths=["data.json"])).ok
    assert git(repository, "status", "--porcelain").startswith("D  data.json")
    assert "did not match any files" in (await call("git_add", paths=["missing"])).error


async def test_branches_are_made_switched_to_and_pushed(repository: Path, call: Call):
    git(repository.parent, "init", "-q", "--bare", "remote.git")
    git(repository, "remote", "add", "origin", str(repository.parent / "remote.git"))

    assert (await call("git_branch", name="one")).ok
    assert (await call("git_checkout", ref="two", create=True)).ok
    assert (await call("git_checkout", ref="one")).ok
    assert (await call("git_push", remote="origin", branch="one")).ok
    assert (await call("git_branch", name="two", delete=True)).ok
    failed = await call("git_push", remote="origin", branch="two")

    assert git(repository, "branch", "--show-current") == "one\n"
    assert git(repository.parent / "remote.git", "branch").split() == ["one"]
    assert "does not match any" in failed.error


async def test_a_stash_goes_and_comes(repository: Path, call: Call):
    (repository / "a/file").write_text("changed")

    assert (await call("git_stash", action="push", message="m")).ok
    away = (repository / "a/file").read_text()
    assert "m" in (await call("git_stash", action="list")).output
    assert (await call("git_stash", action="pop")).ok

    assert (away, (repository / "a/file").read_text()) == ("one\ntwo\nthree\n", "changed")


async def test_writes_are_never_marked_as_reads():
    assert not any(tool.read_only for tool in TOOLS if tool.family.endswith("_write"))
