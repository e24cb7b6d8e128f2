"""The system-call filter of the subject: what no agent needs and what leads outside.

Classic BPF, by hand. Refused with EPERM: namespaces of its own, mounts, the kernel's key
rings (they are shared with the host), bpf, perf, userfaultfd and modules. Refused with
EAFNOSUPPORT: VSOCK, which reaches the hypervisor whatever the network namespace is. Refused
with EINVAL, as where a file system has none: leases of files, by which a program that is frozen
would keep everybody from opening what it left behind. What a
filter cannot look into does not exist (ENOSYS): ``clone3`` is behind a pointer, C libraries then
use ``clone``; of a foreign architecture the numbers are not known; and what goes through an
io_uring is no call at all.

With ``nest``, namespaces can be made and entered, and file systems mounted in them; nothing
else is let through. ``sandboxes/nest.json`` says the same to an engine.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from dataclasses import dataclass

from sandboxes.helper import bpf
from sandboxes.helper.kernel import (
    MACHINE,
    NEWCGROUP,
    NEWIPC,
    NEWNET,
    NEWNS,
    NEWPID,
    NEWUSER,
    NEWUTS,
)

_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24
_NAMESPACES = NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET
_AF_VSOCK = 40
_SET_LEASE = 1024
_CLONE3, _IO_URING_SETUP = 435, 425  # numbers from 424 on are the same everywhere
_X32 = 0x40000000


@dataclass(frozen=True, slots=True)
class _Machine:
    """The numbers of one kind of machine.

    Attributes:
        nesting: mount umount2 pivot_root setns.
        refused: chroot add_key request_key keyctl bpf perf_event_open userfaultfd kexec_load
            kexec_file_load init_module finit_module delete_module open_by_handle_at acct
            swapon swapoff reboot.
    """

    architecture: int
    clone: int
    unshare: int
    socket: int
    fcntl: int
    nesting: tuple[int, ...]
    refused: tuple[int, ...]


_MACHINES: Mapping[str, _Machine] = {
    "x86_64": _Machine(
        0xC000003E, 56, 272, 41, 72,
        (165, 166, 155, 308),
        (161, 248, 249, 250, 321, 298, 323, 246, 320, 175, 313, 176, 304, 163, 167, 168, 169),
    ),
    "aarch64": _Machine(
        0xC00000B7, 220, 97, 198, 25,
        (40, 39, 41, 268),
        (51, 217, 218, 219, 280, 241, 282, 104, 294, 105, 273, 106, 265, 89, 224, 225, 142),
    ),
}  # fmt: skip
_REFUSALS: Mapping[str, int] = {
    "refused": errno.EPERM,
    "no-family": errno.EAFNOSUPPORT,
    "no-lease": errno.EINVAL,
    "unknown": errno.ENOSYS,
}
#: open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr, with one number everywhere
_NEW_MOUNT_CALLS = (428, 429, 430, 431, 432, 433, 442)


def program(machine: str = MACHINE, *, nest: bool = False) -> bytes:
    """The filter for a machine; empty where its numbers are not known.

    Args:
        machine: as ``uname`` calls it.
        nest: whether sandboxes can be made inside.
    """
    if machine not in _MACHINES:
        return b""
    numbers = _MACHINES[machine]
    refused = numbers.refused if nest else numbers.nesting + numbers.refused
    code = bpf.Program()
    code.do(bpf.LOAD_WORD, _ARCHITECTURE)
    code.equal(numbers.architecture, no="unknown")
    code.do(bpf.LOAD_WORD, _NUMBER)
    if machine == "x86_64":
        code.at_least(_X32, yes="unknown")
    for number in (_CLONE3, _IO_URING_SETUP):
        code.equal(number, yes="unknown")
    for number in (*refused, *_NEW_MOUNT_CALLS):
        code.equal(number, yes="refused")
    if not nest:
        code.equal(numbers.clone, yes="namespaces")
        code.equal(numbers.unshare, yes="namespaces")
    code.equal(numbers.socket, yes="family")
    code.equal(numbers.fcntl, yes="command")
    code.answer(_ALLOW)
    code.place("namespaces")
    code.do(bpf.LOAD_WORD, _FIRST_ARGUMENT)
    code.any_bit(_NAMESPACES, yes="refused")
    code.answer(_ALLOW)
    code.place("family")
    code.do(bpf.LOAD_WORD, _FIRST_ARGUMENT)
    code.equal(_AF_VSOCK, yes="no-family")
    code.answer(_ALLOW)
    code.place("command")
    code.do(bpf.LOAD_WORD, _SECOND_ARGUMENT)
    code.equal(_SET_LEASE, yes="no-lease")
    code.answer(_ALLOW)
    for place, error in _REFUSALS.items():
        code.place(place)
        code.answer(_ERRNO | error)
    return code.code()
