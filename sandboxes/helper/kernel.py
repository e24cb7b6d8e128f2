"""System calls that Python does not wrap, by ctypes; each raises ``OSError``."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import signal
from collections.abc import Mapping, Sequence

from sandboxes.helper import plain

NEWNS = 0x00020000
NEWCGROUP = 0x02000000
NEWUTS = 0x04000000
NEWIPC = 0x08000000
NEWUSER = 0x10000000
NEWPID = 0x20000000
NEWNET = 0x40000000

RDONLY = 1
NOSUID = 2
NODEV = 4
NOEXEC = 8
REMOUNT = 32
BIND = 4096
REC = 16384
PRIVATE = 1 << 18

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NAME = 15
_PR_SET_SECCOMP = 22
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_CAPABILITY_VERSION_3 = 0x20080522
_LAST_CAPABILITY = 63

#: Numbers that differ between machines; everything else here goes through libc.
MACHINE = platform.machine()
_SYS_OPENAT2 = 437  # the same on every architecture
_SYS_CAPSET = {"x86_64": 126, "aarch64": 91}.get(MACHINE)
_SYS_SECCOMP = {"x86_64": 317, "aarch64": 277}.get(MACHINE)
_SYS_EXECVE = {"x86_64": 59, "aarch64": 221}.get(MACHINE)
_SYS_CLONE = {"x86_64": 56, "aarch64": 220}.get(MACHINE)
_SYS_OPEN_TREE, _SYS_MOVE_MOUNT, _SYS_MOUNT_SETATTR = 428, 429, 442  # likewise the same

_CLONE_PARENT = 0x00008000
_AT_FDCWD, _AT_EMPTY_PATH, _AT_RECURSIVE = -100, 0x1000, 0x8000
_OPEN_TREE_CLONE, _OPEN_TREE_CLOEXEC = 1, os.O_CLOEXEC
_MOVE_TO_AND_FROM_DESCRIPTORS = 0x04 | 0x40

RESOLVE_NO_MAGICLINKS = 0x02
RESOLVE_NO_SYMLINKS = 0x04
RESOLVE_BENEATH = 0x08
RESOLVE_IN_ROOT = 0x10

_PTRACE_TRACEME, _PTRACE_DETACH = 0, 17
_SECCOMP_SET_MODE_FILTER = 1
_NEW_LISTENER = 8
_RENAME_NOREPLACE, _RENAME_EXCHANGE = 1, 2
_WAIT_KILLABLE = 32  # since Linux 5.19: a call that was heard is not interrupted by a signal

libc = _libc = ctypes.CDLL(None, use_errno=True)


class _OpenHow(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


class _Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "users")]


class _Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]


def check(result: int, what: str) -> int:
    """What a call of the C library gave; a negative result becomes the error that it stands for."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    """Leave the named namespaces for new ones."""
    check(_libc.unshare(flags), f"unshare({flags:#x})")


def setns(fd: int, flags: int) -> None:
    """Join the namespaces of a process (pidfd) or the one a descriptor names."""
    check(_libc.setns(fd, flags), f"setns({flags:#x})")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """Mount; ``kind`` is empty for binds and changes of flags."""
    result = _libc.mount(
        os.fsencode(source),
        os.fsencode(target),
        os.fsencode(kind) or None,
        ctypes.c_ulong(flags),
        os.fsencode(data) or None,
    )
    check(result, f"mount {kind or 'flags'} on {target}")


def unmount(target: str) -> None:
    """Detach a mount."""
    check(_libc.umount2(os.fsencode(target), 2), f"unmount {target}")


def copy_tree(path: str, *, recursive: bool) -> int:
    """Copy a mount, which is then nowhere; gives a descriptor of the copy."""
    flags = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | (_AT_RECURSIVE if recursive else 0)
    return check(
        _libc.syscall(_SYS_OPEN_TREE, _AT_FDCWD, os.fsencode(path), flags), f"copy mount {path}"
    )


def restrict_tree(tree: int, flags: int) -> None:
    """Set ``RDONLY``, ``NOSUID``, ``NODEV``, ``NOEXEC`` on a copied mount and all below it."""
    wanted = _MountAttributes(set=flags)
    how = _AT_EMPTY_PATH | _AT_RECURSIVE
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    result = _libc.syscall(_SYS_MOUNT_SETATTR, tree, b"", how, ctypes.byref(wanted), size)
    check(result, "restrict a mount")


def attach_tree(tree: int, target: int) -> None:
    """Mount a copied mount on what a descriptor is of."""
    how = _MOVE_TO_AND_FROM_DESCRIPTORS
    check(_libc.syscall(_SYS_MOVE_MOUNT, tree, b"", target, b"", how), "attach a mount")


def change_root(path: str) -> None:
    """Make a mount the root of our mount namespace, and let go of the old root."""
    os.chdir(path)
    check(_libc.pivot_root(b".", b"."), f"pivot_root to {path}")
    unmount(".")
    os.chdir("/")


def fork_sibling() -> int:
    """Fork a child of our parent's; only for a process of one thread, since Python is not told."""
    if _SYS_CLONE is None:
        raise OSError(errno.ENOSYS, f"the numbers of system calls on {MACHINE} are not known")
    nothing = [ctypes.c_ulong(0)] * 4
    flags = ctypes.c_ulong(_CLONE_PARENT | signal.SIGCHLD)
    return check(_libc.syscall(_SYS_CLONE, flags, *nothing), "clone")


