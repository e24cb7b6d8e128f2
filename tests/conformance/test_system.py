"""Changes to the system are read from outside, and only real ones count."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandboxes.base import AGENT, ROOT, Kind, Root

pytestmark = pytest.mark.needs("files.system")


def changes(room):
    return {change.path: change for change in room.sandbox.listing().system}


def test_an_untouched_system_has_no_change(room):
    room.ok(
        "ls -R /etc /usr/bin >/dev/null 2>&1; cat /etc/passwd; python3 -c 'import json'; find / -xdev >/dev/null 2>&1; true"
    )

    assert changes(room) == {}


def test_an_added_file_is_recorded_and_can_be_read(room):
    room.ok("echo evil > /etc/cron; echo tool > /usr/bin/tool", user=ROOT)

    found = changes(room)
    assert set(found) == {"/etc/cron", "/usr/bin/tool"}
    assert found["/etc/cron"].before is None
    assert found["/usr/bin/tool"].after.kind is Kind.FILE
    fd = room.sandbox.open(Root.SYSTEM, "/usr/bin/tool")
    with os.fdopen(fd, "rb") as file:
        assert file.read() == b"tool\n"


def test_a_changed_file_is_recorded_with_what_it_was(room):
    room.ok("echo x >> /etc/passwd; chmod 600 /usr/bin/env", user=ROOT)

    found = changes(room)
    assert set(found) == {"/etc/passwd", "/usr/bin/env"}
    assert found["/etc/passwd"].after.size == found["/etc/passwd"].before.size + 2
    assert (found["/usr/bin/env"].before.mode, found["/usr/bin/env"].after.mode) == (0o755, 0o600)


def test_a_file_opened_for_writing_and_left_equal_is_no_change(room):
    room.ok(": >> /etc/passwd; : >> /usr/bin/env; touch /etc/profile", user=ROOT)

    assert changes(room) == {}


def test_a_removed_file_is_recorded(room):
    room.ok("rm /usr/bin/env /etc/passwd", user=ROOT)

    found = changes(room)
    assert set(found) == {"/usr/bin/env", "/etc/passwd"}
    assert all(
        change.after is None and change.before.kind is Kind.FILE for change in found.values()
    )


def test_a_file_that_the_harness_put_there_itself_is_followed_too(room):
    room.ok("echo '127.0.0.1 bank' >> /etc/hosts; rm /etc/timezone", user=ROOT)

    found = changes(room)
    assert set(found) == {"/etc/hosts", "/etc/timezone"}
    assert found["/etc/hosts"].before.size < found["/etc/hosts"].after.size
    assert found["/etc/timezone"].after is None


def test_a_file_made_and_removed_again_leaves_nothing(room):
    room.ok("touch /etc/x; rm /etc/x", user=ROOT)

    assert changes(room) == {}


def test_a_folder_that_was_replaced_is_recorded_by_what_it_lacks(room):
    room.ok("rm -r /etc/ssl; mkdir /etc/ssl; echo x > /etc/ssl/mine", user=ROOT)

    found = changes(room)
    assert found["/etc/ssl/mine"].before is None
    assert found["/etc/ssl/certs"].after is None


def test_the_agent_itself_can_change_nothing_of_the_system(room):
    room.shell("echo x > /etc/passwd; rm -rf /usr/bin /etc/ssl; touch /x /usr/x; mkdir /opt/y")

    assert changes(room) == {}
    assert room.ok("echo /usr/bin is there") == "/usr/bin is there"


def test_the_host_is_untouched(room):
    room.ok(
        "echo x > /etc/shakeout-decoy; rm /usr/bin/env; echo x > /usr/shakeout-decoy", user=ROOT
    )

    assert Path("/usr/bin/env").exists()
    assert not Path("/etc/shakeout-decoy").exists()
    assert not Path("/usr/shakeout-decoy").exists()


#: Whatever could mark a path in an overlay as removed, hidden, or somebody else's.
MARKS = """
import contextlib, os, stat
for path in ("/etc/profile", "/etc/ssl", "/usr/bin/env", "/home/agent", "/tmp"):
    for name in ("whiteout", "opaque", "redirect", "metacopy", "origin"):
        for space in ("trusted", "user"):
            with contextlib.suppress(OSError):
                os.setxattr(path, f"{space}.overlay.{name}", b"y")
for path in ("/etc/cron", "/usr/bin/tool", "/tmp/there", "/home/agent/there"):
    with contextlib.suppress(OSError):
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(0, 0))
"""


@pytest.mark.parametrize("user", [AGENT, ROOT])
def test_no_mark_of_an_overlay_hides_what_was_done(room, user):
    room.run("python3", "-c", MARKS, user=user)
    room.ok("rm /usr/bin/env; echo x >> /etc/profile; rm /etc/ssl/openssl.cnf", user=ROOT)
    room.run("python3", "-c", MARKS, user=user)

    listing = room.sandbox.listing()
    found = {change.path: change for change in listing.system}
    assert found["/usr/bin/env"].after is None
    assert found["/etc/ssl/openssl.cnf"].after is None
    assert found["/etc/profile"].before.size + 2 == found["/etc/profile"].after.size
    made = {"/tmp/there": found.get("/tmp/there"), "~/there": listing.home.get("there")}
    for path, inside in (("/tmp/there", "/tmp/there"), ("~/there", "/home/agent/there")):
        is_there = room.run("test", "-e", inside, user=ROOT).code == 0
        assert (made[path] is not None) is is_there, path


def test_a_folder_that_was_moved_is_listed_with_all_that_is_in_it(room):
    room.ok("mv /etc/ssl /etc/moved", user=ROOT)

    found = changes(room)
    assert found["/etc/ssl"].after is None
    assert found["/etc/moved/openssl.cnf"].after.kind is Kind.FILE
