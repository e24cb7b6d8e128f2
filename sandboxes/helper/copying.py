"""Copies of trees that the subject controls: by descriptor, with no link followed."""

from __future__ import annotations

import os
import stat

from sandboxes.helper import paths

_DEEPEST = 100
_CHUNK = 1 << 20
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOATIME


def copy(folder: int, name: bytes, to_folder: int, to: bytes, depth: int = 0) -> None:
    """Copy a file, link or folder with all that is in it, with modes, owners and times.

    Sockets, fifos and devices are left out.

    Raises:
        paths.Refused: it is nested too deep.
    """
    status = os.lstat(name, dir_fd=folder)
    if stat.S_ISLNK(status.st_mode):
        os.symlink(os.readlink(name, dir_fd=folder), to, dir_fd=to_folder)
    elif stat.S_ISREG(status.st_mode):
        _copy_file(folder, name, to_folder, to)
    elif stat.S_ISDIR(status.st_mode):
        if depth == _DEEPEST:
            msg = f"{os.fsdecode(name)!r} is nested deeper than {_DEEPEST} folders: not copied"
            raise paths.Refused(msg)
        _copy_folder(folder, name, to_folder, to, depth)
    else:
        return
    os.chown(to, status.st_uid, status.st_gid, dir_fd=to_folder, follow_symlinks=False)
    if not stat.S_ISLNK(status.st_mode):
        os.chmod(to, stat.S_IMODE(status.st_mode), dir_fd=to_folder)
    times = (status.st_atime_ns, status.st_mtime_ns)
    os.utime(to, ns=times, dir_fd=to_folder, follow_symlinks=False)


def _copy_file(folder: int, name: bytes, to_folder: int, to: bytes) -> None:
    old = os.open(name, _FILE, dir_fd=folder)
    try:
        new = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=to_folder)
        try:
            while os.sendfile(new, old, None, _CHUNK):
                pass
        finally:
            os.close(new)
    finally:
        os.close(old)


def _copy_folder(folder: int, name: bytes, to_folder: int, to: bytes, depth: int) -> None:
    os.mkdir(to, 0o700, dir_fd=to_folder)
    old = paths.open_folder(folder, [name])
    try:
        new = paths.open_folder(to_folder, [to])
        try:
            for each in map(os.fsencode, os.listdir(old)):
                copy(old, each, new, each, depth + 1)
        finally:
            os.close(new)
    finally:
        os.close(old)
