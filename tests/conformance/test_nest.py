"""Sandboxes inside a sandbox that was made for it: they work, and lead nowhere else."""

from __future__ import annotations

import signal

import pytest

from sandboxes.base import ROOT, Limits, Listen, Watch
from sandboxes.errors import SandboxError

pytestmark = pytest.mark.needs("nest")

BWRAP = "bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp"


@pytest.fixture
def room(make):
    return make(nest=True)


def test_bubblewrap_works_inside(room):
    assert room.ok(f"{BWRAP} sh -c 'echo x > /tmp/x; cat /tmp/x; ls /proc | head -n 1'") == "x\n1"
    assert room.ok(f"{BWRAP} {BWRAP.replace('--proc /proc', '')} echo deeper") == "deeper"


def test_what_is_mounted_inside_is_seen_by_nobody_else(room):
    script = "mount -t tmpfs x /workspace; echo x > /workspace/hidden; ls /workspace"
    assert room.ok(f"unshare -rm sh -c '{script}'") == "hidden"
    assert room.ok("ls /workspace") == ""
    assert set(room.sandbox.listing().workspace) == {"."}


@pytest.mark.parametrize("path", ["sys/kernel/core_pattern", "sys/vm/drop_caches", "sysrq-trigger"])
def test_the_machine_cannot_be_changed_through_a_proc_of_its_own(room, path):
    outcome = room.shell(f"unshare -rmpf --mount-proc sh -c 'echo 1 > /proc/{path}'")

    assert outcome.code != 0


def test_what_is_covered_cannot_be_uncovered(room):
    for path in ("/proc", "/proc/sys", "/proc/kcore", "/dev/null"):
        assert room.shell(f"unshare -rm umount {path}").code != 0, path
    assert room.ok("unshare -rm sh -c 'ls /proc/whole 2>/dev/null || true'") == ""


def test_no_device_can_be_made_or_brought_in(room):
    assert room.shell("unshare -rm mknod /workspace/disk b 8 0").code != 0
    script = "mount -t tmpfs x /mnt && mknod /mnt/null c 1 3"
    assert room.shell(f"unshare -rm sh -c '{script}'").code != 0
    assert room.shell("unshare -rm mount -t devtmpfs x /mnt").code != 0


def test_the_network_of_the_sandbox_is_not_theirs(make):
    room = make(nest=True, listens=[Listen("127.0.0.1", 8080)])

    down = "fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh', b'lo', 0))"
    code = f"import fcntl, socket, struct; {down}"
    assert b"PermissionError" in room.run("unshare", "-r", "python3", "-c", code).err
    assert room.run("unshare", "-rn", "python3", "-c", code).code == 0, "their own they may"


@pytest.mark.needs("user.root")
def test_nothing_runs_as_root_beside_them(room):
    """A /proc that the agent mounted and root were together more than either alone."""
    with pytest.raises(SandboxError, match="nest"):
        room.start("id", user=ROOT)
    assert room.ok("id -un") == "agent"


def test_what_runs_inside_is_listed_frozen_and_killed(room):
    running = room.start(*BWRAP.split(), "sh", "-c", "while :; do echo x; sleep 0.01; done")
    assert running.line() == "x"
    assert any("while :" in " ".join(argv) for argv in room.argvs())
    room.sandbox.freeze()
    assert running.silent(0.1)
    room.sandbox.thaw()
    assert running.line() == "x"
    room.sandbox.kill()
    assert room.sandbox.processes() == []
    assert running.finish().signal == signal.SIGKILL


@pytest.mark.needs("limits.pids")
def test_the_limit_of_processes_holds_inside(make):
    room = make(nest=True, limits=Limits(pids=20))
    script = "i=0; while [ $i -lt 40 ]; do sleep 9 & i=$((i+1)); done"

    assert room.shell(f"{BWRAP} sh -c '{script}'").code != 0
    room.sandbox.kill()


@pytest.mark.needs("limits.memory")
def test_the_limit_of_memory_holds_inside_for_programs_and_for_what_they_mount(make):
    room = make(nest=True, limits=Limits(memory=48 << 20, disk=8 << 20))

    assert room.shell(f"{BWRAP} tail /dev/zero").code != 0
    assert (room.sandbox.usage().oom_kills or 0) == 1
    assert room.shell(f"{BWRAP} dd if=/dev/zero of=/tmp/big bs=1M count=100").code != 0


def test_what_is_attempted_in_a_mount_namespace_of_its_own_is_not_counted(make):
    room = make(nest=True, watch=[Watch.NAMES])
    room.sandbox.watch("/workspace/secret")
    script = "mount -t tmpfs x /workspace; cat /workspace/secret"
    running = room.start("unshare", "-rm", "sh", "-c", script, watched=True)

    assert running.finish().code == 1
    assert room.sandbox.attempts("/workspace/secret").count() == 0
    room.start("cat", "/workspace/secret", watched=True).finish()
    assert room.sandbox.attempts("/workspace/secret").count() > 0
