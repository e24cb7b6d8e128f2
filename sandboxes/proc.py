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


def run(  # noqa: PLR0913 - the arguments of the system call
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
    try:
        streams, dropped, in_time = _pump(child, stdin, clock.monotonic() + timeout, cap)
    finally:
        code = child.wait(0.2)
        child.signal_group(signal.SIGKILL)
        code = child.wait() if code is None else code
        for stream in (child.stdin, child.stdout, child.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
    ended = -1 if code is None else code
    return Finished(
        exit_code=ended if ended >= 0 and in_time else None,
        signal=-ended if ended < 0 else None,
        stdout=streams[0],
        stderr=streams[1],
        timed_out=not in_time,
        dropped=dropped,
    )


def minimal_env() -> dict[str, str]:
    """The environment of helpers: ``PATH``, ``HOME``, and a locale that never translates."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {"PATH": os.defpath, "LC_ALL": "C.UTF-8"} | kept


def which(program: str, path: str | None = None) -> Path | None:
    """Where a program is on ``path`` (default: ours), or ``None``."""
    for folder in (path if path is not None else os.environ.get("PATH", os.defpath)).split(":"):
        candidate = Path(folder or ".") / program
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    return None


def _pump(
    child: Child, stdin: bytes, deadline: float, cap: int
) -> tuple[tuple[bytes, bytes], int, bool]:
    """Feed and drain until both streams end; gives them, the bytes dropped, and in-time."""
    assert child.stdin is not None  # noqa: S101 - PIPE was asked for
    assert child.stdout is not None  # noqa: S101
    assert child.stderr is not None  # noqa: S101
    kept = {child.stdout: bytearray(), child.stderr: bytearray()}
    dropped = 0
    rest = memoryview(stdin)
    with selectors.DefaultSelector() as selector:
        for stream in kept:
            selector.register(stream, selectors.EVENT_READ)
        if rest:
            os.set_blocking(child.stdin.fileno(), False)
            selector.register(child.stdin, selectors.EVENT_WRITE)
        else:
            child.stdin.close()
        while selector.get_map():
            left = deadline - clock.monotonic()
            if left <= 0:
                return (bytes(kept[child.stdout]), bytes(kept[child.stderr])), dropped, False
            for key, _ in selector.select(left):
                if key.fileobj is child.stdin:
                    rest = _feed(child.stdin, rest)
                    if not rest:
                        selector.unregister(child.stdin)
                        child.stdin.close()
                    continue
                data = os.read(key.fd, _CHUNK)
                if not data:
                    selector.unregister(key.fileobj)
                    continue
                buffer = kept[key.fileobj]  # type: ignore[index]
                room = max(0, cap - len(buffer))
                buffer += data[:room]
                dropped += len(data) - len(data[:room])
    in_time = child.wait(max(0.0, deadline - clock.monotonic())) is not None
    return (bytes(kept[child.stdout]), bytes(kept[child.stderr])), dropped, in_time


def _feed(stream: IO[bytes], rest: memoryview) -> memoryview:
    """Write what the pipe takes; nothing is left once the reader has gone."""
    try:
        return rest[os.write(stream.fileno(), rest[:_CHUNK]) :]
    except BlockingIOError:
        return rest
    except BrokenPipeError:
        return rest[:0]
