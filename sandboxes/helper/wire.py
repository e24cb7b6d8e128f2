"""Messages between harness, keeper and pid 1: a header, JSON, raw bytes, descriptors.

JSON carries names (undecodable bytes as surrogate escapes), the payload carries contents,
``SCM_RIGHTS`` carries descriptors, which arrive close-on-exec. Both ends are ours; what the
subject makes only ever travels as a value.
"""

from __future__ import annotations

import array
import json
import os
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_HEAD = struct.Struct("!IQ")
_MAX_DESCRIPTORS = 253  # SCM_MAX_FD of the kernel
_ANCILLARY = socket.CMSG_SPACE(_MAX_DESCRIPTORS * 4)


class Closed(Exception):
    """The other end is gone."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message.

    Attributes:
        body: a JSON object.
        payload: raw bytes.
        fds: descriptors, owned by whoever received them.
    """

    body: dict[str, Any]
    payload: bytes = b""
    fds: tuple[int, ...] = ()


def send(
    sock: socket.socket, body: dict[str, Any], payload: bytes = b"", fds: Sequence[int] = ()
) -> None:
    """Send a message; the sender keeps its copies of the descriptors.

    Raises:
        Closed: nobody reads.
        ValueError: more descriptors than the kernel passes at once.
    """
    if len(fds) > _MAX_DESCRIPTORS:
        msg = f"{len(fds)} descriptors in one message, at most {_MAX_DESCRIPTORS} can be passed"
        raise ValueError(msg)
    text = json.dumps(body, separators=(",", ":")).encode()
    data = _HEAD.pack(len(text), len(payload)) + text
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    try:
        sent = sock.sendmsg([data], rights, socket.MSG_NOSIGNAL)
        if sent < len(data):
            sock.sendall(data[sent:], socket.MSG_NOSIGNAL)
        if payload:
            sock.sendall(payload, socket.MSG_NOSIGNAL)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise Closed(str(error)) from error


def receive(sock: socket.socket) -> Message:
    """Receive one message.

    Raises:
        Closed: the other end is gone, or left in the middle of a message.
        TimeoutError: the socket has a timeout and it passed.
    """
    try:
        head, ancillary, _, _ = sock.recvmsg(_HEAD.size, _ANCILLARY, socket.MSG_CMSG_CLOEXEC)
        fds = _descriptors(ancillary)
        try:
            head += _exactly(sock, _HEAD.size - len(head))
            length, extra = _HEAD.unpack(head)
            body = json.loads(_exactly(sock, length))
            return Message(body, _exactly(sock, extra), fds)
        except BaseException:
            for fd in fds:
                os.close(fd)
            raise
    except ConnectionResetError as error:
        raise Closed(str(error)) from error


def receive_raw(sock: socket.socket) -> tuple[bytes, tuple[int, ...]]:
    """Receive one message as it came, to be passed on: its bytes and its descriptors.

    Raises:
        Closed: the other end is gone, or left in the middle of a message.
    """
    try:
        head, ancillary, _, _ = sock.recvmsg(_HEAD.size, _ANCILLARY, socket.MSG_CMSG_CLOEXEC)
        head += _exactly(sock, _HEAD.size - len(head))
        return head + _exactly(sock, sum(_HEAD.unpack(head))), _descriptors(ancillary)
    except ConnectionResetError as error:
        raise Closed(str(error)) from error


def send_some(sock: socket.socket, data: memoryview, fds: Sequence[int]) -> int:
    """Send what there is room for of a message that came so, descriptors first; how much it was.

    Raises:
        BlockingIOError: there is no room.
        Closed: nobody reads.
    """
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    try:
        return sock.sendmsg([data], rights, socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise Closed(str(error)) from error


def _descriptors(ancillary: list[tuple[int, int, bytes]]) -> tuple[int, ...]:
    found = array.array("i")
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            found.frombytes(data[: len(data) - len(data) % found.itemsize])
    return tuple(found)


def _exactly(sock: socket.socket, count: int) -> bytes:
    if not count:
        return b""
    data = bytearray(count)
    view = memoryview(data)
    while view:
        got = sock.recv_into(view)
        if not got:
            raise Closed("end of file")
        view = view[got:]
    return bytes(data)
