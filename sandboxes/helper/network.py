"""The sandbox's own network: a loopback device that answers for the whole world.

Every address is routed to loopback (AnyIP), so that a connection to the outside is refused
at once instead of hanging, and is seen by the packet socket. Listeners are bound in here and
handed out, so that what serves them, and what it records, is outside.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct

from sandboxes.helper import bpf, kernel

_NEWLINK, _NEWROUTE = 16, 24
_REQUEST_ACK, _CREATE = 0x0005, 0x0400
_ERROR = 2
_IFF_UP = 1
_LOOPBACK = 1  # index of lo in a fresh namespace
_TABLE_LOCAL, _PROTO_STATIC, _SCOPE_HOST, _TYPE_LOCAL = 255, 4, 254, 2
_RTA_OIF = 4

_SO_ATTACH_FILTER = 26
_EVERY_PROTOCOL = 0x0003
_ANCILLARY_PROTOCOL = 0xFFFFF000
_ANCILLARY_DIRECTION = 0xFFFFF000 + 4
_INCOMING = 0  # loopback shows each packet leaving and arriving: take the arrival
_IPV4, _IPV6 = 0x0800, 0x86DD
_TCP, _SYN, _SYN_ACK = 6, 0x02, 0x12
_KEPT_BYTES = 256
_BACKLOG = 512


def raise_loopback() -> None:
    """Bring ``lo`` up and route everything to it."""
    link = struct.pack("=BxHiII", socket.AF_UNSPEC, 0, _LOOPBACK, _IFF_UP, _IFF_UP)
    _netlink(_NEWLINK, 0, link)
    _route_all(socket.AF_INET)
    with contextlib.suppress(OSError):  # without IPv6, its addresses are unreachable at once anyway
        _route_all(socket.AF_INET6)


def allow_ipv6() -> None:
    """Engines turn it off in containers; ``::1`` is an address to serve, and others to be seen."""
    for device in ("all", "default", "lo"):
        name = f"/proc/sys/net/ipv6/conf/{device}/disable_ipv6"
        with contextlib.suppress(OSError), open(name, "w") as file:
            file.write("0")


def _route_all(family: int) -> None:
    route = struct.pack(
        "=BBBBBBBBI", family, 0, 0, 0, _TABLE_LOCAL, _PROTO_STATIC, _SCOPE_HOST, _TYPE_LOCAL, 0
    )
    _netlink(_NEWROUTE, _CREATE, route + struct.pack("=HHi", 8, _RTA_OIF, _LOOPBACK))


def _netlink(kind: int, flags: int, body: bytes) -> None:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as sock:
        sock.sendto(
            struct.pack("=IHHII", 16 + len(body), kind, _REQUEST_ACK | flags, 1, 0) + body, (0, 0)
        )
        answer = sock.recv(4096)
    _, answered, _, _, _, status = struct.unpack_from("=IHHIIi", answer)
    if answered == _ERROR and status:
        raise OSError(-status, f"netlink request {kind}: {os.strerror(-status)}")


def counter() -> socket.socket | None:
    """The packet socket; none on a kernel that has no such sockets."""
    try:
        return packet_socket()
    except OSError:
        return None


def packet_socket() -> socket.socket:
    """A socket on ``lo`` that yields what :attr:`sandboxes.base.Sandbox.packets` promises."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)  # protocol 0: nothing arrives yet
    program, keep = kernel.packet_filter(packet_program())
    sock.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)
    del keep
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    sock.bind(("lo", _EVERY_PROTOCOL))
    sock.setblocking(False)
    return sock


def packet_program() -> bytes:
    """Arrivals to addresses beyond loopback, and every TCP packet with SYN and without ACK."""
    code = bpf.Program()
    code.do(bpf.LOAD_WORD, _ANCILLARY_DIRECTION)
    code.equal(_INCOMING, no="drop")
    code.do(bpf.LOAD_WORD, _ANCILLARY_PROTOCOL)
    code.equal(_IPV6, yes="six")
    code.equal(_IPV4, no="drop")
    code.do(bpf.LOAD_WORD, 16)  # destination
    code.do(bpf.MASK, 0xFF000000)
    code.equal(0x7F000000, no="keep")
    code.do(bpf.LOAD_BYTE, 9)  # protocol
    code.equal(_TCP, no="drop")
    code.do(bpf.LOAD_HALF, 6)  # only a first fragment has a TCP header
    code.any_bit(0x1FFF, yes="drop")
    code.do(bpf.LOAD_HEADER_LENGTH)
    code.do(bpf.LOAD_BYTE_INDEXED, 13)  # TCP flags
    code.do(bpf.MASK, _SYN_ACK)
    code.equal(_SYN, yes="keep", no="drop")
    code.place("six")
    for at, word in ((24, 0), (28, 0), (32, 0), (36, 1)):  # destination, word by word
        code.do(bpf.LOAD_WORD, at)
        code.equal(word, no="keep")
    code.do(bpf.LOAD_BYTE, 6)  # next header
    code.equal(_TCP, no="drop")
    code.do(bpf.LOAD_BYTE, 53)  # TCP flags
    code.do(bpf.MASK, _SYN_ACK)
    code.equal(_SYN, no="drop")
    code.place("keep")
    code.answer(_KEPT_BYTES)
    code.place("drop")
    code.answer(0)
    return code.code()


def listen(host: str, port: int, kind: str) -> socket.socket:
    """Bind an address inside.

    Raises:
        ValueError: not a loopback address, or an unknown kind.
        OSError: ``EADDRINUSE`` where something inside has it.
    """
    if not (host == "::1" or host.startswith("127.")) or kind not in {"tcp", "udp"}:
        msg = f"{kind} {host}:{port} cannot be served: expected tcp or udp on 127.0.0.0/8 or ::1"
        raise ValueError(msg)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM)
    try:
        if kind == "tcp":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        if kind == "tcp":
            sock.listen(_BACKLOG)
    except OSError:
        sock.close()
        raise
    return sock
