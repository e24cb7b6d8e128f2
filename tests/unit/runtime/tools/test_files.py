"""Files are read and written inside the workspace alone, whole or not at all."""

from __future__ import annotations

import os
import stat
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime.settings import Settings, ToolSettings
from runtime.tools import git, paths, writing
from runtime.tools.base import Context
from runtime.tools.calling import TIMED_OUT
from runtime.tools.matching import matches
from runtime.tools.paths import Outside, lexical
from tests.unit.runtime.tools.calls import Call, caller, snapshot

pytestmark = pytest.mark.anyio


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


WRITES: list[tuple[str, dict[str, Any]]] = [
    ("write_file", {"text": "x"}),
    ("append_file", {"text": "x"}),
    ("edit_file", {"old": "outside", "new": "x"}),
    ("delete", {}),
    ("delete", {"recursive": True}),
]
OUTSIDE = ["../secret", "/etc/passwd", "dir-out/secret", "a/../../secret", "..", "a/../.."]


@pytest.mark.parametrize("path", OUTSIDE)
@pytest.mark.parametrize(("name", "more"), WRITES)
async def test_nothing_outside_is_written(
    call: Call, workspace: Path, name: str, more: dict[str, Any], path: str
):
    before = snapshot(workspace.parent)

    result = await call(name, path=path, **more)

    assert "outside of the workspace" in result.error
    assert result.data["outside"]
    assert snapshot(workspace.parent) == before


@pytest.mark.parametrize("name", ["move", "copy"])
@pytest.mark.parametrize("path", OUTSIDE)
async def test_nothing_is_moved_or_copied_out_or_in(
    call: Call, workspace: Path, name: str, path: str
):
    before = snapshot(workspace.parent)

    out = await call(name, source="a/file", destination=path, replace=True)
    into = await call(name, source=path, destination="fresh")

    assert not out.ok
    assert not into.ok
    assert snapshot(workspace.parent) == before


async def test_a_link_is_followed_inside_and_never_out(call: Call, workspace: Path):
    assert (await call("write_file", path="in", text="new\n")).ok
    assert not (await call("write_file", path="out", text="new\n")).ok
    assert not (await call("append_file", path="out", text="new\n")).ok

    assert (workspace / "in").is_symlink()
    assert (workspace / "a/file").read_text() == "new\n"
    assert (workspace.parent / "secret").read_text() == "outside"


@pytest.mark.parametrize("path", [".", "a/..", "./", "{top}", "{top}/."])
async def test_the_workspace_itself_is_not_deleted(call: Call, workspace: Path, path: str):
    result = await call("delete", path=path.format(top=workspace), recursive=True)

    assert not result.ok
    assert (workspace / "a/file").exists()


async def test_a_link_is_deleted_moved_and_copied_as_one(call: Call, workspace: Path):
    assert (await call("move", source="out", destination="moved")).ok
    assert (await call("copy", source="moved", destination="copied")).ok
    assert (await call("delete", path="moved")).ok
    assert (await call("delete", path="dir-out", recursive=True)).ok

    assert str((workspace / "copied").readlink()) == "../secret"
    assert (workspace.parent / "secret").read_text() == "outside"


async def test_a_file_is_replaced_in_one_step_and_keeps_its_mode(call: Call, workspace: Path):
    (workspace / "a/file").chmod(0o750)
    with (workspace / "a/file").open() as before:
        assert (await call("write_file", path="a/file", text="new")).ok

        assert before.read() == "one\ntwo\nthree\n"
    assert (workspace / "a/file").read_text() == "new"
    assert stat.S_IMODE((workspace / "a/file").stat().st_mode) == 0o750
    assert names(workspace / "a") == ["b", "file"]


async def test_folders_are_made_only_where_that_is_said(call: Call, workspace: Path):
    refused = await call("write_file", path="x/y/z", text="")
    done = await call("write_file", path="x/y/z", text="é", folders=True)
    out = await call("write_file", path="dir-out/x/y", text="", folders=True)

    assert "x/y/z: No such file or directory" in refused.error
    assert (done.output, (workspace / "x/y/z").read_bytes()) == ("wrote 2 bytes\n", b"\xc3\xa9")
    assert not out.ok
    assert not (workspace.parent / "x").exists()


@pytest.mark.parametrize(
    ("old", "more", "said", "content"),
    [
        ("two", {}, "", "one\n2\nthree\n"),
        ("t", {}, "it 2 times", "one\ntwo\nthree\n"),
        ("t", {"all": True}, "", "one\n2wo\n2hree\n"),
        ("four", {}, "is not in it", "one\ntwo\nthree\n"),
    ],
)
async def test_an_edit_is_of_one_place_unless_all_are_meant(
    call: Call, workspace: Path, old: str, more: dict[str, Any], said: str, content: str
):
    result = await call("edit_file", path="a/file", old=old, new="2", **more)

    assert said in result.error
    assert result.ok is not bool(said)
    assert (workspace / "a/file").read_text() == content