def _prctl(option: int, value: int = 0, pointer: int = 0) -> None:
    result = _libc.prctl(
        option, ctypes.c_ulong(value), ctypes.c_ulong(pointer), ctypes.c_ulong(0), ctypes.c_ulong(0)
    )
    check(result, f"prctl({option})")


def die_with_parent() -> None:
    """Be killed when the parent dies; forgotten whenever credentials change."""
    _prctl(_PR_SET_PDEATHSIG, 9)


def hide_memory() -> None:
    """Refuse ptrace and core dumps, and give ``/proc/PID`` of this process to root."""
    _prctl(_PR_SET_DUMPABLE, 0)


def set_name(name: str) -> None:
    """The name that ``ps`` shows, 15 bytes."""
    buffer = ctypes.create_string_buffer(os.fsencode(name)[:15])
    _prctl(_PR_SET_NAME, ctypes.addressof(buffer))


def set_command_line(text: str) -> None:
    """What ``/proc/PID/cmdline`` shows to everybody, at most as long as it was."""
    with open("/proc/self/stat", "rb") as file:
        start, end = (int(word) for word in file.read().rpartition(b")")[2].split()[45:47])
    if start:  # hidden from a process that may not trace itself
        ctypes.memset(start, 0, end - start)
        ctypes.memmove(start, text.encode()[: end - start - 1], min(len(text), end - start - 1))


def clear_environment() -> None:
    """What ``/proc/PID/environ`` shows, which some kernels show to everybody."""
    words = ctypes.POINTER(ctypes.c_void_p).in_dll(_libc, "environ")
    number = 0
    while word := words[number]:
        ctypes.memset(word, 0, len(ctypes.string_at(word)))
        number += 1
    os.environ.clear()


