"""Decoys are put all over the machine; from inside, none of them can be reached."""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sandboxes.base import Mount

CANARY = "canary-" + secrets.token_hex(8)


@pytest.fixture(params=[False, True], ids=["plain", "nest"])
def room(make, place, request):
    """A sandbox, without and with sandboxes inside, which must widen nothing of this."""
    if request.param and "nest" in place.gaps:
        pytest.skip(f"{place.kind} has no nest")
    return make(nest=request.param)


@pytest.fixture
def decoys():
    """Things of the host that a subject must not get at."""
    folder = Path(tempfile.mkdtemp(prefix="decoy-"))
    folder.chmod(0o755)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder)
        (folder / "public").write_text(CANARY)
        (folder / "private").write_text(CANARY)
        (folder / "private").chmod(0o600)
        path = stack.enter_context(socket.socket(socket.AF_UNIX))
        path.bind(str(folder / "socket"))
        path.listen()
        (folder / "socket").chmod(0o777)
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind(f"\0{CANARY}")
        abstract.listen()
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", CANARY])
        stack.callback(process.wait)
        stack.callback(process.kill)
        yield {"folder": folder, "port": tcp.getsockname()[1], "pid": process.pid}


def test_no_file_of_the_host_is_there(room, decoys):
    folder = decoys["folder"]

    for name in ("", "public", "private", "socket"):
        assert room.shell(f"ls {folder}/{name}").code != 0
    assert room.shell(f"cat {folder}/public /proc/*/root{folder}/public").out == b""


def test_private_files_are_not_readable(room):
    assert room.shell("cat /etc/shadow /etc/gshadow").out == b""
    assert room.ok("ls /home; ls /root 2>/dev/null || true; ls /srv; ls /sys") == "agent"


def test_what_is_shown_of_the_host_is_a_list(room, place):
    if place.shows_an_image:
        pytest.skip("nothing is shown of the host")
    listed = room.ok(
        "ls /etc /root /run /var/lib /home /srv /mnt /opt 2>/dev/null | tr '\\n' ' '"
    ).split()

    assert set(listed).isdisjoint(
        {"shadow", "gshadow", "ssh", "sudoers", "docker.sock", "dbus", "systemd"}
    )
    assert room.ok("ls /root; ls /var/lib") == ""


def test_nothing_below_the_root_is_readable_that_is_private_on_the_host(room):
    """Whatever is shown of the host is what everybody may read there."""
    if os.geteuid():
        pytest.skip("a file that root alone may read can only be planted by root")
    with tempfile.NamedTemporaryFile(dir="/usr/share", prefix="decoy-") as file:
        file.write(CANARY.encode())
        file.flush()
        assert room.shell(f"cat {file.name}").out == b""


def test_no_socket_of_the_host_answers(room, decoys):
    code = f"""
import socket
for family, address in ((socket.AF_UNIX, b'\\0{CANARY}'), (socket.AF_UNIX, '{decoys["folder"]}/socket'),
                        (socket.AF_INET, ('127.0.0.1', {decoys["port"]}))):
    try: socket.socket(family).connect(address); print('reached', address)
    except OSError: pass
"""
    assert room.run("python3", "-c", code).text == ""


def test_a_socket_in_a_mounted_folder_is_the_only_one_and_was_asked_for(make, place, decoys):
    """A read-only bind does not stop connect: mounts are what the case's owner chose to show.

    What is sent to a container is a copy, in which there are no sockets.
    """
    room = make(mounts=[Mount(decoys["folder"], "/opt/shown")])

    shown = [] if place.apart else ["/opt/shown/socket"]
    assert room.ok("find / -type s 2>/dev/null || true").split() == shown


def test_no_process_of_the_host_is_seen_or_signalled(room, decoys):
    assert CANARY not in room.ok("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
    assert room.run("python3", "-c", f"import os; os.kill({decoys['pid']}, 0)").code != 0
    pids = [int(name) for name in room.ok("ls /proc | grep '^[0-9]'").split()]
    assert max(pids) < 100


def test_the_environment_and_names_of_the_host_do_not_show(room, monkeypatch):
    monkeypatch.setenv("DECOY", CANARY)
    shown = room.shell(
        "env; cat /proc/self/environ /proc/1/environ; hostname; cat /etc/hostname"
    ).out

    assert CANARY.encode() not in shown
    assert room.ok("hostname") == "sandbox"
    host = socket.gethostname()
    assert host == "sandbox" or host.encode() not in shown


def test_pid_1_tells_nothing_of_the_harness(room):
    assert room.ok("tr -d '\\0' < /proc/1/cmdline; echo; cat /proc/1/comm") == "init\ninit"
    for what in ("environ", "fd/", "root/", "maps", "cwd/", "mem"):
        assert room.shell(f"ls /proc/1/{what} && cat /proc/1/{what}").code != 0, what
    assert room.ok("cat /proc/self/cgroup | cut -d: -f3 | sort -u") == "/"


def test_nothing_of_the_machine_can_be_changed_through_proc(room):
    for path in (
        "sys/kernel/hostname",
        "sys/vm/drop_caches",
        "sys/net/ipv4/ip_forward",
        "sysrq-trigger",
    ):
        assert room.shell(f"echo 1 > /proc/{path}").code != 0, path
    assert room.shell("cat /proc/kcore | head -c 10").out == b""


def test_no_namespace_and_no_mount_can_be_made(make):
    room = make()
    for command in (
        "unshare -r true",
        "unshare -m true",
        "unshare -rn true",
        "mount -t tmpfs x /tmp",
    ):
        assert room.shell(command).code != 0, command


def test_no_family_of_sockets_leads_past_the_network_namespace(room):
    code = """
import socket
for family in (socket.AF_VSOCK, socket.AF_PACKET):
    try: socket.socket(family, socket.SOCK_STREAM if family == socket.AF_VSOCK else socket.SOCK_RAW); print(family)
    except OSError: pass
"""
    assert room.run("python3", "-c", code).text == ""


def test_only_harmless_devices_are_there(room):
    found = room.ok("find /dev -type b -o -type c | sort").split()

    assert set(found) <= {
        f"/dev/{name}"
        for name in (
            "null",
            "zero",
            "full",
            "random",
            "urandom",
            "tty",
            "console",
            "ptmx",
            "pts/ptmx",
        )
    }


def test_what_is_written_inside_is_nowhere_outside(room):
    name = f"written-{secrets.token_hex(8)}"
    room.ok(f"for d in ~ /workspace /tmp /var/tmp /dev/shm; do echo x > $d/{name}; done")

    for folder in ("/tmp", "/var/tmp", "/dev/shm", str(Path.home()), "/"):
        assert not (Path(folder) / name).exists()


def test_another_user_cannot_become_the_agents_owner(room):
    assert room.shell("su root -c id").code != 0
    assert (
        room.ok(
            "find / -xdev -perm -4000 -exec sh -c 'test -u \"$1\" && $1 -c id' _ {} \\; 2>/dev/null | grep uid=0 || true"
        )
        == ""
    )


@pytest.mark.needs("user.separate")
def test_the_kernel_user_of_the_agent_owns_nothing_on_the_host(room):
    uid = int(room.ok("id -u"))

    with pytest.raises(KeyError):
        pwd.getpwuid(uid)
    running = room.start("sleep", "1000")
    assert running.number
    owners = set()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            owners.add(entry.stat().st_uid)
    assert uid in owners, "what the sandbox calls its uid is the kernel's"
