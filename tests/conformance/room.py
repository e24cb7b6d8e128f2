"""A sandbox with what tests do to it all the time."""

from __future__ import annotations

import contextlib
import os
import select
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sandboxes import clock
from sandboxes.base import AGENT, WORKSPACE, ProcessSpec, Sandbox

PATIENCE = 20.0
ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/agent", "LC_ALL": "C.UTF-8"}


@dataclass(frozen=True)
class Outcome:
    """How a program ended and what it wrote."""

    code: int | None
    signal: int | None
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        return self.out.decode("utf-8", "surrogateescape").strip()


class Running:
    """A started program and our ends of its streams."""

    def __init__(self, sandbox: Sandbox, number: int, out: int, err: int) -> None:
        self.sandbox = sandbox
        self.number = number
        self.out = out
        self.err = err

    def line(self, timeout: float = PATIENCE) -> str:
        """The next line of its output."""
        text = b""
        while not text.endswith(b"\n"):
            assert select.select([self.out], [], [], timeout)[0], f"no line came; so far {text!r}"
            data = os.read(self.out, 1)
            assert data, f"the output ended; so far {text!r}"
            text += data
        return text.decode().rstrip("\n")

    def silent(self, seconds: float) -> bool:
        """Whether nothing comes for so long, after what is there already."""
        os.set_blocking(self.out, False)
        with contextlib.suppress(BlockingIOError):
            while os.read(self.out, 1 << 20):
                pass
        os.set_blocking(self.out, True)
        return not select.select([self.out], [], [], seconds)[0]

    def finish(self, timeout: float = PATIENCE) -> Outcome:
        """Drain both streams to their end and wait for the program."""
        out, err = drain([self.out, self.err], timeout)
        self.close()
        deadline = clock.monotonic() + timeout
        while ended := self.sandbox.wait(deadline - clock.monotonic()):
            if ended.process == self.number:
                return Outcome(ended.exit_code, ended.signal, out, err)
        raise AssertionError("the program did not end in time")

    def close(self) -> None:
        """Close our ends, once: the numbers may be somebody else's afterwards."""
        for fd in {self.out, self.err} - {-1}:
            os.close(fd)
        self.out = self.err = -1


class Room:
    """A sandbox under test."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self._running: list[Running] = []

    def start(
        self,
        *argv: str,
        user: str = AGENT,
        env: Mapping[str, str] = ENV,
        cwd: str = WORKSPACE,
        stdin: int | None = None,
        watched: bool = False,
    ) -> Running:
        """Start a program with a pipe for each stream."""
        out, out_inside = os.pipe()
        err, err_inside = os.pipe()
        spec = ProcessSpec(argv, env, out_inside, err_inside, cwd, user, stdin, watched)
        try:
            number = self.sandbox.start(spec)
        except BaseException:
            os.close(out)
            os.close(err)
            raise
        finally:
            os.close(out_inside)
            os.close(err_inside)
        running = Running(self.sandbox, number, out, err)
        self._running.append(running)
        return running

    def run(self, *argv: str, user: str = AGENT, env: Mapping[str, str] = ENV) -> Outcome:
        """Run a program to its end."""
        return self.start(*argv, user=user, env=env).finish()

    def shell(self, script: str, user: str = AGENT) -> Outcome:
        """Run a shell script to its end."""
        return self.run("sh", "-c", script, user=user)

    def ok(self, script: str, user: str = AGENT) -> str:
        """Run a shell script that must succeed; its output."""
        outcome = self.shell(script, user)
        assert (outcome.code, outcome.err) == (0, b""), outcome
        return outcome.text

    def argvs(self) -> list[list[str]]:
        """The command lines of everything that lives inside."""
        return [list(process.argv) for process in self.sandbox.processes()]

    def leave(self) -> Sequence[str]:
        """Close and destroy."""
        for running in self._running:
            running.close()
        return self.sandbox.destroy()


def drain(fds: Sequence[int], timeout: float) -> list[bytes]:
    """Read every descriptor to its end."""
    kept = {fd: bytearray() for fd in fds}
    open_fds = set(fds)
    deadline = clock.monotonic() + timeout
    while open_fds:
        left = deadline - clock.monotonic()
        assert left > 0, (
            f"the streams did not end; so far {[bytes(b[-200:]) for b in kept.values()]}"
        )
        for fd in select.select(list(open_fds), [], [], left)[0]:
            data = os.read(fd, 1 << 20)
            kept[fd] += data
            if not data:
                open_fds.discard(fd)
    return [bytes(kept[fd]) for fd in fds]


def eventually(condition, timeout: float = PATIENCE):
    """Poll until something holds; its value."""
    deadline = clock.monotonic() + timeout
    while not (value := condition()):
        assert clock.monotonic() < deadline, "it did not come to hold in time"
        clock.sleep(0.005)
    return value


def children(pid: int) -> list[int]:
    """The children of a process of the host."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == pid:
                    found.append(int(entry.name))
    return found


def descendants(pid: int) -> list[int]:
    """All below a process of the host."""
    below = children(pid)
    return below + [inner for child in below for inner in descendants(child)]


def command(pid: int) -> str:
    """The short name of a process of the host."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def host_pid(mark: str) -> int:
    """The process of the host that has a word in its command line; 0 if there is none."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark.encode() in words:
                return int(entry.name)
    return 0


def alive(pid: int) -> bool:
    """Whether a process of the host is there and no zombie."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False
