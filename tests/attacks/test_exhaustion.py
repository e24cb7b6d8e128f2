"""Subjects that take all there is of something: they take it from themselves alone."""

from __future__ import annotations

import os
import select

import pytest

from sandboxes.base import Limits, SandboxSpec
from sandboxes.registry import BACKENDS
from tests.attacks.form import BUBBLEWRAP, DOCKER
from tests.conformance.conftest import wanted
from tests.conformance.room import PATIENCE, Room, Running

PLACES = [
    pytest.param(BUBBLEWRAP),
    pytest.param(DOCKER, marks=[pytest.mark.engine, pytest.mark.long]),
]
MEMORY = 96 << 20

_UNTIL_REFUSED = """
import ctypes, fcntl, mmap, os, resource, signal, socket, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
kept = []
def hoard():
{hoard}
end = time.monotonic() + 1
if os.fork() == 0:  # who dies for want of memory is not the main program
    try:
        while time.monotonic() < end:
            hoard()
    except (OSError, MemoryError):
        pass
    os.write(1, b"full\\n")
    time.sleep(60)
try:
    os.wait()
    os.write(1, b"dead\\n")
finally:
    time.sleep(60)
"""
HOARDS = {
    "descriptors under way": """
    ours, theirs = socket.socketpair()
    kept.append((ours, theirs))
    for _ in range(200):
        socket.send_fds(ours, [b"x"], [ours.fileno()] * 200, socket.MSG_DONTWAIT)
""",
    "pages in pipes": """
    reading, writing = os.pipe2(os.O_NONBLOCK)
    try: fcntl.fcntl(writing, 1031, 1 << 20)
    except OSError: pass
    kept.append((reading, writing))
    try:
        while True: os.write(writing, bytes(4096))
    except BlockingIOError: pass
""",
    "bytes in sockets": """
    kept.append(pair := socket.socketpair())
    pair[0].setblocking(False)
    try:
        while True: pair[0].send(bytes(65536))
    except BlockingIOError: pass
""",
    "shared memory": """
    libc.shmat.restype = ctypes.c_void_p
    segment = libc.shmget(0, 8 << 20, 0o1600)
    at = libc.shmat(segment, None, 0)
    if at is None or at == ctypes.c_void_p(-1).value: raise OSError
    ctypes.memset(at, 1, 8 << 20)
""",
    "queues of messages": """
    queue = libc.msgget(0, 0o1600)
    if queue < 0: raise OSError
    while libc.msgsnd(queue, ctypes.create_string_buffer(b"\\1" * 8000), 7000, 0o4000) == 0: pass
""",
    "watches": """
    watch = libc.inotify_init1(0o4000)
    if watch < 0: raise OSError
    kept.append(watch)
    for number in range(2000):
        os.makedirs("/tmp/w/%d" % number, exist_ok=True)
        if libc.inotify_add_watch(watch, b"/tmp/w/%d" % number, 0xfff) < 0: raise OSError
""",
    "locks": """
    if not kept: kept.append(open("/tmp/locked", "w"))
    for _ in range(1000):
        kept.append(0)
        fcntl.lockf(kept[0], fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 2 * len(kept))
""",
    "files": """
    for _ in range(1000):
        kept.append(0)
        os.mknod("/tmp/%d" % len(kept))
""",
    "the disk": """
    kept.append(open("/tmp/%d" % len(kept), "wb", buffering=0))
    for _ in range(64): kept[-1].write(bytes(1 << 20))
""",
    "memory of a file that has no name": """
    kept.append(os.memfd_create("x"))
    for _ in range(8): os.write(kept[-1], bytes(1 << 20))
""",
    "processes and threads": """
    if os.fork() == 0:
        try:
            while True: threading.Thread(target=time.sleep, args=(60,)).start()
        except RuntimeError: time.sleep(60)
""",
    "timers": """
    timer = ctypes.c_void_p()
    for _ in range(1000):
        if libc.timer_create(1, None, ctypes.byref(timer)) < 0: raise OSError
""",
}


def program(hoard: str) -> str:
    return _UNTIL_REFUSED.replace("{hoard}", hoard.strip("\n"))


def word(hoarding: Running) -> bytes:
    """What it says when it is refused more; nothing where all of it is dead."""
    assert select.select([hoarding.out], [], [], PATIENCE)[0], "it was never refused"
    return os.read(hoarding.out, 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLACES)
def test_whoever_takes_all_there_is_takes_it_from_nobody_else(name):
    wanted(BACKENDS[name])
    limits = Limits(memory=MEMORY, pids=48, disk=32 << 20)
    with BACKENDS[name].site(f"exhaustion-{os.getpid()}") as site:
        for number, (what, hoard) in enumerate(HOARDS.items()):
            room = Room(site.create(SandboxSpec(f"hoard{number}", limits=limits)))
            said = word(room.start("python3", "-c", program(hoard)))
            other = Room(site.create(SandboxSpec(f"other{number}", limits=limits)))

            assert said in {b"full\n", b"dead\n", b""}, what
            peak = room.sandbox.usage().memory_peak
            assert peak is None or peak <= MEMORY + (1 << 20), what
            assert other.ok("echo $(ls / | wc -l) > /tmp/x; cat /tmp/x") > "0", what
            room.sandbox.freeze()
            room.sandbox.listing()
            room.sandbox.kill()
            assert [*other.leave(), *room.leave()] == [], what
