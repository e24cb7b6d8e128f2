"""No path leads out of the workspace, by whatever links, and none is swapped on the way."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from runtime.tools.paths import Outside, inside, opened


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    top = tmp_path / "workspace"
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "file").write_text("inside")
    (tmp_path / "secret").write_text("outside")
    return top


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("a/file", "a/file"),
        ("./a//b/../file", "a/file"),
        ("a/fresh", "a/fresh"),
        (".", "."),
        ("in", "a/file"),
        ("dir/file", "a/file"),
        ("absolute", "a/file"),
        ("up/a/file", "a/file"),
    ],
)
def test_what_is_inside_is_found_by_its_links(workspace: Path, written: str, found: str):
    (workspace / "in").symlink_to("a/file")
    (workspace / "dir").symlink_to("a")
    (workspace / "absolute").symlink_to(workspace / "a/file")
    (workspace / "a/b/top").symlink_to("../..")
    (workspace / "up").symlink_to("a/b/top")

    assert str(inside(workspace, written)) == found
    assert str(inside(workspace, str(workspace / "a/file"))) == "a/file"


@pytest.mark.parametrize(
    "written", ["..", "../secret", "a/../../secret", "/etc/passwd", "out", "dir/x", "abs", "a/up/x"]
)
def test_what_leads_out_is_refused(workspace: Path, written: str):
    (workspace / "out").symlink_to("../secret")
    (workspace / "dir").symlink_to("..")
    (workspace / "abs").symlink_to("/etc")
    (workspace / "a/up").symlink_to("../..")

    with pytest.raises(Outside):
        inside(workspace, written)


def test_a_loop_of_links_ends(workspace: Path):
    (workspace / "one").symlink_to("two")
    (workspace / "two").symlink_to("one")

    with pytest.raises(OSError, match="Too many levels"):
        inside(workspace, "one")


def test_a_nul_is_refused(workspace: Path):
    with pytest.raises(OSError, match="NUL"):
        inside(workspace, "a\0b")


def test_a_folder_that_is_swapped_for_a_link_never_leads_out(workspace: Path):
    """One swaps a folder and a link out all the time; what is read is never what lies outside."""
    outside = workspace.parent / "outside"
    outside.mkdir()
    (outside / "file").write_text("outside")
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
        found = {content for _ in range(2000) if (content := _read(workspace))}
    finally:
        done.set()
        swapper.join()

    assert found <= {b"inside"}


def _read(workspace: Path) -> bytes:
    try:
        with opened(workspace, "a/file", os.O_RDONLY) as descriptor:
            return os.read(descriptor, 100)
    except OSError:
        return b""
