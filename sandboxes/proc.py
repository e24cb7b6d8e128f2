"""The one owner of children in the harness.

Every child gets a session of its own, so that a whole group can be ended, and an explicit
environment, so that nothing of ours leaks by default. A deadline ends the group; what the
child did wrong is data (:class:`Finished`), never an exception.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sandboxes import clock

#: ``subprocess`` takes these for a stream; re-exported so that nobody else imports it.
DEVNULL = subprocess.DEVNULL
PIPE = subprocess.PIPE

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Finished:
    """How a child ended.

    Attributes:
        exit_code: its code, or ``None`` where a signal ended it.
        signal: the signal's number, or ``None``.
        stdout: what it wrote, up to the cap.
        stderr: likewise.
        timed_out: whether the deadline ended it.
        dropped: bytes beyond the cap, thrown away.
    """

    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    dropped: int = 0

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with 0, in time."""
        return self.exit_code == 0 and not self.timed_out


class Child:
    """A started child in a session of its own."""

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self._popen = popen

    @property
    def pid(self) -> int:
        """Its process id, which is also its process group."""
        return self._popen.pid

    @property
    def stdin(self) -> IO[bytes] | None:
        """Its standard input where that was ``PIPE``."""
        return self._popen.stdin

    @property
    def stdout(self) -> IO[bytes] | None:
        """Its standard output where that was ``PIPE``."""
        return self._popen.stdout

    @property
    def stderr(self) -> IO[bytes] | None:
        """Its standard error where that was ``PIPE``."""
        return self._popen.stderr

    def wait(self, timeout: float | None = None) -> int | None:
        """Its return code (negative: a signal), or ``None`` when the time ran out."""
        try:
            return self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def signal_group(self, signum: int) -> None:
        """Signal the child and all of its group; a group that has ended is no error."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._popen.pid, signum)

    def close(self) -> None:
        """Close our ends of its pipes."""
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def end(self, grace: float = 2.0) -> int:
        """Interrupt, then terminate, then kill the group; gives the return code."""
        for signum in (signal.SIGINT, signal.SIGTERM):
            if self._popen.poll() is not None:
                break
            self.signal_group(signum)
            self.wait(grace)
        if self._popen.poll() is None:
            self.signal_group(signal.SIGKILL)
        return self._popen.wait()


def start(  # noqa: PLR0913 - the arguments of the system call
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | os.PathLike[str] | None = None,
    stdin: int | IO[bytes] = DEVNULL,
    stdout: int | IO[bytes] = DEVNULL,
    stderr: int | IO[bytes] = DEVNULL,
    pass_fds: Sequence[int] = (),
) -> Child:
    """Start a program without a shell.

    Raises:
        FileNotFoundError: no such program.
        PermissionError: it cannot be executed.
    """
    return Child(
        subprocess.Popen(
            list(argv),
            env=dict(env),
            cwd=cwd,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=tuple(pass_fds),
            start_new_session=True,
        )
    )


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    stdin: bytes = b"",
    timeout: float = 60.0,
    cap: int = 16 << 20,
) -> Finished:
    """Run a program to its end, or to the deadline, and keep up to ``cap`` bytes of each stream.

    Without ``env`` it gets only ``PATH``, ``HOME`` and a C locale. When it is over, also
    what it left in its process group is ended.

    Raises:
        FileNotFoundError: no such program.
        PermissionError: it cannot be executed.
    """
    child = start(
        argv,
        env=minimal_env() if env is None else env,
        cwd=cwd,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
    )
    deadline = clock.monotonic() + timeout
    pump = _Pump(child, stdin, cap)
    try:
        in_time = pump.run(deadline) and child.wait(deadline - clock.monotonic()) is not None
    finally:
        child.signal_group(signal.SIGKILL)
        code = child.wait() or 0
        child.close()
    stdout, stderr = pump.streams()
    return Finished(
        exit_code=code if code >= 0 and in_time else None,
        signal=-code if code < 0 else None,
        stdout=stdout,
        stderr=stderr,
        timed_out=not in_time,
        dropped=pump.dropped,
    )


def minimal_env() -> dict[str, str]:
    """The environment of helpers: ``PATH``, ``HOME``, and a locale that never translates."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {"PATH": os.defpath, "LC_ALL": "C.UTF-8"} | kept


def which(program: str, path: str | None = None) -> Path | None:
    """Where a program is on ``path`` (default: ours), or ``None``."""
    for folder in (path if path is not None else os.environ.get("PATH", os.defpath)).split(":"):
        candidate = Path(folder or ".") / program
        # In this order: a folder that may not be entered is an error to is_file().
        if os.access(candidate, os.X_OK) and candidate.is_file():
            return candidate
    return None


class _Pump:
    """Feeds and drains a child until both of its streams end, or until the deadline."""

    def __init__(self, child: Child, stdin: bytes, cap: int) -> None:
        assert child.stdin is not None  # noqa: S101 - PIPE was asked for
        assert child.stdout is not None  # noqa: S101
        assert child.stderr is not None  # noqa: S101
        self._stdin, self._rest, self._cap = child.stdin, memoryview(stdin), cap
        self._kept = {child.stdout.fileno(): bytearray(), child.stderr.fileno(): bytearray()}
        self.dropped = 0

    def run(self, deadline: float) -> bool:
        """Whether both streams ended in time."""
        with selectors.DefaultSelector() as selector:
            for fd in self._kept:
                selector.register(fd, selectors.EVENT_READ)
            if self._rest:
                os.set_blocking(self._stdin.fileno(), False)
                selector.register(self._stdin, selectors.EVENT_WRITE)
            else:
                self._stdin.close()
            while selector.get_map():
                left = deadline - clock.monotonic()
                if left <= 0:
                    return False
                for key, _ in selector.select(left):
                    self._turn(selector, key)
        return True

    def streams(self) -> tuple[bytes, bytes]:
        """What was kept of standard output and standard error."""
        stdout, stderr = (bytes(kept) for kept in self._kept.values())
        return stdout, stderr

    def _turn(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        if key.fileobj is self._stdin:
            self._feed()
            if not self._rest:
                selector.unregister(self._stdin)
                self._stdin.close()
        elif data := os.read(key.fd, _CHUNK):
            room = self._cap - len(self._kept[key.fd])
            self._kept[key.fd] += data[:room]
            self.dropped += max(0, len(data) - room)
        else:
            selector.unregister(key.fileobj)

    def _feed(self) -> None:
        try:
            self._rest = self._rest[os.write(self._stdin.fileno(), self._rest[:_CHUNK]) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:  # the reader has gone: nothing more is wanted
            self._rest = self._rest[:0]
