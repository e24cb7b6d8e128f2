"""What becomes of a descriptor on its way through a relay.

From the harness come pipes for the streams of a program. From inside come the files that are
copied out, listeners, the packet socket and the conversation with pid 1.
"""

from __future__ import annotations

import fcntl
import os
import socket
import stat
from typing import Any

from sandboxes.helper.datagrams import Answered, Counted, Datagrams, Packets
from sandboxes.helper.halves import Bound, Flow, Served
from sandboxes.helper.relay import Relay, Wire

#: Of a file that is longer, its begin and its end travel, and a hole between them.
_BEGIN, _END = 6 << 20, 1 << 20
_BACKLOG = 512


class Outside:
    """At the end of the harness."""

    def give(self, relay: Relay, fd: int, data: bytearray) -> dict[str, object]:
        """A stream of a program, which becomes a pipe inside."""
        del data
        channel = relay.number()
        if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            Flow(relay, channel, fd, -1)
            return {"kind": "source", "channel": channel}
        Flow(relay, channel, -1, fd)
        return {"kind": "sink", "channel": channel}

    def take(self, relay: Relay, item: dict[str, Any], data: memoryview) -> int:
        """What is handed out of the sandbox."""
        if item["kind"] == "file":
            return _file(item["size"], item["begin"], data)
        channel = item["channel"]
        if item["kind"] == "wire":
            ours, theirs = socket.socketpair()
            Wire(relay, channel, ours)
            return theirs.detach()
        if item["kind"] == "packets":
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            theirs.setblocking(False)
            Counted(relay, channel, ours)
            return theirs.detach()
        sock = socket.socket(socket.AF_INET, item["type"])
        sock.bind(("127.0.0.1", 0))
        copy = os.dup(sock.fileno())
        if item["type"] == socket.SOCK_DGRAM:
            Answered(relay, channel, sock.getsockname())
            sock.close()
        else:
            sock.listen(_BACKLOG)
            Served(relay, channel, sock)
        return copy


class Inside:
    """At the end that is in the container."""

    def give(self, relay: Relay, fd: int, data: bytearray) -> dict[str, object]:
        """What is handed out of the sandbox."""
        if stat.S_ISREG(os.fstat(fd).st_mode):
            return _contents(fd, data)
        channel = relay.number()
        sock = socket.socket(fileno=fd)
        if sock.family == socket.AF_UNIX:
            Wire(relay, channel, sock)
            return {"kind": "wire", "channel": channel}
        if sock.family == socket.AF_PACKET:
            Packets(relay, channel, sock)
            return {"kind": "packets", "channel": channel}
        if sock.type == socket.SOCK_DGRAM:
            Datagrams(relay, channel, sock)
        else:
            Bound(relay, channel, sock)
        return {"kind": "bound", "channel": channel, "type": int(sock.type)}

    def take(self, relay: Relay, item: dict[str, Any], data: memoryview) -> int:
        """A stream of a program: a pipe of our own."""
        del data
        reading, writing = os.pipe()
        if item["kind"] == "source":
            Flow(relay, item["channel"], -1, writing)
            return reading
        Flow(relay, item["channel"], reading, -1)
        return writing


def _contents(fd: int, data: bytearray) -> dict[str, object]:
    """Attach what a regular file holds."""
    with os.fdopen(fd, "rb", buffering=0) as file:
        size = os.fstat(fd).st_size
        begin = _read(file.fileno(), 0, _BEGIN)
        data += begin
        if size > _BEGIN:
            data += _read(file.fileno(), max(_BEGIN, size - _END), _END)
    return {"kind": "file", "size": size, "begin": len(begin)}


def _read(fd: int, at: int, most: int) -> bytes:
    found = bytearray()
    while len(found) < most and (data := os.pread(fd, most - len(found), at + len(found))):
        found += data
    return bytes(found)


def _file(size: int, begin: int, data: memoryview) -> int:
    """A file with such contents, at its first byte."""
    fd = os.memfd_create("copied out")
    os.ftruncate(fd, max(size, begin))
    for at, piece in ((0, data[:begin]), (size - (len(data) - begin), data[begin:])):
        while piece:
            sent = os.pwrite(fd, piece, at)
            at, piece = at + sent, piece[sent:]  # noqa: PLW2901 - what is left of it
    return fd
