"""Live checks of what a sandbox can do, each by doing it once.

A check gives by what it worked. An error of the place, or an answer that is not the expected
one, is a capability that is missing. They speak to the contract only, so every backend uses
the same ones.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

from sandboxes import checks_of_calls, clock, wall
from sandboxes.base import AGENT, ROOT, Limits, Listen, ProcessSpec
from sandboxes.bench import PATIENCE, Bench, Missing, expect
from sandboxes.capabilities import CAPABILITIES, NEST

LIMITS = Limits(memory=48 << 20, pids=24, disk=8 << 20)
WEB = Listen("127.0.0.1", 80)
ZONE, _ZONE_SHOWN = "Asia/Kathmandu", "+0545"
_YEARS = 10 * 365 * 86400
_OUTSIDE = "192.0.2.1"  # reserved for documentation

Check = Callable[[Bench], str]


def _zone(bench: Bench) -> str:
    _, shown = bench.run("date", "+%z")
    expect(shown.strip() == _ZONE_SHOWN, f"{ZONE} showed as {shown.strip()!r}")
    return "/etc/localtime"


def _wall(bench: Bench) -> str:
    expect(wall.built() is not None, "the preload shim is not built")
    bench.sandbox.set_wall_clock(_YEARS * 10**9)
    _, shown = bench.run("env", "-i", "/bin/date", "+%s")
    bench.sandbox.set_wall_clock(0)
    off = int(shown.strip() or 0) - clock.wall() - _YEARS
    expect(abs(off) < 60, f"date was {off:.0f} s off the wanted time")
    return "preload shim over the real-time clocks; static programs keep real time"


def _separate(bench: Bench) -> str:
    expect(bench.grade == "root", "every user inside is the user who started this")
    code, uid = bench.run("id", "-u")
    expect(code == 0 and int(uid) != 0, f"the agent's uid is {uid.strip()}")
    return f"kernel uid {uid.strip()}"


def _root(bench: Bench) -> str:
    code, uid = bench.run("id", "-u", user=ROOT)
    expect(code == 0 and uid.strip() == "0", f"a step as root ran as {uid.strip()!r}")
    return "kernel uid 0 without capabilities"


def _system(bench: Bench) -> str:
    code, _ = bench.run("touch", "/etc/shakeout-probe", user=ROOT)
    expect(code == 0, "root of the sandbox cannot write /etc")
    changed = {change.path for change in bench.sandbox.listing().system}
    expect("/etc/shakeout-probe" in changed, "a new file in /etc was not recorded")
    return "upper layer of an overlay"


def _nameless(bench: Bench) -> str:
    bench.sandbox.name_agent(named=False)
    nameless, _ = bench.run("id", "-un")
    bench.sandbox.name_agent(named=True)
    _, name = bench.run("id", "-un")
    expect(nameless == 1, f"id -un ended with {nameless} where there was no entry")
    expect(name.strip() == AGENT, f"the agent was called {name.strip()!r} afterwards")
    return "another password file"


def _inspected(bench: Bench) -> str:
    reading, writing = os.pipe()
    pipe = os.fstat(reading).st_ino
    try:
        env = {"PATH": "/usr/bin:/bin", "PROBE": "1"}
        spec = ProcessSpec(["cat"], env, writing, writing, stdin=reading, inspected=True)
        number = bench.sandbox.start(spec)
        began = bench.sandbox.beginning(number)
        end = clock.monotonic() + PATIENCE
        while not bench.sandbox.waiting(pipe) and clock.monotonic() < end:
            clock.sleep(0.001)
        waits = bench.sandbox.waiting(pipe)
        bench.sandbox.signal(number, signal.SIGKILL)
        bench.end(number)
    finally:
        os.close(reading)
        os.close(writing)
    expect(began is not None and began.env == env, f"its beginning showed as {began}")
    expect(waits == 1, f"{waits} threads waited for the pipe")
    return "a look between execve and the first instruction, and /proc/PID/syscall"


def _no_network(bench: Bench) -> str:
    _, text = bench.run("cat", "/proc/net/dev")
    names = {line.split(":")[0].strip() for line in text.splitlines() if ":" in line}
    expect(names == {"lo"}, f"devices inside: {sorted(names)}")
    return "a network namespace with a loopback device alone"


def _connect(bench: Bench, host: str, port: int) -> int | None:
    return bench.run("bash", "-c", f"exec 3<>/dev/tcp/{host}/{port} && read -t 1 -u 3 x")[0]


def _services(bench: Bench) -> str:
    listener = bench.sandbox.listeners[WEB]
    listener.settimeout(PATIENCE)
    with Path(os.devnull).open("wb") as null:
        number = bench.start(
            "bash",
            "-c",
            f"read -r x < /dev/tcp/{WEB.host}/{WEB.port}; test $x = hello",
            fd=null.fileno(),
        )
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"hello\n")
            code = bench.end(number)
    expect(code == 0, "what was sent from outside did not arrive")
    return "a listener of the sandbox's network namespace, handed out as a descriptor"


def _counter(bench: Bench) -> str:
    packets = bench.sandbox.packets
    if packets is None:
        raise Missing("no packet socket in the sandbox's network namespace")
    with contextlib.suppress(BlockingIOError):
        while packets.recv(256):
            pass
    _connect(bench, _OUTSIDE, 9)
    expect(bool(select.select([packets], [], [], 0.2)[0]), f"a packet to {_OUTSIDE} was not seen")
    expect(packets.recv(256)[16:20] == socket.inet_aton(_OUTSIDE), "another packet was seen")
    return "a filtered packet socket on the loopback device"


def _disk(bench: Bench) -> str:
    code, _ = bench.run("dd", "if=/dev/zero", "of=big", "bs=1M", f"count={LIMITS.disk >> 19}")
    held = sum(entry.size for entry in bench.sandbox.listing().workspace.values())
    bench.run("rm", "big")
    expect(
        code != 0 and held <= LIMITS.disk,
        f"{held} bytes were written, the limit is {LIMITS.disk}",
    )
    return "size of the private file system"


def _resize(bench: Bench) -> str:
    bench.sandbox.resize(0)
    full, _ = bench.run("sh", "-c", "echo x > y")
    bench.sandbox.resize(None)
    free, _ = bench.run("sh", "-c", "echo x > y")
    expect(full != 0 and free == 0, f"a write gave {full} when full and {free} afterwards")
    return "remount of the private file system"


def _remount(bench: Bench) -> str:
    bench.sandbox.remount("/workspace", read_only=True)
    fixed, _ = bench.run("touch", "/workspace/z")
    bench.sandbox.remount("/workspace", read_only=False)
    free, _ = bench.run("touch", "/workspace/z")
    expect(fixed != 0 and free == 0, f"touch gave {fixed} when read-only and {free} afterwards")
    return "remount of the bind mount"


def _freeze(bench: Bench) -> str:
    reading, writing = os.pipe2(os.O_NONBLOCK)
    with os.fdopen(reading, "rb", buffering=0) as output:
        bench.start("sh", "-c", "while :; do echo x; sleep 0.002; done", fd=writing)
        os.close(writing)
        expect(bool(select.select([reading], [], [], PATIENCE)[0]), "the program never wrote")
        bench.sandbox.freeze()
        output.read(1 << 16)
        still = bool(select.select([reading], [], [], 0.01)[0])
        bench.sandbox.thaw()
        goes_on = bool(select.select([reading], [], [], PATIENCE)[0])
        bench.sandbox.kill()
    bench.sandbox.wait(PATIENCE)
    expect(
        not still and goes_on,
        f"frozen it {'wrote' if still else 'was silent'}, thawed it {'wrote' if goes_on else 'was silent'}",
    )
    return "by cgroup, else by signals from pid 1 until every process is seen stopped"


def _pids(bench: Bench) -> str:
    code, _ = bench.run(
        "sh", "-c", f"i=0; while [ $i -lt {LIMITS.pids * 2} ]; do sleep 9 & i=$((i+1)); done"
    )
    there = len(bench.sandbox.processes())
    expect(code != 0 and there <= LIMITS.pids, f"{there} processes, the limit is {LIMITS.pids}")
    return (
        "cgroup"
        if bench.sandbox.usage().pids_refused is not None
        else "RLIMIT_NPROC of a user namespace"
    )


def _memory(bench: Bench) -> str:
    before = bench.sandbox.usage().oom_kills
    expect(before is not None, "there is no control group for memory")
    code, _ = bench.run("tail", "/dev/zero")  # it looks for a line end, and keeps all until then
    after = bench.sandbox.usage().oom_kills or 0
    expect(code is None and after > (before or 0), f"a program without bounds ended with {code}")
    return "memory cgroup, swap included"


def _nest(bench: Bench) -> str:
    inner = "bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp"
    code, said = bench.run(*inner.split(), "touch", "/tmp/made")  # noqa: S108 - a path inside
    expect(code == 0, f"bubblewrap inside ended with {code}: {said.strip()}")
    return "user namespaces with mounts of their own, tried by bubblewrap inside"


#: By capability; cheap ones first, and those that make a mess last.
CHECKS: Mapping[str, Check] = {
    "clock.zone": _zone,
    "clock.wall": _wall,
    "user.separate": _separate,
    "user.root": _root,
    "files.system": _system,
    "files.attempts": checks_of_calls.attempts,
    "files.locks": checks_of_calls.locks,
    "files.answers": checks_of_calls.answers,
    "files.holds": checks_of_calls.holds,
    "process.descriptors": checks_of_calls.descriptors,
    "user.nameless": _nameless,
    "processes.inspected": _inspected,
    "network.none": _no_network,
    "network.services": _services,
    "network.low-ports": _services,
    "network.counter": _counter,
    "network.binds": checks_of_calls.binds,
    "limits.disk": _disk,
    "disk.resize": _resize,
    "remount": _remount,
    "freeze": _freeze,
    "limits.pids": _pids,
    "limits.memory": _memory,
    "oom": _memory,
    NEST: _nest,
}
assert set(CHECKS) == set(CAPABILITIES)  # noqa: S101 - a capability without a check is a bug