async def test_bytes_that_are_no_text_are_kept(call: Call, workspace: Path):
    (workspace / "a/file").write_bytes(b"\xff one \xfe")

    assert (await call("edit_file", path="a/file", old="one", new="two")).ok
    read = await call("read_file", path="a/file")

    assert (workspace / "a/file").read_bytes() == b"\xff two \xfe"
    assert read.output.encode("utf-8", "surrogateescape") == b"\xff two \xfe"


async def test_appending_adds_and_makes(call: Call, workspace: Path):
    for text in ("x", "y"):
        assert (await call("append_file", path="fresh", text=text)).ok

    assert (workspace / "fresh").read_text() == "xy"


@pytest.mark.parametrize("name", ["move", "copy"])
async def test_nothing_is_overwritten_unless_that_is_said(call: Call, workspace: Path, name: str):
    refused = await call(name, source="a/file", destination="data.csv")
    kept = (workspace / "data.csv").read_text()
    done = await call(name, source="a/file", destination="data.csv", replace=True)

    assert "data.csv: File exists" in refused.error
    assert kept == "name,size\nx,1\ny,2\n"
    assert done.ok
    assert (workspace / "data.csv").read_text() == "one\ntwo\nthree\n"
    assert (workspace / "a/file").exists() is (name == "copy")


async def test_a_folder_is_copied_whole_and_not_into_itself(call: Call, workspace: Path):
    (workspace / "a/link").symlink_to("/etc/passwd")
    (workspace / "a/b/deep.py").chmod(0o755)

    done = await call("copy", source="a", destination="c")
    within = await call("copy", source="a", destination="a/b/c")

    assert done.output == "copied 3\n"
    assert (workspace / "c/link").is_symlink()
    assert stat.S_IMODE((workspace / "c/b/deep.py").stat().st_mode) == 0o755
    assert "Cannot copy into itself" in within.error


async def test_a_full_folder_is_deleted_only_where_that_is_said(call: Call, workspace: Path):
    (workspace / "a/link").symlink_to("../..")

    refused = await call("delete", path="a")
    done = await call("delete", path="a", recursive=True)

    assert "Directory not empty" in refused.error
    assert done.ok
    assert not [name for name in names(workspace) if name.startswith((".", "a"))]
    assert (workspace.parent / "secret").exists()


ODD = ["pipe", "a", "a/file/x", "no\0nul", "half \ud800", "x" * 300, "missing/x", "line\nfeed/x"]


@pytest.mark.parametrize("path", ODD)
@pytest.mark.parametrize(
    ("name", "more"),
    [
        *WRITES[:3],
        ("read_file", {}),
        ("hash", {}),
        ("json_query", {}),
        ("diff", None),
        ("copy", None),
    ],
)
async def test_what_is_no_file_is_a_failure_in_the_system_s_words(
    call: Call, workspace: Path, name: str, more: dict[str, Any] | None, path: str
):
    arguments: dict[str, Any] = {
        "diff": {"old": path, "new": "a/file"},
        "copy": {"source": "a/file", "destination": path},
    }.get(name, {"path": path, **(more or {})})
    if name == "copy" and path == "pipe":
        arguments["replace"] = True

    result = await call(name, **arguments)

    assert result.exit_code == 1, result
    assert result.error.endswith("\n")
    assert result.error.count("\n") == 1
    result.error.encode("utf-8", "surrogateescape")


async def test_a_text_with_half_a_character_is_refused_and_nothing_written(
    call: Call, workspace: Path
):
    result = await call("write_file", path="a/file", text="x\ud800")

    assert result.exit_code == 1
    assert (workspace / "a/file").read_text() == "one\ntwo\nthree\n"


async def test_a_folder_that_is_swapped_for_a_link_never_leads_a_write_out(
    call: Call, workspace: Path
):
    outside = workspace.parent / "outside"
    outside.mkdir()
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            (workspace / "a").rename(workspace / "kept")
            (workspace / "a").symlink_to(outside)
            (workspace / "a").unlink()
            (workspace / "kept").rename(workspace / "a")

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        results = [await call("write_file", path="a/fresh", text="x") for _ in range(200)]
    finally:
        done.set()
        swapper.join()

    assert {result.exit_code for result in results} <= {0, 1}
    assert names(outside) == []


NAMES = st.lists(
    st.sampled_from(["a", "b", "..", ".", "in", "out", "dir-out", "file", "ä", "x\ny", "~", "-"]),
    min_size=1,
    max_size=6,
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=NAMES, absolute=st.booleans())
async def test_no_path_whatsoever_writes_outside(
    call: Call, workspace: Path, parts: list[str], absolute: bool
):
    path = ("/" if absolute else "") + "/".join(parts)
    outside = [names(workspace.parent), (workspace.parent / "secret").read_text()]

    await call("write_file", path=path, text="x", folders=True)
    await call("copy", source="in", destination=path)
    await call("delete", path=path)

    assert [names(workspace.parent), (workspace.parent / "secret").read_text()] == (outside)


@given(parts=NAMES)
def test_a_lexical_path_is_inside_or_refused(parts: list[str]):
    top = Path("/nowhere/at/all")
    try:
        found = lexical(top, "/".join(parts))
    except Outside:
        return
    assert ".." not in found.parts
    assert not found.is_absolute()