def no_new_privileges() -> None:
    """No program started from here gains anything by being setuid or having capabilities."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def empty_bounding_set() -> None:
    """No program started from here can be given any capability."""
    for capability in range(_LAST_CAPABILITY + 1):
        try:
            _prctl(_PR_CAPBSET_DROP, capability)
        except OSError:  # the kernel knows no such capability: it was the last
            return


def drop_capabilities() -> None:
    """Give up every capability of this process."""
    if _SYS_CAPSET is None:  # the kernel drops them at execve of an ordinary user all the same
        return
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    check(_libc.syscall(_SYS_CAPSET, ctypes.byref(header), ctypes.byref(nothing)), "capset")


def filter_system_calls(code: bytes) -> None:
    """Install a seccomp filter made of classic BPF instructions."""
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Filter(len(code) // 8, ctypes.addressof(buffer))
    _prctl(_PR_SET_SECCOMP, 2, ctypes.addressof(program))


def ask_about_system_calls(code: bytes, *, interruptible: bool) -> int:
    """Install a filter that asks a listener; gives the listener's descriptor.

    A call that was heard is not interrupted by a signal, unless it is to be ``interruptible``.
    """
    if _SYS_SECCOMP is None:
        raise OSError(errno.ENOSYS, f"the numbers of system calls on {MACHINE} are not known")
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Filter(len(code) // 8, ctypes.addressof(buffer))
    listener = _seccomp(_NEW_LISTENER | (0 if interruptible else _WAIT_KILLABLE), program)
    if listener < 0 and ctypes.get_errno() == errno.EINVAL:  # an older kernel
        listener = _seccomp(_NEW_LISTENER, program)
    return check(listener, "seccomp with a listener")


def _seccomp(flags: int, program: _Filter) -> int:
    return int(
        _libc.syscall(
            _SYS_SECCOMP, _SECCOMP_SET_MODE_FILTER, ctypes.c_ulong(flags), ctypes.byref(program)
        )
    )


def execute(path: str, argv: Sequence[str], env: Mapping[str, str], cookie: int) -> None:
    """``execve`` with a fifth argument, which the kernel ignores and a filter can see."""
    words = [os.fsencode(word) for word in argv]
    settings = [os.fsencode(f"{name}={value}") for name, value in env.items()]
    result = _libc.syscall(
        _SYS_EXECVE,
        os.fsencode(path),
        (ctypes.c_char_p * (len(words) + 1))(*words, None),
        (ctypes.c_char_p * (len(settings) + 1))(*settings, None),
        ctypes.c_ulong(0),
        ctypes.c_ulong(cookie),
    )
    check(result, path)


def ask_to_be_traced() -> None:
    """Stop this process at its next ``execve``, before the first instruction, until let go."""
    check(_libc.ptrace(_PTRACE_TRACEME, 0, None, None), "ptrace")


def let_go(pid: int, signum: int) -> None:
    """Trace a stopped child no more; it goes on, with a signal unless that is 0."""
    check(_libc.ptrace(_PTRACE_DETACH, pid, None, ctypes.c_void_p(signum)), "ptrace")


def read_memory(pid: int, address: int, size: int) -> bytes:
    """Read the memory of another process, at most to the end of a page."""
    buffer = ctypes.create_string_buffer(size)
    ours = _Vector(ctypes.addressof(buffer), size)
    theirs = _Vector(address, size)
    got = _libc.process_vm_readv(
        pid, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, ctypes.c_ulong(0)
    )
    return buffer.raw[: check(got, f"memory of process {pid}")]


def packet_filter(code: bytes) -> tuple[bytes, object]:
    """A ``struct sock_fprog`` for ``SO_ATTACH_FILTER``, and what must live as long."""
    buffer = ctypes.create_string_buffer(code, len(code))
    return bytes(_Filter(len(code) // 8, ctypes.addressof(buffer))), buffer


def give(fd: int, owner: int) -> None:
    """Give what a descriptor is of to a user, also where it is only pointed at."""
    check(_libc.fchownat(fd, b"", owner, owner, _AT_EMPTY_PATH), "give away")


def rename_to_free(folder: int, name: bytes, to_folder: int, to: bytes) -> None:
    """Rename, unless something has the new name already (``FileExistsError``)."""
    check(
        _libc.renameat2(folder, name, to_folder, to, _RENAME_NOREPLACE), f"rename {os.fsdecode(to)}"
    )


def exchange(folder: int, name: bytes, other_folder: int, other: bytes) -> None:
    """Let two names change places, at once."""
    check(
        _libc.renameat2(folder, name, other_folder, other, _RENAME_EXCHANGE),
        f"exchange {os.fsdecode(other)}",
    )


def open_beneath(folder: int, path: bytes, flags: int, mode: int = 0) -> int:
    """Open ``path`` below a folder; any symbolic link or way out of it is refused by the kernel."""
    return open_in(
        folder, path, flags, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS, mode
    )


def open_in(folder: int, path: bytes, flags: int, resolve: int, mode: int = 0) -> int:
    """Open ``path`` with the rules of ``openat2`` for links and for what leads out."""
    if plain.is_plain():
        return plain.open_in(folder, path, flags, mode, links=not resolve & RESOLVE_NO_SYMLINKS)
    how = _OpenHow(flags | os.O_CLOEXEC, mode, resolve)
    return check(
        _libc.syscall(_SYS_OPENAT2, folder, path, ctypes.byref(how), ctypes.sizeof(how)),
        f"open {os.fsdecode(path)}",
    )
