"""Sandboxes in containers that are not joined: who gets one, and what the subject can do to it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandboxes.backends.docker import Docker
from sandboxes.base import ROOT, Listen, SandboxSpec
from sandboxes.errors import BackendUnavailable
from tests.conformance.conftest import WAYS, wanted
from tests.conformance.containers import found, knows, of_run
from tests.conformance.forwarding import forwarded
from tests.conformance.room import Room, eventually

pytestmark = [
    pytest.mark.engine,
    pytest.mark.xdist_group("docker"),
    pytest.mark.usefixtures("docker"),
]
CHECKOUT = Path(__file__).parents[2]
WEB = Listen("127.0.0.1", 80)
#: Makes a sandbox, has a program in it talk to a service, and says what it was told.
TRIAL = """
import os, sys
from sandboxes.backends.docker import Docker
from sandboxes.base import Listen, SandboxSpec
from tests.conformance.room import Room
web = Listen("127.0.0.1", 80)
with Docker().site(sys.argv[1]) as site:
    room = Room(site.create(SandboxSpec("one", listens=[web])))
    running = room.start("bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/80; read -u 3 x; echo $x")
    connection, _ = room.sandbox.listeners[web].accept()
    connection.sendall(b"hello\\n")
    connection.close()
    print(os.geteuid(), running.finish().text, room.leave())
"""


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """Where the engine is reached as from another machine."""
    engine = found()
    assert engine is not None
    with forwarded(engine.socket) as host:
        yield host


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("uid", [0, 65534])
def test_an_engine_behind_tcp_and_an_ordinary_user_get_the_same_sandbox(elsewhere, uid):
    """Whoever it is, there is a helper of its own and nothing of the engine's machine."""
    run = f"elsewhere-{os.getpid()}-{uid}"
    as_user = ["bash", "ci/parts/as-user"] if uid else []
    ended = subprocess.run(
        [*as_user, sys.executable, "-c", TRIAL, run],
        cwd=CHECKOUT,
        env={"DOCKER_HOST": elsewhere, "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ended.stdout, ended.stderr) == (f"{uid} hello []\n", "")
    assert of_run(run) == []


@pytest.fixture(params=WAYS, scope="module")
def room(request) -> Iterator[Room]:
    """A sandbox with a sidecar."""
    if request.param == "docker/runsc" and not knows("runsc"):
        pytest.skip("the engine knows no gVisor: apt-get install runsc, then ci/engine start")
    backend = WAYS[request.param]
    wanted(backend)
    with backend.site(f"sidecar-{os.getpid()}") as site:
        room = Room(site.create(SandboxSpec("one", listens=[WEB])))
        yield room
        assert room.leave() == []


def test_the_subject_can_neither_see_nor_signal_the_sidecar(room):
    """What it does see is pid 1, which is ours, and which it cannot signal either."""
    seen = room.run("python3", "-c", "import os; print(*filter(str.isdigit, os.listdir('/proc')))")
    assert len(seen.text.split()) == 2, "pid 1 and itself"
    for number in (signal.SIGKILL, signal.SIGSTOP):
        for pid in (1, -1):
            room.run("python3", "-c", f"import os; os.kill({pid}, {int(number)})")

    assert room.ok("echo works") == "works"


def test_the_subject_can_neither_read_nor_trace_pid_1(room):
    """gVisor shows what everybody may know: where memory is, and an environment that is empty."""
    code = """
import ctypes, os
for name in ("mem", "environ", "fd/0", "fd/1", "root/sys", "cwd/sys", "exe"):
    try:
        with open(f"/proc/1/{name}", "rb") as file:
            if file.read(4096).strip(b"\\0"):
                print("read", name)
    except OSError:
        pass
if ctypes.CDLL(None).ptrace(16, 1, None, None) == 0:
    print("traced")
"""
    assert room.run("python3", "-c", code).out == b""


def test_the_subject_holds_no_descriptor_but_its_own_streams(room):
    code = (
        "import os; print([fd for fd in range(3, 4096) if os.path.exists(f'/proc/self/fd/{fd}')])"
    )
    held = room.run("python3", "-c", code).text

    assert held == "[]"


def test_what_looks_like_a_frame_is_output_like_any_other(room):
    """A program can write what it likes: it travels as the contents of a pipe."""
    frames = bytes(range(256)) * 64 + b"\x02\0\0\0\0\0\0\0\x04ruin" * 200
    code = f"import os; os.write(1, {frames!r}); os.write(2, {frames!r})"
    outcome = room.run("python3", "-c", code)

    assert (outcome.out, outcome.err) == (frames, frames)
    assert room.ok("echo works") == "works"


def test_what_nobody_reads_stops_its_writer_and_nobody_else(room):
    flood = room.start("sh", "-c", "cat /dev/zero & cat /dev/zero >&2")
    assert room.ok("echo works") == "works"
    room.sandbox.freeze()
    assert len(room.sandbox.processes()) == 3
    room.sandbox.thaw()
    room.sandbox.kill()
    flood.close()

    assert room.ok("echo works") == "works"


def test_a_connection_that_is_reset_is_reset_at_the_other_end(room):
    code = (
        "import socket; sock = socket.create_connection(('127.0.0.1', 80))\n"
        "try: print(sock.recv(1))\n"
        "except ConnectionResetError: print('reset')"
    )
    running = room.start("python3", "-c", code)
    connection, _ = room.sandbox.listeners[WEB].accept()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    connection.close()

    assert running.finish().text == "reset"


def test_a_listener_that_refuses_is_refused_inside_until_it_admits(room):
    listener = room.sandbox.listeners[WEB]
    connect = "exec 3<>/dev/tcp/127.0.0.1/80"
    listener.shutdown(socket.SHUT_RDWR)
    eventually(lambda: b"refused" in room.run("bash", "-c", connect).err)
    listener.listen()
    eventually(lambda: room.run("bash", "-c", connect).code == 0)


def test_an_image_without_python_says_what_is_missing(tiny):
    tiny("bin/cat")
    run = f"bare-{os.getpid()}"
    with Docker(sidecar=True).site(run) as site:
        with pytest.raises(BackendUnavailable, match="python3") as caught:
            site.create(SandboxSpec("one"))
        assert "SHAKEOUT_IMAGE" in caught.value.remedy
        assert of_run(run) == []


def test_root_of_the_sandbox_is_not_root_of_the_container(room):
    assert room.shell("mount -t tmpfs none /mnt", user=ROOT).code != 0
    assert room.shell("echo 0 > /proc/sys/net/ipv6/conf/all/disable_ipv6", user=ROOT).code != 0
    assert room.shell("test -e /sys/fs/cgroup/memory", user=ROOT).code != 0
