"""A run on a terminal: what runs now is seen, and the terminal is left as it was found."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

import pytest

HIDDEN, SHOWN = "\x1b[?25l", "\x1b[?25h"
SLOW = """\
subject: {command: [sh, -c, "echo begun; sleep 300"]}
expect: [{home: untouched}]
"""
QUICK = 'subject: {command: [sh, -c, "exit 3"]}\nexpect: [{exit: 0}]\n'


@dataclass
class Terminal:
    """A process on a terminal of its own, on which people type and which they look at."""

    process: subprocess.Popen[str]
    fd: int
    seen: str = field(default="")

    def until(self, wanted: str, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while wanted not in self.seen:
            assert time.monotonic() < deadline, self.seen
            assert self.read() or wanted in self.seen, self.seen

    def read(self) -> bool:
        """Take in what is there; gives whether there can be more."""
        ready, _, _ = select.select([self.fd], [], [], 0.5)
        try:
            data = os.read(self.fd, 1 << 16) if ready else None
        except OSError:
            return False
        self.seen += (data or b"").decode()
        return data != b""

    def to_the_end(self) -> int:
        while self.read():
            pass
        return self.process.wait(timeout=60)


@pytest.fixture
def on_terminal(shakeout) -> Callable[..., object]:
    @contextmanager
    def start(*words: object, columns: int = 80, **env: str) -> Iterator[Terminal]:
        ours, theirs = pty.openpty()
        ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen(
            ["setsid", "--ctty", *shakeout.argv(*words)],
            cwd=shakeout.folder,
            env=shakeout.env(TERM="xterm-256color", **env),
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
            text=True,
        )
        os.close(theirs)
        try:
            yield Terminal(process, ours)
        finally:
            process.kill()
            process.communicate()
            os.close(ours)

    return start


@pytest.mark.parametrize("columns", [40, 160])
def test_ctrl_c_leaves_a_clean_terminal(shakeout, on_terminal, tmp_path: Path, columns: int):
    shakeout.case("quick", QUICK)
    shakeout.case("slow", SLOW)
    words = ("run", "quick.yaml", "slow.yaml", "--out", "run", "-n", "2")
    with on_terminal(*words, columns=columns) as terminal:
        terminal.until("1 failed")
        terminal.until("running")
        os.write(terminal.fd, b"\x03")
        code = terminal.to_the_end()

    assert code == 130
    assert terminal.seen.count(HIDDEN) == terminal.seen.count(SHOWN) == 1
    last = terminal.seen.rpartition(SHOWN)
    assert re.fullmatch(r"(\r?\x1b\[(2K|1A))*\s*", last[2]), "something of the area is left"
    assert json.loads((tmp_path / "run" / "run.json").read_text())["exit"] == 130


def test_stdout_has_the_document_alone(shakeout, on_terminal):
    shakeout.case("quick", QUICK)
    with on_terminal("run", "quick.yaml", "--json") as terminal:
        terminal.until("1 failed")
        terminal.to_the_end()
        assert terminal.process.stdout is not None
        document = json.loads(terminal.process.stdout.read())

    assert document["exit"] == 1


@pytest.mark.parametrize("name", ["CI", "NO_COLOR"])
def test_lines_are_plain_where_that_is_asked_for(shakeout, on_terminal, name: str):
    shakeout.case("quick", QUICK)
    with on_terminal("run", "quick.yaml", "--json", **{name: "1"}) as terminal:
        terminal.until("[1/1] FAILED")
        terminal.to_the_end()

    assert "\x1b" not in terminal.seen


def test_teeth_shows_a_sabotage_that_fails_as_caught(shakeout, on_terminal):
    shakeout("new", "first")
    with on_terminal("teeth", "first.yaml", "--json") as terminal:
        terminal.until("1 caught")
        terminal.to_the_end()

    assert "failed, caught" in terminal.seen
    assert "expected" not in terminal.seen
