"""Starting one program: what happens between the fork from pid 1 and ``execve``.

The child joins the sandbox's control groups, becomes the user, gives up every privilege for
good and finds the program by itself, so that a missing one is told apart from one that ran
and failed. Nothing it says can be confused with the program's own words: it reports through
a descriptor that ``execve`` closes.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import os
import resource
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sandboxes.helper import kernel, seccomp, watch

_REPORT = 3  # the descriptor that tells why execve did not happen
_REPORTS = 4  # the socket that takes the listener of a watched program
#: How many a program may have open, as it is usual.
DESCRIPTORS = 1024
_NOT_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP})
_UNRUNNABLE = _NOT_THERE | {errno.ENOEXEC, errno.EISDIR, errno.EPERM, errno.EINVAL, errno.ELIBBAD}
_CHANGED_SIGNALS = tuple(
    int(getattr(signal, f"SIG{name}")) for name in ("INT", "HUP", "QUIT", "PIPE", "XFSZ", "CHLD")
)
_FILTERS = {nest: seccomp.program(nest=nest) for nest in (False, True)}

Run = Callable[[str, list[str], dict[str, str]], None]


@dataclass(frozen=True, slots=True)
class Place:
    """What every program of a sandbox has in common.

    Attributes:
        uid: of the agent.
        own_users: whether the kernel's users are ours to choose (root grade).
        entrances: descriptors of ``cgroup.procs`` files.
        reports: where the listener of a watched program is handed over; -1: none is watched.
        watch: the kinds of calls that are watched.
        first_to_die: whether the kernel shall kill these before all others for want of memory.
        nest: whether they may make sandboxes of their own.
    """

    uid: int
    own_users: bool
    entrances: Sequence[int]
    reports: int = -1
    watch: Sequence[str] = ()
    first_to_die: bool = False
    nest: bool = False


def start(
    place: Place, body: dict[str, Any], fds: Sequence[int]
) -> tuple[int, dict[str, str] | None]:
    """Fork and run; gives the pid, and an error if the program could not be run.

    A child that reports an error is left to the caller to reap, and one that is to be inspected
    to be looked at and let go.
    """
    receiving, report = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            error = _become(place, body, fds, report)
        except BaseException as problem:  # noqa: BLE001 - there is nobody above to raise to
            error = ("SandboxError", f"{body['argv']!r} was not started: {problem!r}")
        with contextlib.suppress(OSError):
            os.write(_REPORT, "\0".join(error).encode("utf-8", "surrogateescape"))
        os._exit(127)
    os.close(report)
    with os.fdopen(receiving, "rb") as file:
        text = file.read().decode("utf-8", "surrogateescape")
    if not text:
        return pid, None
    kind, _, message = text.partition("\0")
    return pid, {"kind": kind, "message": message}


def _become(place: Place, body: dict[str, Any], fds: Sequence[int], report: int) -> tuple[str, str]:
    """Turn into the program; returns only if it cannot."""
    os.setsid()
    for entrance in place.entrances:
        os.write(entrance, b"0")
    watched = place.reports >= 0 and body["watched"]
    _settle_descriptors([*fds, report, *([place.reports] if watched else [])])
    if place.entrances:
        kernel.unshare(kernel.NEWCGROUP)
    if place.first_to_die:
        _offer()
    _limit(body)
    _drop(place, body["user"])
    _reset_signals()
    os.umask(0o022)
    try:
        os.chdir(body["cwd"])
    except OSError as error:
        return "SandboxError", f"folder {body['cwd']!r} cannot be entered: {error.strerror}"
    if code := _FILTERS[place.nest]:
        kernel.filter_system_calls(code)
    if body["inspected"]:
        kernel.ask_to_be_traced()
    run: Run = os.execve
    if watched:
        run = functools.partial(kernel.execute, cookie=watch.install(_REPORTS, place.watch))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]  # last: to be watched takes a descriptor
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(body["nofile"] or DESCRIPTORS, hard), hard))
    return _execute(body["argv"], body["env"], run)


def _settle_descriptors(fds: Sequence[int]) -> None:
    """0, 1 and 2 as given, 3 for the report, 4 to hand over a listener, nothing else."""
    safe = [os.dup(fd) for fd in fds]  # none of these is what the next loop overwrites
    high = [fd if fd > _REPORTS else _above(fd) for fd in safe]
    for target, fd in enumerate(high):
        os.dup2(fd, target, inheritable=target < _REPORT)
    os.closerange(len(fds), resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _above(fd: int) -> int:
    """A copy with a number that is not about to be used."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _REPORTS + 1)


def _offer() -> None:
    with open("/proc/self/oom_score_adj", "wb", buffering=0) as file:
        file.write(b"1000")


def _limit(body: dict[str, Any]) -> None:
    # Not 0: the kernel feeds the host's crash reporter all the same, unless the limit is 1.
    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
    if body["nproc"]:
        most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
        count = body["nproc"] if most == resource.RLIM_INFINITY else min(body["nproc"], most)
        resource.setrlimit(resource.RLIMIT_NPROC, (count, count))


def _drop(place: Place, user: str) -> None:
    uid = 0 if user == "root" else place.uid
    if place.own_users:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    kernel.no_new_privileges()
    kernel.drop_capabilities()


def _reset_signals() -> None:
    """The dispositions that Python and the helper changed; a handler would be reset by ``execve``."""
    signal.set_wakeup_fd(-1)
    for number in _CHANGED_SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def _execute(argv: list[str], env: dict[str, str], run: Run) -> tuple[str, str]:
    name = argv[0] if argv else ""
    if not name:
        return "CommandNotFound", "'' cannot be run in the sandbox: argv names no program"
    folders = [""] if "/" in name else [f or "." for f in env.get("PATH", os.defpath).split(":")]
    reasons = []
    for folder in folders:
        path = f"{folder}/{name}" if folder else name
        try:
            run(path, argv, env)
        except OSError as error:
            if error.errno not in _UNRUNNABLE:
                return "SandboxError", f"{path!r} was not started: {error.strerror}"
            if error.errno != errno.ENOENT or "/" in name:
                reasons.append(f"{path}: {error.strerror}")
            if error.errno not in _NOT_THERE:
                break
    why = "; ".join(reasons) or f"not in {env.get('PATH', os.defpath)}"
    return "CommandNotFound", f"{name!r} cannot be run in the sandbox: {why}"
