"""The one place that starts processes: each in a session of its own, with an end and with caps.

When a call ends, in whatever way, everything that it started ends too: its group, what left the
group and still has its mark in the environment, and what hangs below those.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Final

import anyio
import psutil
from anyio.abc import ByteReceiveStream, Process

#: The variable by which a process is known as a call's.
MARK: Final = "AGENTD_CALL"
_CHUNK: Final = 1 << 16
#: Seconds in which what was written before the end is read after it.
_LAST_WORDS: Final = 0.2
_ROUNDS: Final = 20  # a process that forks faster than it is found is found again


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended.

    Attributes:
        exit_code: its own, or 128 and the number of the signal that ended it.
        output: what it wrote, up to the cap: its beginning and its end.
        error: likewise.
        timed_out: whether the deadline ended it.
        truncated: whether something was left out.
    """

    exit_code: int
    output: bytes
    error: bytes
    timed_out: bool = False
    truncated: bool = False


class ProgramMissing(Exception):
    """There is no such program.

    Attributes:
        program: what was looked for.
    """

    def __init__(self, program: str) -> None:
        super().__init__(f"{program}: command not found")
        self.program = program


async def run(
    argv: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    seconds: float,
    most: int,
    stdin: bytes | None = None,
) -> Ended:
    """Run a program to its end, or to the deadline.

    Args:
        argv: the program and its arguments; no shell.
        folder: where it works.
        environment: all of it, but for the mark.
        seconds: how long it may take.
        most: bytes of each stream that are kept.
        stdin: what it reads; nothing if absent.

    Raises:
        ProgramMissing: there is no such program, or it cannot be run.
        OSError: the folder cannot be worked in, or an argument can be none.
    """
    process = await start(argv, folder=folder, environment=environment, reads=stdin is not None)
    return await process.end(seconds, most, stdin)


async def start(
    argv: Sequence[str], *, folder: Path, environment: Mapping[str, str], reads: bool = False
) -> Started:
    """Start a program; whoever does sees to its end, by :meth:`Started.end`.

    Args:
        argv: the program and its arguments; no shell.
        folder: where it works.
        environment: all of it, but for the mark.
        reads: whether it has an input.

    Raises:
        ProgramMissing: there is no such program, or it cannot be run.
        OSError: the folder cannot be worked in, or an argument can be none.
    """
    mark = uuid.uuid4().hex
    try:
        # Cancelled halfway, asyncio would lose a process that has been started.
        with anyio.CancelScope(shield=True):
            process = await anyio.open_process(
                argv,
                stdin=PIPE if reads else DEVNULL,
                stdout=PIPE,
                stderr=PIPE,
                cwd=folder,
                env={**environment, MARK: mark},
                start_new_session=True,
            )
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        if error.filename == str(folder):
            raise
        raise ProgramMissing(argv[0]) from error
    except ValueError as error:  # a NUL, or half a character
        raise OSError(errno.EINVAL, f"{argv[0]}: {error}") from None
    return Started(process, mark)


class Started:
    """A program that runs.

    Attributes:
        pid: its process, which leads a group of its own.
    """

    def __init__(self, process: Process, mark: str) -> None:
        self.pid = process.pid
        self._process = process
        self._mark = mark
        self._output, self._error = _Kept(0), _Kept(0)

    @property
    def alive(self) -> bool:
        """Whether the program itself has not ended yet."""
        return self._process.returncode is None

    def so_far(self) -> tuple[bytes, bytes]:
        """What it has written up to now: its output and its errors, with the cap."""
        return self._output.whole(), self._error.whole()

    async def end(self, seconds: float, most: int, stdin: bytes | None = None) -> Ended:
        """Wait for its end, at most until the deadline; then, or if cancelled, make one.

        Args:
            seconds: how long it may take.
            most: bytes of each stream that are kept.
            stdin: what it reads; nothing if absent.
        """
        process = self._process
        output, error = self._output, self._error = _Kept(most), _Kept(most)
        timed_out = True
        try:
            with anyio.move_on_after(seconds):
                async with anyio.create_task_group() as group:
                    group.start_soon(_feed, process, stdin)
                    group.start_soon(_read, process.stdout, output)
                    group.start_soon(_read, process.stderr, error)
                    await process.wait()
                    # What it left behind may hold its streams open for ever.
                    with anyio.move_on_after(_LAST_WORDS):
                        await output.over.wait()
                        await error.over.wait()
                    group.cancel_scope.cancel()
                timed_out = False
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(end_all, process.pid, self._mark)
                await process.aclose()
        code = 124 if timed_out else _code(process.returncode)
        cut = output.dropped or error.dropped
        return Ended(code, output.whole(), error.whole(), timed_out, cut)


