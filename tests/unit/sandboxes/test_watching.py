"""What the watching filter asks about, and how a call is understood, on both machines."""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import struct
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import pytest

from sandboxes.helper import asking, calls, resolving
from sandboxes.helper.numbers import IO_SETUP
from sandboxes.helper.numbers import MACHINES as MACHINE_NUMBERS
from tests.unit.sandboxes.test_filters import ALLOW, run

NOTIFY = 0x7FC00000
COOKIE = 0xFEDCBA9876543210
X86, ARM = 0xC000003E, 0xC00000B7
MACHINES = {"x86_64": X86, "aarch64": ARM}
#: read write close mmap futex exit_group, and fstat
PLAIN = {"x86_64": (0, 1, 3, 9, 202, 231, 5), "aarch64": (63, 64, 57, 222, 98, 94, 80)}
EXECVE = {"x86_64": 59, "aarch64": 221}
STAT_AT = {"x86_64": (262, 332), "aarch64": (79, 291)}


def asked(
    machine: str,
    number: int,
    *arguments: int,
    architecture: int = 0,
    kinds: Collection[str] = ("names",),
) -> int:
    full = (*arguments, *[0] * (6 - len(arguments)))
    data = struct.pack("=iIQ6Q", number, architecture or MACHINES[machine], 0, *full)
    code = asking.program(COOKIE, kinds, machine)
    return run(code, lambda size, at: int.from_bytes(data[at : at + size], "little"))


@pytest.mark.parametrize("machine", MACHINES)
def test_every_call_that_names_a_path_asks_and_no_other_does(machine):
    for name, number in numbers(machine).items():
        wanted = NOTIFY if name in calls.KINDS["names"] else ALLOW
        assert asked(machine, number) == wanted, name
    for number in PLAIN[machine]:
        assert asked(machine, number) == ALLOW, number


def numbers(machine: str) -> Mapping[str, int]:
    return MACHINE_NUMBERS[machine][1]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("kind", calls.KINDS)
def test_each_kind_of_watch_asks_about_its_own_calls_alone(machine, kind):
    for name, number in numbers(machine).items():
        arguments = [0] * 6
        if name in calls.KINDS[kind]:
            argument, values = calls.KINDS[kind][name].only
            arguments[argument] = next(iter(values), 0)
        wanted = NOTIFY if name in calls.KINDS[kind] else ALLOW
        assert asked(machine, number, *arguments, kinds=[kind]) == wanted, name


@pytest.mark.parametrize("machine", MACHINES)
def test_of_fcntl_only_what_sets_a_lock_asks(machine):
    number = numbers(machine)["fcntl"]
    asking = [n for n in range(2000) if asked(machine, number, 3, n, kinds=["locks"]) == NOTIFY]

    assert asking == [fcntl.F_SETLK, fcntl.F_SETLKW, 37, 38]


@pytest.mark.parametrize("machine", MACHINES)
def test_a_stat_of_a_descriptor_alone_does_not_ask(machine):
    newfstatat, statx = STAT_AT[machine]
    assert asked(machine, newfstatat, 3, 0, 0, calls.AT_EMPTY_PATH) == ALLOW
    assert asked(machine, statx, 3, 0, calls.AT_EMPTY_PATH) == ALLOW
    assert asked(machine, newfstatat, 3, 0, 0, calls.AT_SYMLINK_NOFOLLOW) == NOTIFY
    assert asked(machine, statx, 3, 0, calls.AT_SYMLINK_NOFOLLOW) == NOTIFY


@pytest.mark.parametrize("machine", MACHINES)
def test_only_the_start_that_knows_the_cookie_does_not_ask(machine):
    number = EXECVE[machine]
    assert asked(machine, number, 1, 2, 3, 0, COOKIE) == ALLOW
    for wrong in (0, COOKIE & 0xFFFFFFFF, COOKIE ^ 1, COOKIE ^ (1 << 63)):
        assert asked(machine, number, 1, 2, 3, 0, wrong) == NOTIFY


@pytest.mark.parametrize(("machine", "foreign"), [("x86_64", ARM), ("aarch64", X86), ("x86_64", 3)])
def test_calls_of_another_machine_are_left_to_the_filter_that_refuses_them(machine, foreign):
    for number in calls.calls(machine):
        assert asked(machine, number, architecture=foreign) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_each_call_says_where_its_paths_are(machine):
    for call in (call for forms in calls.calls(machine).values() for call in forms):
        for named in call.paths:
            assert (named.folder, named.text) != (-1, -1)
            assert max(named.folder, named.text, call.flags, call.at) < 6


@pytest.mark.parametrize("machine", MACHINES)
def test_every_kind_is_known_by_its_numbers_as_far_as_the_machine_has_the_calls(machine):
    known = numbers(machine)
    old = "open creat stat lstat access pipe getdents eventfd signalfd epoll_create inotify_init"
    if machine == "x86_64":
        assert {name for kind in calls.KINDS.values() for name in kind} == set(known)
    else:
        assert not set(old.split()) & set(known)
    assert len(set(known.values())) == len(known)