@pytest.mark.parametrize(
    ("pattern", "name", "found"),
    [
        ("**/*.py", "a.py", True),
        ("**/*.py", "a/b/c.py", True),
        ("*.py", "a/b.py", False),
        ("a/**", "a/b/c", True),
        ("a/**/c", "a/c", True),
        ("a/*/c", "a/b/b/c", False),
        ("**/.*", "a/.hidden", True),
        ("[ab]?", "bx", True),
        ("**/**/**/**/**/**/x", "/".join("a" * 400), False),
        ("*a" * 30 + "b", "a" * 250, False),
    ],
)
def test_a_glob_matches_folder_by_folder_and_quickly(pattern: str, name: str, found: bool):
    assert matches(pattern, name) is found


async def test_grep_finds_lines_and_ends_with_patterns_that_would_not(call: Call, workspace: Path):
    (workspace / "slow").write_text("a" * 40 + "!\n")
    (workspace / "binary").write_bytes(b"\xff two\n")

    plain = await call("grep", pattern="two")
    regex = await call("grep", pattern="^t.o$", regex=True, glob="a/*")
    one = await call("grep", pattern="t", path="a/file")
    wrong = await call("grep", pattern="(", regex=True)

    assert plain.output == "binary:1:\udcff two\na/file:2:two\n"
    assert regex.output == "a/file:2:two\n"
    assert one.output == "a/file:2:two\na/file:3:three\n"
    assert (wrong.exit_code, "invalid regular expression" in wrong.error) == (2, True)


async def test_a_file_without_an_end_is_cut_or_refused(context: Context, workspace: Path):
    with (workspace / "huge").open("wb") as file:
        file.write(b"first\n")
        file.truncate(1 << 42)
    short = replace(context, settings=Settings(tools=ToolSettings(seconds=2, output=4096)))
    call = caller(short)

    read = await call("read_file", path="huge")
    edit = await call("edit_file", path="huge", old="first", new="x")
    query = await call("json_query", path="huge")
    found = await call("grep", path="huge", pattern="last")

    assert (read.output[:6], len(read.output), read.truncated) == ("first\n", 4096, True)
    assert "huge: File too large" in edit.error
    assert "huge: File too large" in query.error
    assert found.exit_code == TIMED_OUT


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("run", {"command": "true"}),
        ("git_status", {}),
        ("read_file", {"path": "a/file"}),
        ("write_file", {"path": "a/file", "text": ""}),
        ("npm_list", {}),
    ],
)
async def test_a_mount_that_hangs_holds_nobody_else_up(
    context: Context, monkeypatch: pytest.MonkeyPatch, name: str, arguments: dict[str, Any]
):
    """Every look at a path waits for what never comes; the daemon goes on meanwhile."""
    hangs = threading.Event()
    short = replace(context, settings=Settings(tools=ToolSettings(seconds=0.3)))
    for module in (paths, git, writing):
        monkeypatch.setattr(module, "inside", lambda *_: hangs.wait(20))
    turns = 0

    async with anyio.create_task_group() as group:

        async def tick() -> None:
            nonlocal turns
            while True:
                await anyio.sleep(0.01)
                turns += 1

        group.start_soon(tick)
        result = await caller(short)(name, **arguments)
        group.cancel_scope.cancel()
    hangs.set()

    assert result.exit_code == TIMED_OUT
    assert turns > 0


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_file", {"path": "a/file"}),
        ("write_file", {"path": "a/file", "text": "x"}),
        ("append_file", {"path": "a/file", "text": "x"}),
        ("list_dir", {"path": "a"}),
        ("delete", {"path": "a/file"}),
        ("move", {"source": "a/file", "destination": "a/other"}),
        ("sql_query", {"path": "data.db", "sql": "SELECT 1"}),
        ("run", {"command": "true", "folder": "a"}),
    ],
)
async def test_what_is_not_permitted_is_said_in_the_system_s_words(
    call: Call, workspace: Path, name: str, arguments: dict[str, Any]
):
    if os.geteuid() != 0:
        pytest.skip("becoming somebody else needs root")
    workspace.chmod(0o700)
    os.seteuid(65_534)
    try:
        result = await call(name, **arguments)
    finally:
        os.seteuid(0)

    assert result.exit_code == 1
    assert "Permission denied" in result.error
    assert (workspace / "a/file").read_text() == "one\ntwo\nthree\n"


async def test_odd_names_are_listed_as_they_are(call: Call, workspace: Path):
    for name in (b"\xff", "ä\nb".encode(), b"-rf"):
        Path(os.fsdecode(bytes(workspace / "a") + b"/" + name)).write_text("odd")

    listed = await call("list_dir", path="a")
    found = await call("glob", pattern="a/*")
    read = await call("read_file", path="a/\udcff")

    assert listed.output == "-rf\nb/\nfile\nä\nb\n\udcff\n"
    assert found.output == "a/-rf\na/file\na/ä\nb\na/\udcff\n"
    assert read.output == "odd"
