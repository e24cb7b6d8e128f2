"""Packets are counted one by one, and their addresses kept as far as there are not too many."""

from __future__ import annotations

import asyncio
import ipaddress
import struct

import pytest

from harness.live.packets import PacketCounter


def packet(address: int, protocol: int, inner: bytes) -> bytes:
    head = struct.pack("!BBHHHBBH4s", 0x45, 0, 0, 0, 0, 64, protocol, 0, b"\x7f\0\0\1")
    return head + ipaddress.IPv4Address(address).packed + inner


@pytest.mark.parametrize(
    ("network", "protocol", "inner", "kept"),
    [
        ("10.0.0.0", 17, struct.pack("!4H", 1, 2, 8, 0), "_destinations"),
        ("127.0.0.0", 6, struct.pack("!HHIIBB", 1, 2, 0, 0, 0x50, 2), "_syns"),
    ],
)
def test_a_flood_of_addresses_is_counted_and_not_kept(network, protocol, inner, kept):
    with asyncio.Runner() as runner:
        counter = PacketCounter(runner.get_loop(), None)
    first = int(ipaddress.IPv4Address(network))

    for number in range(30_000):
        counter._count(packet(first + number, protocol, inner))

    counts = getattr(counter, kept)
    assert sum(counts.values()) == 30_000
    assert len(counts) == 10_001
    assert counts["(further addresses)"] == 20_000