@pytest.mark.parametrize("machine", MACHINES)
def test_asynchronous_calls_do_not_exist_where_data_is_watched(machine):
    number = IO_SETUP[machine]
    assert asked(machine, number, kinds=["data"]) == 0x50000 | errno.ENOSYS
    assert asked(machine, number, kinds=["names", "locks", "descriptors"]) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_memory_that_is_of_no_file_is_not_asked_about(machine):
    number = numbers(machine)["mmap"]
    assert asked(machine, number, 0, 4096, 1, mmap.MAP_PRIVATE, 3, kinds=["data"]) == NOTIFY
    anonymous = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    assert asked(machine, number, 0, 4096, 3, anonymous, 2**64 - 1, kinds=["data"]) == ALLOW


def test_fcntl_is_understood_by_its_command():
    forms = calls.calls("x86_64")[72]
    assert calls.understand(forms, (3, fcntl.F_SETLKW, 0)).paths
    assert calls.understand(forms, (3, fcntl.F_DUPFD_CLOEXEC | 1 << 32, 0)).makes == 1


def test_the_number_of_a_machine_that_is_not_known_is_none():
    assert calls.calls("riscv64") == {}


@pytest.mark.parametrize(
    ("name", "flags", "found"),
    [
        # there, its folder there but not itself, nothing there
        ("open", os.O_RDONLY, "read look look"),
        ("open", os.O_RDONLY | os.O_CREAT, "read name look"),
        ("open", os.O_WRONLY, "write look look"),
        ("open", os.O_WRONLY | os.O_CREAT, "write name look"),
        ("open", os.O_RDONLY | os.O_TRUNC, "write look look"),
        ("open", os.O_RDWR | os.O_CREAT | os.O_EXCL, "look name look"),
        ("open", os.O_PATH | os.O_RDWR, "look look look"),
        ("access", os.F_OK, "look look look"),
        ("access", os.R_OK | os.X_OK, "read look look"),
        ("access", os.W_OK | os.R_OK, "write look look"),
        ("access", os.X_OK, "run look look"),
        ("run", 0, "run look look"),
        ("write", 0, "write look look"),
        ("look", 0, "look look look"),
        ("make", 0, "look name look"),
        ("drop", 0, "name look look"),
        ("put", 0, "name name look"),
        ("lock", fcntl.F_WRLCK | 0x70000, "lock lock lock"),
        ("lock", fcntl.F_RDLCK, "lock lock lock"),
        ("flock", fcntl.LOCK_SH | fcntl.LOCK_NB, "lock lock lock"),
    ],
)
def test_a_call_gets_as_far_as_what_is_there_lets_it(name, flags, found):
    named = calls.Named(-1, 0, name)
    situations = ((True, True), (False, True), (False, False))

    assert found.split() == [
        calls.act(named, flags, there=there, folder=folder) for there, folder in situations
    ]


def test_giving_a_lock_up_is_no_act():
    for name, flags in (("lock", fcntl.F_UNLCK | 0x10000), ("flock", fcntl.LOCK_UN)):
        named = calls.Named(0, -1, name)
        assert calls.act(named, flags, there=True, folder=True) == ""


@pytest.fixture
def root(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/file").touch()
    for name, target in (
        ("up", "../../../.."),
        ("absolute", "/a/b"),
        ("relative", "a/b"),
        ("lost", "a/none/at/all"),
        ("round", "about"),
        ("about", "round"),
        ("a/out", "/etc/passwd"),
    ):
        (tmp_path / name).symlink_to(target)
    fd = os.open(tmp_path, os.O_PATH)
    yield fd
    os.close(fd)


@pytest.mark.parametrize(
    ("path", "where", "missing"),
    [
        ("/a/b/file", "/a/b/file", ""),
        ("/absolute/file", "/a/b/file", ""),
        ("/relative/../b/./file", "/a/b/file", ""),
        ("/up/a/b", "/a/b", ""),
        ("/../../a", "/a", ""),
        ("/a/b/none", "/a/b/none", "none"),
        ("/a/none/../x", "/a/x", "none/../x"),
        ("/relative/x/y", "/a/b/x/y", "x/y"),
        ("/lost", "/a/none/at/all", "none/at/all"),
        ("/lost/more", "/a/none/at/all/more", "none/at/all/more"),
        ("/a/b/file/", "/a/b/file", "file"),
        ("/a/out", "/etc/passwd", "etc/passwd"),
        ("/", "/", ""),
    ],
)
def test_a_path_is_resolved_inside_as_the_kernel_does_it(root, tmp_path, path, where, missing):
    base = os.fsencode(tmp_path)
    found, rest = resolving.resolve(root, path.encode(), follow=True)

    assert (found.removeprefix(base) or b"/", rest) == (where.encode(), missing.encode())


def test_a_link_that_is_not_followed_is_itself(root, tmp_path):
    for name in ("absolute", "lost", "round"):
        found, rest = resolving.resolve(root, name.encode(), follow=False)
        assert (found, rest) == (os.fsencode(tmp_path / name), b"")


def test_links_without_end_are_given_up(root):
    with pytest.raises(OSError, match="too many links"):
        resolving.resolve(root, b"/round", follow=True)
