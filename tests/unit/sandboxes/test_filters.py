"""The two filters, run instruction by instruction on an interpreter of classic BPF."""

from __future__ import annotations

import errno
import json
import operator
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxes.helper import bpf, network, seccomp

ALLOW = 0x7FFF0000
X86 = 0xC000003E
CLONE_NEWUSER = 0x10000000
RETURN = 0x06
TESTS = {0x15: operator.eq, 0x35: operator.ge, 0x45: operator.and_}
SIZES = {bpf.LOAD_WORD: 4, bpf.LOAD_HALF: 2, bpf.LOAD_BYTE: 1, bpf.LOAD_BYTE_INDEXED: 1}


class Machine:
    """The registers of a filter that runs; ``load(size, at)`` reads from what it looks at."""

    def __init__(self, load) -> None:
        self.load = load
        self.accumulator = self.index = 0

    def run(self, code: bytes) -> int:
        lines = list(struct.iter_unpack("=HBBI", code))
        at = 0
        while lines[at][0] != RETURN:
            operation, yes, no, value = lines[at]
            at += 1
            if operation in TESTS:
                at += yes if TESTS[operation](self.accumulator, value) else no
            else:
                self.do(operation, value)
        return int(lines[at][3])

    def do(self, operation: int, value: int) -> None:
        if operation == bpf.MASK:
            self.accumulator &= value
        elif operation == bpf.LOAD_HEADER_LENGTH:
            self.index = (self.load(1, value) & 0xF) * 4
        else:
            at = value + self.index if operation == bpf.LOAD_BYTE_INDEXED else value
            self.accumulator = self.load(SIZES[operation], at)


def run(code: bytes, load) -> int:
    return Machine(load).run(code)


def call(
    number: int, argument: int = 0, architecture: int = X86, *, second: int = 0, nest: bool = False
) -> int:
    data = struct.pack("=iIQ6Q", number, architecture, 0, argument, second, 0, 0, 0, 0)
    code = seccomp.program("x86_64", nest=nest)
    return run(code, lambda size, at: int.from_bytes(data[at : at + size], "little"))


@pytest.mark.parametrize("number", [0, 1, 2, 9, 57, 59, 61, 202, 257, 302, 439])
def test_what_every_program_does_is_allowed(number):
    assert call(number) == ALLOW


@pytest.mark.parametrize("number", [165, 166, 155, 161, 248, 249, 250, 298, 308, 321, 428, 442])
def test_mounts_keys_and_other_ways_out_are_refused(number):
    assert call(number) == 0x50000 | errno.EPERM


@pytest.mark.parametrize("number", [56, 272])
def test_processes_and_threads_can_be_made_and_namespaces_cannot(number):
    assert call(number, 0x3D0F00) == ALLOW
    assert call(number, CLONE_NEWUSER | 17) == 0x50000 | errno.EPERM


@pytest.mark.parametrize("number", [165, 166, 155, 308, 56, 272])
def test_nesting_opens_namespaces_and_mounts(number):
    assert call(number, CLONE_NEWUSER | 17, nest=True) == ALLOW


@given(st.integers(0, 500), st.sampled_from([0, 2, 40, 0x3D0F00]))
def test_nesting_opens_nothing_else(number, argument):
    if number not in {165, 166, 155, 308}:
        assert call(number, argument, nest=True) == call(number, argument)


NUMBERS = {
    "chroot": 161, "acct": 163, "swapon": 167, "swapoff": 168, "reboot": 169, "init_module": 175,
    "delete_module": 176, "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250,
    "perf_event_open": 298, "open_by_handle_at": 304, "finit_module": 313, "kexec_file_load": 320,
    "bpf": 321, "userfaultfd": 323, "open_tree": 428, "move_mount": 429, "fsopen": 430,
    "fsconfig": 431, "fsmount": 432, "fspick": 433, "clone3": 435, "io_uring_setup": 425, "mount_setattr": 442,
}  # fmt: skip


def test_the_profile_for_engines_refuses_what_the_filter_refuses():
    profile = json.loads((Path(seccomp.__file__).parents[1] / "nest.json").read_text())
    refused = {
        NUMBERS[name]: 0x50000 | rule["errnoRet"]
        for rule in profile["syscalls"]
        if "args" not in rule
        for name in rule["names"]
    }

    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    assert refused == {
        number: answer for number in range(600) if (answer := call(number, nest=True)) != ALLOW
    }


