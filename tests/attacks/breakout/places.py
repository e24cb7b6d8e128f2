"""Where breakouts are tried: our sandboxes, and weaker places."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from sandboxes.base import AGENT as AS_AGENT
from sandboxes.base import ROOT as AS_ROOT
from sandboxes.base import Backend, Limits, Mount, Root, SandboxSpec, Site
from tests.attacks.breakout.decoys import Decoys, StandIn, victim
from tests.attacks.breakout.form import NESTED, ROOT, Bare, Breakout, Naive, Seen
from tests.attacks.form import in_helper
from tests.conformance.room import ENV, Room, eventually, host_pid

RUNNER = (Path(__file__).parent / "inside.py").read_text()
SHOWN = "/opt/shown"
PATIENCE = 60.0
#: A user of this very process of the tests: what signals everybody must meet no other's.
_NOBODY_ELSE = 10_000_000 + os.getpid()
_NAIVE = (
    "bwrap --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib "
    "--symlink usr/lib64 /lib64 --proc /proc --dev /dev --tmpfs /tmp --dir /mnt --dir /workspace "
    "--dir /sys --unshare-pid --as-pid-1 --cap-add ALL --die-with-parent"
)


def order(tries: Sequence[Breakout], decoys: Decoys, shown: str) -> str:
    """What the program inside is told."""
    each = [(one.name, one.program) for one in tries]
    return json.dumps({"tries": each, "decoys": decoys.told(shown)})


def seen(lines: Sequence[str]) -> Seen:
    """What came out."""
    rows = [json.loads(line) for line in lines if line != "end"]
    return Seen(
        {name: out.encode("latin-1") for name, out, _ in rows},
        {name: ended for name, _, ended in rows},
    )


@contextlib.contextmanager
def site_on(
    host: StandIn, backend: Backend, source: str, folder: Path, patch: pytest.MonkeyPatch
) -> Iterator[Site]:
    """A site whose helper was started on the stand-in, and does something to itself."""
    folder.mkdir(exist_ok=True)
    with contextlib.ExitStack() as stack:
        if source:
            in_helper(source)(patch, folder)
        site = host.do(lambda: stack.enter_context(backend.site(f"breakout-{folder.name}"[:60])))
        yield site
        stack.close()


@contextlib.contextmanager
def room_in(site: Site, name: str, decoys: Decoys, *, nest: bool = False) -> Iterator[Room]:
    """A sandbox that shows one folder."""
    limits = Limits(memory=512 << 20, pids=128, disk=64 << 20)
    mounts = [Mount(decoys.shown, SHOWN)]
    room = Room(site.create(SandboxSpec(name, limits=limits, mounts=mounts, nest=nest)))
    try:
        yield room
    finally:
        left = room.leave()
    assert list(left) == []


def tried_in(room: Room, user: str, tries: Sequence[Breakout], decoys: Decoys) -> Seen:
    """Try them in one of our sandboxes."""

    def made(name: str):
        fd = room.sandbox.open(Root.WORKSPACE, name)
        return None if fd is None else _status(fd)

    decoys.made = made
    words = ["python3", "-c", RUNNER, order(tries, decoys, SHOWN)]
    before = ["unshare", "-rm"] if user == NESTED else []
    running = room.start(*before, *words, user=AS_ROOT if user == ROOT else AS_AGENT)
    outcome = running.finish(PATIENCE)
    assert outcome.err == b"", outcome.err.decode()
    return seen(outcome.text.splitlines())


def neighbours(room: Room, decoys: Decoys) -> dict[str, int]:
    """Processes of another trial: of the very user that the subject has."""
    words = ["sleep", f"119.{int(decoys.token, 16)}"]
    room.start(*words, env=ENV)
    return {"neighbour": eventually(lambda: host_pid(words[1]))}


@contextlib.contextmanager
def tried_weakly(
    place: Naive | Bare, one: Breakout, decoys: Decoys, host: StandIn
) -> Iterator[Seen]:
    """Try one in a weaker place of its own; what it left behind lives until the end."""
    with contextlib.ExitStack() as stack:
        uid = 0 if isinstance(place, Naive) or place.root else _NOBODY_ELSE
        decoys.victims["own"] = stack.enter_context(victim(uid))
        argv = _naive(one, decoys) if isinstance(place, Naive) else _bare(place, one, decoys)
        leaked = _leaked(place, host, stack)
        process = host.do(
            lambda: subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=uid, group=uid,
                extra_groups=[], pass_fds=leaked, text=True, cwd="/",
            )
        )  # fmt: skip
        stack.callback(lambda: _end(process, decoys, one))
        output = process.stdout
        assert output is not None
        lines = []
        while (line := output.readline().strip()) not in {"end", ""}:
            lines.append(line)
        yield seen(lines)


def _naive(one: Breakout, decoys: Decoys) -> list[str]:
    """Pid 1 there is the program that tries, with something to find in its memory."""
    memory = (
        f"import os\nmemory = {decoys.canary.encode()!r}\nheld = os.open('{SHOWN}/private', 0)\n"
    )
    where = ["--ro-bind", str(decoys.shown), SHOWN]
    program = ["python3", "-c", memory + RUNNER, order([one], decoys, SHOWN)]
    return ["prlimit", "--nofile=1024:1024", *_NAIVE.split(), *where, *program]


def _bare(place: Bare, one: Breakout, decoys: Decoys) -> list[str]:
    apart = ["unshare", *place.options] if place.options else []
    return [*apart, "/usr/bin/python3", "-c", RUNNER, order([one], decoys, str(decoys.shown))]


def _leaked(place: Naive | Bare, host: StandIn, stack: contextlib.ExitStack) -> list[int]:
    if not isinstance(place, Bare) or not place.options:
        return []
    namespace = host.do(lambda: os.open("/proc/thread-self/ns/net", os.O_RDONLY))
    stack.callback(os.close, namespace)
    return [namespace]


def _end(process: subprocess.Popen[str], decoys: Decoys, one: Breakout) -> None:
    if left := decoys.left(one.name):
        os.kill(left, signal.SIGKILL)
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    process.wait(10)


def _status(fd: int) -> os.stat_result:
    try:
        return os.fstat(fd)
    finally:
        os.close(fd)
