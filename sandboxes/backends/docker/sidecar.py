"""What makes a container keep its sandbox itself, where it cannot be joined from outside.

The helper's own code, standard library only, is sent to the Python of the image, and so is
whatever of this machine is shown inside. Everything else goes through the stream that the
container is attached by (:mod:`sandboxes.helper.relay`).
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import io
import marshal
import os
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sandboxes import helper, wall
from sandboxes.base import SandboxSpec
from sandboxes.errors import SandboxError

#: The image's program, and what else the engine is asked for.
PYTHON = "python3"
#: Memory and processes beyond the limits, for what is not the subject's.
MEMORY, PROCESSES = 96 << 20, 8
CAPABILITIES = (
    "CHOWN",
    "DAC_OVERRIDE",
    "DAC_READ_SEARCH",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_ADMIN",
    "NET_BIND_SERVICE",
    "NET_RAW",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_ADMIN",
    "SYS_CHROOT",
    "SYS_PTRACE",
)
REMEDY = "ci/engine image in a checkout; or set SHAKEOUT_IMAGE to one with Python 3.11 or later"
_LENGTH = 8
_OLDEST = (3, 11)
_BEGIN = f"""\
import os, sys
def take(size):
    data = b""
    while len(data) < size:
        piece = os.read(0, size - len(data))
        if not piece:
            os._exit(0)
        data += piece
    return data
code = take(int.from_bytes(take({_LENGTH}), "big"))
if sys.version_info < {_OLDEST}:
    sys.exit("the image has Python %d.%d, {_OLDEST[0]}.{_OLDEST[1]} is needed" % sys.version_info[:2])
fd = os.memfd_create("sidecar")
with open(fd, "wb", closefd=False) as file:
    file.write(code)
sys.path.insert(0, "/proc/self/fd/%d" % fd)
from sandboxes.helper import inside
inside.main()
"""


def command() -> Sequence[str]:
    """The program of the container."""
    return [PYTHON, "-I", "-S", "-c", _BEGIN]


@functools.cache
def code() -> bytes:
    """What that program takes from its input first."""
    folder = Path(helper.__file__).parent
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for path in (folder.parent / "__init__.py", *sorted(folder.glob("*.py"))):
            name = path.relative_to(folder.parent.parent).as_posix()
            source = path.read_bytes()
            file.writestr(name, source)
            file.writestr(f"{name}c", _compiled(source, name))
    data = archive.getvalue()
    return len(data).to_bytes(_LENGTH, "big") + data


def _compiled(source: bytes, name: str) -> bytes:
    """As Python keeps it, taken on trust; another version of Python takes the source instead."""
    unchecked = (1).to_bytes(4, "little") + importlib.util.source_hash(source)
    return importlib.util.MAGIC_NUMBER + unchecked + marshal.dumps(compile(source, name, "exec"))


@contextlib.contextmanager
def brought(spec: SandboxSpec) -> Iterator[Sequence[int]]:
    """What of this machine is shown inside, to be read from a descriptor as it is wanted."""
    paths = {str(number): str(mount.source) for number, mount in enumerate(spec.mounts)}
    if spec.wall_clock:
        paths["shim"] = str(wall.library())
    if absent := [path for path in paths.values() if not Path(path).exists()]:
        raise SandboxError(f"{', '.join(absent)} is not there to be shown inside")
    if not paths:
        yield []
        return
    reading, writing = os.pipe()
    thread = threading.Thread(target=_pack, args=(writing, paths), daemon=True)
    thread.start()
    try:
        yield [reading]
    finally:
        os.close(reading)
        thread.join()


def _pack(writing: int, paths: Mapping[str, str]) -> None:
    with (
        contextlib.suppress(BrokenPipeError),
        os.fdopen(writing, "wb") as file,
        tarfile.open(fileobj=file, mode="w|") as archive,
    ):
        for name, path in paths.items():
            archive.add(os.path.realpath(path), name)