def test_sockets_are_allowed_but_those_of_the_hypervisor():
    assert call(41, 2) == ALLOW
    assert call(41, 40) == 0x50000 | errno.EAFNOSUPPORT


@pytest.mark.parametrize("nest", [False, True])
def test_descriptors_are_set_up_and_leases_are_not_given(nest):
    assert call(72, 3, second=2, nest=nest) == ALLOW  # F_SETFD
    assert call(72, 3, second=1024, nest=nest) == 0x50000 | errno.EINVAL


@pytest.mark.parametrize(
    ("number", "architecture"), [(435, X86), (425, X86), (0, 0x40000003), (0x40000000, X86)]
)
def test_calls_that_cannot_be_judged_do_not_exist(number, architecture):
    assert call(number, 0, architecture) == 0x50000 | errno.ENOSYS


def test_a_machine_whose_numbers_are_unknown_gets_no_filter_and_the_known_ones_do():
    assert seccomp.program("sparc") == b""
    assert seccomp.program("aarch64") not in {b"", seccomp.program("x86_64")}


def packet(data: bytes, protocol: int, direction: int = 0) -> bool:
    def load(size: int, at: int) -> int:
        if at >= 0xFFFFF000:
            return {0: protocol, 4: direction}[at - 0xFFFFF000]
        return int.from_bytes(data[at : at + size], "big")

    return run(network.packet_program(), load) > 0


def four(
    destination: str, protocol: int = 6, flags: int = 0, options: int = 0, fragment: int = 0
) -> bytes:
    header = (
        bytes([0x45 + options, 0, 0, 0, 0, 0]) + struct.pack("!H", fragment) + bytes([64, protocol])
    )
    address = bytes(int(part) for part in destination.split("."))
    return header + bytes(6) + address + bytes(4 * options) + bytes(13) + bytes([flags]) + bytes(6)


def six(destination: bytes, protocol: int = 6, flags: int = 0) -> bytes:
    return (
        bytes([0x60, 0, 0, 0, 0, 20, protocol, 64])
        + bytes(16)
        + destination
        + bytes(13)
        + bytes([flags, 0])
    )


LOOPBACK6 = bytes(15) + b"\1"


@pytest.mark.parametrize("flags", [0x00, 0x02, 0x12, 0x10, 0x04])
@pytest.mark.parametrize("protocol", [1, 6, 17])
def test_any_packet_to_an_outside_address_is_kept(protocol, flags):
    assert packet(four("8.8.8.8", protocol, flags), 0x0800)
    assert packet(six(bytes([0x20, 1]) + bytes(14), protocol, flags), 0x86DD)


@pytest.mark.parametrize(
    ("flags", "kept"), [(0x02, True), (0xC2, True), (0x12, False), (0x10, False), (0x04, False)]
)
def test_on_loopback_only_the_opening_of_a_connection_is_kept(flags, kept):
    assert packet(four("127.0.0.1", 6, flags), 0x0800) == kept
    assert packet(four("127.9.9.9", 6, flags, options=3), 0x0800) == kept
    assert packet(six(LOOPBACK6, 6, flags), 0x86DD) == kept
    assert not packet(four("127.0.0.1", 17, flags), 0x0800)
    assert not packet(six(LOOPBACK6, 17, flags), 0x86DD)


def test_a_later_fragment_is_not_read_as_a_header():
    assert not packet(four("127.0.0.1", 6, 0x02, fragment=100), 0x0800)


def test_each_packet_is_kept_on_its_arrival_only():
    assert not packet(four("8.8.8.8"), 0x0800, direction=4)


def test_other_protocols_are_dropped():
    assert not packet(four("8.8.8.8"), 0x0806)


@given(st.integers(0, 2**32 - 1), st.integers(0, 255))
def test_an_address_is_outside_unless_it_is_127(address, last):
    data = bytearray(four("0.0.0.0", 17))
    data[16:20] = address.to_bytes(4)
    assert packet(bytes(data), 0x0800) == (address >> 24 != 127)
    assert packet(six(bytes(15) + bytes([last]), 17), 0x86DD) == (last != 1)