async def _feed(process: Process, stdin: bytes | None) -> None:
    if process.stdin is None or stdin is None:
        return
    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.send(stdin)
    await process.stdin.aclose()


async def _read(stream: ByteReceiveStream | None, kept: _Kept) -> None:
    if stream is not None:
        with contextlib.suppress(anyio.EndOfStream, anyio.ClosedResourceError):
            while True:
                kept.add(await stream.receive(_CHUNK))
    kept.over.set()


class _Kept:
    """The beginning and the end of a stream."""

    def __init__(self, most: int) -> None:
        self.over = anyio.Event()
        self._half = max(most // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    @property
    def dropped(self) -> bool:
        return self._left_out > 0

    def add(self, data: bytes) -> None:
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        over = len(self._tail) - self._half
        if over > 0:
            del self._tail[:over]
            self._left_out += over

    def whole(self) -> bytes:
        if not self._left_out:
            return bytes(self._head + self._tail)
        gap = f"\n[{self._left_out} bytes left out]\n".encode()
        return bytes(self._head + gap + self._tail)


def end_all(pid: int, mark: str) -> None:
    """End a process, its group, and whatever else came of it."""
    for _ in range(_ROUNDS):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        found = list(_of(pid, mark))
        for process in found:
            with contextlib.suppress(psutil.Error):
                process.kill()
        if not found:
            return


def _of(pid: int, mark: str) -> Iterator[psutil.Process]:
    """What lives of a call: by its mark, or below what has it."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.status() == psutil.STATUS_ZOMBIE or process.pid == os.getpid():
                continue
            if process.ppid() == pid or process.environ().get(MARK) == mark:
                yield process
                yield from process.children(recursive=True)


def _code(status: int | None) -> int:
    """The exit code as shells have it."""
    if status is None:
        return 1
    return 128 - status if status < 0 else status


@contextlib.asynccontextmanager
async def lasting(
    warden: Sequence[str],
    argv: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    parting: float,
) -> AsyncIterator[Process]:
    """A program that is spoken with over its streams, for as long as the context lasts.

    Args:
        warden: what starts it, is given a descriptor, and ends all of it when that closes, also
            where this process is killed.
        argv: the program and its arguments; no shell.
        folder: where it works.
        environment: all of it, but for the mark.
        parting: seconds that it has to end by itself, once its input is closed.
    """
    mark = uuid.uuid4().hex
    theirs, ours = os.pipe()
    try:
        # Cancelled halfway, asyncio would lose a process that has been started.
        with anyio.CancelScope(shield=True):
            process = await anyio.open_process(
                [*warden, str(theirs), *argv],
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                cwd=folder,
                env={**environment, MARK: mark},
                start_new_session=True,
                pass_fds=[theirs],
            )
        try:
            yield process
        finally:
            with anyio.CancelScope(shield=True):
                await _part(process, parting)
                await anyio.to_thread.run_sync(end_all, process.pid, mark)
                await process.aclose()
    finally:
        os.close(theirs)
        os.close(ours)


async def _part(process: Process, seconds: float) -> None:
    if process.stdin is not None:
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            await process.stdin.aclose()
    with anyio.move_on_after(seconds):
        await process.wait()
