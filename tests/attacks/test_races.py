"""Paths that a subject swaps all the time, while the harness writes and reads what they name."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from sandboxes.base import Limits, Planted, Root, SandboxSpec
from sandboxes.errors import SandboxError
from sandboxes.registry import BACKENDS
from tests.attacks.form import BUBBLEWRAP, DOCKER, in_helper
from tests.conformance.conftest import wanted
from tests.conformance.room import Room

PLACES = [pytest.param(BUBBLEWRAP), pytest.param(DOCKER, marks=pytest.mark.engine)]
TRIES = 300
#: The folder is by turns a folder, and a link to one of the host.
SWAPS = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
os.makedirs("a/b")
open("a/b/file", "w").write("inside")
os.symlink(sys.argv[1], "link")
print("swapping", flush=True)
while True:
    libc.renameat2(-100, b"a", -100, b"link", 2)
"""
FOLLOWS = "kernel.open_beneath = lambda at, path, flags, mode=0: os.open(path, flags, dir_fd=at)\nimport os"


@pytest.fixture
def outside(tmp_path) -> Path:
    """A folder of the host with the same names in it."""
    folder: Path = tmp_path / "outside"
    (folder / "b").mkdir(parents=True)
    (folder / "b" / "file").write_text("outside")
    return folder


def raced(backend: str, outside: Path) -> tuple[set[str], set[str]]:
    """What was read, and what was written outside."""
    wanted(BACKENDS[backend])
    read = set()
    with BACKENDS[backend].site(f"races-{os.getpid()}") as site:
        limits = Limits(memory=512 << 20, pids=64, disk=64 << 20)
        room = Room(site.create(SandboxSpec("races", limits=limits)))
        assert room.start("python3", "-c", SWAPS, str(outside)).line() == "swapping"
        for number in range(TRIES):
            with contextlib.suppress(SandboxError):
                room.sandbox.plant(Root.WORKSPACE, Planted(f"a/b/{number}", content=b"planted"))
            fd = room.sandbox.open(Root.WORKSPACE, "a/b/file")
            if fd is not None:
                with os.fdopen(fd, "rb") as file:
                    read.add(file.read().decode())
        assert list(room.leave()) == []
    return read, {path.name for path in (outside / "b").iterdir()}


@pytest.mark.parametrize("backend", PLACES)
def test_a_folder_that_is_a_link_by_turns_never_leads_out(backend, outside):
    read, written = raced(backend, outside)

    assert (read, written) == ({"inside"}, {"file"})


def test_it_leads_out_where_links_are_followed(outside, tmp_path, monkeypatch):
    in_helper(FOLLOWS)(monkeypatch, tmp_path)

    read, _ = raced(BUBBLEWRAP, outside)

    assert "outside" in read
