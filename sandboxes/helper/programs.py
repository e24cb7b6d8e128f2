"""Programs of the system that are taken away, or that leave children behind, for a while.

The files move within their own overlay, so that they are the same when they are back, and the
listing of what changed shows nothing of it.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sandboxes.helper import kernel, paths, processes, resolving, stage
from sandboxes.helper.calls import AT_FDCWD
from sandboxes.helper.ground import Failed
from sandboxes.helper.overlay import Layer

_MERGED = {"/": stage.ROOT, "/usr": stage.USR}
_CONFIGURATION = b"shakeout: milliseconds, NUL, path of the program"
_LONGEST = 4000
_LOOKS = 20
_POLL = 0.005

#: A file by its device and its number on it.
File = tuple[int, int]


def places(root: int, name: str, path: str) -> list[str]:
    """Every place where a program is found: absolute, its folder without links.

    Args:
        root: the root folder inside.
        name: of the program, or an absolute path.
        path: the folders to look it up in, with ``:`` between them.
    """
    folders = [""] if name.startswith("/") else path.split(":")
    found: dict[str, None] = {}
    for folder in folders:
        text = posixpath.join("/workspace", folder, name)
        where, missing = resolving.resolve(root, os.fsencode(text), follow=False)
        if not missing:
            found[os.fsdecode(where)] = None
    return list(found)


@dataclass(frozen=True, slots=True)
class _Place:
    """A file of an overlay: the folder that is mounted there, and its path below that."""

    merged: str
    prefix: str
    path: str

    @classmethod
    def of(cls, layers: list[Layer], root: int, path: str) -> _Place:
        for layer in sorted(layers, key=lambda each: len(each.prefix), reverse=True):
            prefix = layer.prefix.rstrip("/")
            if path.startswith(f"{prefix}/"):
                place = cls(_MERGED[layer.prefix], prefix, path.removeprefix(f"{prefix}/"))
                if place._is(root, path):
                    return place
                break
        raise Failed(f"{path!r} is no file of the system that can be taken away: it is mounted")

    def _is(self, root: int, path: str) -> bool:
        """Whether it is what there is inside, and not something below a mount."""
        with contextlib.suppress(OSError):
            inside = kernel.open_in(root, os.fsencode(path), os.O_PATH | os.O_NOFOLLOW, _WITHIN)
            try:
                with self.parent() as at:
                    return os.path.samestat(os.fstat(inside), os.lstat(at.name, dir_fd=at.fd))
            finally:
                os.close(inside)
        return False

    @contextlib.contextmanager
    def parent(self) -> Iterator[paths.Parent]:
        folder = stage.open_folder(self.merged)
        try:
            with paths.Parent(folder, self.path) as at:
                yield at
        finally:
            os.close(folder)


_WITHIN = kernel.RESOLVE_IN_ROOT | kernel.RESOLVE_NO_MAGICLINKS


@dataclass(slots=True)
class Programs:
    """What stands in for programs now.

    Attributes:
        stand_ins: files that leave a child behind when they are run.
    """

    stand_ins: set[File] = field(default_factory=set)

    def hide(self, layers: list[Layer], root: int, path: str) -> Callable[[], None]:
        """Take a program away; gives the way back."""
        place = _Place.of(layers, root, path)
        aside = _Aside.make(place, 0o700)
        return aside.put_back

    def burden(
        self, layers: list[Layer], root: int, path: str, program: bytes, milliseconds: int
    ) -> Callable[[], None]:
        """Have each start of a program leave a child behind; gives the way back."""
        place = _Place.of(layers, root, path)
        target, missing = resolving.resolve(root, os.fsencode(path), follow=True)
        if missing:
            raise Failed(f"{path!r} is a link that leads nowhere, so it cannot be started")
        aside = _Aside.make(place, 0o711)
        try:
            real = aside.path.encode() if target == os.fsencode(path) else target
            file = aside.stand_in(_configured(program, milliseconds, real))
        except BaseException:
            aside.put_back()
            raise
        self.stand_ins.add(file)

        def back() -> None:
            aside.put_back(file)
            _end(file)
            self.stand_ins.discard(file)

        return back


@dataclass(frozen=True, slots=True)
class _Aside:
    """A file that was put aside into a folder of its own at the top of its overlay."""

    place: _Place
    folder: str

    @classmethod
    def make(cls, place: _Place, mode: int) -> _Aside:
        aside = cls(place, f".shakeout-{os.urandom(8).hex()}")
        os.mkdir(aside._outside, mode)
        os.chmod(aside._outside, mode)
        try:
            with place.parent() as at:
                os.rename(at.name, aside._kept, src_dir_fd=at.fd)
        except BaseException:
            os.rmdir(aside._outside)
            raise
        return aside

    @property
    def _outside(self) -> str:
        return f"{self.place.merged}/{self.folder}"

    @property
    def _kept(self) -> str:
        return f"{self._outside}/{posixpath.basename(self.place.path)}"

    @property
    def path(self) -> str:
        """Where it is now, inside."""
        return f"{self.place.prefix}/{self.folder}/{posixpath.basename(self.place.path)}"

    def stand_in(self, program: bytes) -> File:
        """Put something else in its place, which all may run and nobody read."""
        with self.place.parent() as at:
            fd = os.open(at.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700, dir_fd=at.fd)
            with os.fdopen(fd, "wb") as file:
                file.write(program)
                os.fchmod(fd, 0o711)
            return _identity(os.lstat(at.name, dir_fd=at.fd))

    def put_back(self, instead_of: File | None = None) -> None:
        """Bring it back in the place of what stands in for it; what else is there now stays."""
        with contextlib.suppress(FileNotFoundError), self.place.parent() as at:
            with contextlib.suppress(FileNotFoundError):
                if _identity(os.lstat(at.name, dir_fd=at.fd)) == instead_of:
                    os.unlink(at.name, dir_fd=at.fd)
            with contextlib.suppress(FileExistsError):
                kernel.rename_to_free(AT_FDCWD, os.fsencode(self._kept), at.fd, at.name)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._kept)
        os.rmdir(self._outside)


def _configured(program: bytes, milliseconds: int, real: bytes) -> bytes:
    text = b"%d\0%s\0" % (milliseconds, real)
    start = program.find(_CONFIGURATION)
    if start < 0 or len(text) > _LONGEST:
        raise Failed("the program that is to stand in cannot be told what it stands in for")
    return program[:start] + text + program[start + len(text) :]


def lingering(stand_ins: set[File], filters: int = 0) -> list[int]:
    """The children that programs have left behind and that live.

    Args:
        stand_ins: the files that stand in for those programs.
        filters: how many system-call filters each has to carry.
    """
    if not stand_ins:
        return []
    return [pid for pid in processes.pids(stage.PROC) if lingers(pid, stand_ins, filters)]


def lingers(pid: int, stand_ins: set[File], filters: int = 0) -> bool:
    """Whether a process is such a child, and not one that is about to be, or a program's start."""
    folder = f"{stage.PROC}/{pid}"
    with contextlib.suppress(OSError, ValueError, StopIteration):
        return (
            _identity(os.stat(f"{folder}/exe")) in stand_ins
            and processes.blocks(folder, signal.SIGRTMAX)
            and processes.filters(folder) >= filters
        )
    return False


def _end(file: File) -> None:
    """Kill the children, those too that are only just being left behind."""
    for _ in range(_LOOKS):
        there = [pid for pid in processes.pids(stage.PROC) if _runs(pid, file)]
        if not there:
            return
        for pid in there:
            if lingers(pid, {file}):
                _kill(pid)
        time.sleep(_POLL)


def _runs(pid: int, file: File) -> bool:
    with contextlib.suppress(OSError):
        return _identity(os.stat(f"{stage.PROC}/{pid}/exe")) == file
    return False


def _kill(pid: int) -> None:
    with contextlib.suppress(OSError):
        handle = os.open(f"{stage.PROC}/{pid}", os.O_RDONLY | os.O_DIRECTORY)
        try:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)


def _identity(status: os.stat_result) -> File:
    return status.st_dev, status.st_ino
