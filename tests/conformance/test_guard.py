"""What processes of a sandbox change in a guarded folder of the host is told, and nobody else's.

A right sandbox cannot change anything there. So the writer is one that has the sandbox's pid
namespace, and the machine's own mounts.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.conformance.room import eventually, host_pid

pytestmark = pytest.mark.needs("user.separate")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "home" / "deep").mkdir(parents=True)
    (tmp_path / "home" / "letter").write_text("Dear reader\n")
    return tmp_path / "home"


@pytest.fixture
def room(make, folder):
    room = make(guarded=folder)
    if not room.sandbox.touched().whole:
        pytest.skip("this file system cannot be watched")
    return room


def from_inside(room, script: str) -> None:
    """Run a script with the sandbox's pid namespace and nothing else of it."""
    mark = os.urandom(8).hex()
    room.start("sh", "-c", "while sleep 60; do :; done", mark)
    pid = eventually(lambda: host_pid(mark))
    argv = ["nsenter", f"--pid=/proc/{pid}/ns/pid", "sh", "-c", script]
    subprocess.run(argv, check=True, timeout=60)


@pytest.mark.parametrize(
    ("act", "path"),
    [
        ("echo x > new", "new"),
        ("echo x >> letter", "letter"),
        ("chmod 600 letter", "letter"),
        ("rm letter", "letter"),
        ("mv deep moved", "moved"),
        ("mkdir folder", "folder"),
        ("setsid sh -c 'touch deep/x' & wait", "deep/x"),
        ("truncate -s 0 letter", "letter"),
    ],
)
def test_each_change_from_inside_is_told_though_who_made_it_is_gone(room, folder, act, path):
    from_inside(room, f"cd {folder}; {act}")
    room.sandbox.kill()

    touched = room.sandbox.touched()
    assert str(folder / path) in touched.paths
    assert touched.whole
    assert room.sandbox.touched().paths == []


def test_reading_from_inside_is_no_change_and_what_lies_elsewhere_is_not_guarded(room, folder):
    from_inside(room, f"cd {folder}; cat letter; ls -lR; echo > ../beside; mkdir {folder}er")

    assert room.sandbox.touched().paths == []


def test_what_others_change_is_not_told(make, room, folder):
    other = make(guarded=folder)
    (folder / "mine").write_text("x")
    from_inside(other, f"touch {folder}/theirs")
    room.ok("echo x > ~/f; echo x > /workspace/f; echo x > /tmp/f")

    assert room.sandbox.touched().paths == []
    assert list(other.sandbox.touched().paths) == [str(folder / "theirs")]


def test_a_folder_that_is_gone_is_still_told(room, folder):
    from_inside(room, f"cd {folder}/deep; touch x; cd ..; rm -r deep")

    touched = room.sandbox.touched().paths
    assert str(folder / "deep") in touched
    assert any("in a folder that is gone" in path for path in touched)


def test_so_much_that_some_is_lost_is_said(room, folder):
    script = f"import os; os.chdir('{folder}/deep'); [os.mknod(str(n)) for n in range(20000)]"
    from_inside(room, f'python3 -c "{script}"')

    touched = room.sandbox.touched()
    assert touched.paths
    assert not touched.whole


def test_without_a_guard_nobody_looks(make):
    assert not make().sandbox.touched().whole
