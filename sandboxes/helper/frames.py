"""Frames on a byte stream: a kind, a channel, and some bytes."""

from __future__ import annotations

import enum
import json
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_HEAD = struct.Struct("!BII")
_ENGINE = struct.Struct("!BxxxI")  # what an engine puts before what a container wrote
_LENGTH = struct.Struct("!II")
#: Bytes in a frame at most.
MOST = 32 << 10
_CHUNK = 256 << 10
_SAID = 4096


class Kind(enum.IntEnum):
    """What a frame is."""

    MORE = 1  # a piece of a message
    LAST = 2  # its last piece
    DATA = 3  # bytes of a stream
    CREDIT = 4  # how many bytes more may come
    EOF = 5  # nothing more comes
    RESET = 6  # it was broken off
    OPEN = 7  # somebody connected to a listener
    DATAGRAM = 8  # one datagram, by the number of who sent it or is to get it
    REFUSE = 9  # a listener is to refuse, or to admit again
    ADMIT = 10


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame."""

    kind: Kind
    channel: int
    data: bytes


class Stream:
    """Both directions of a stream, non-blocking.

    Args:
        reading: descriptor that frames come on.
        writing: descriptor that they go to; it may be the same.
        enveloped: whether an engine's envelopes are around what comes: one names the output
            or the errors of the container's program.
    """

    def __init__(self, reading: int, writing: int, *, enveloped: bool = False) -> None:
        self.reading = reading
        self.writing = writing
        self.said = b""  # the end of what came as errors
        self.waiting = 0  # bytes that are still to be sent
        self._out: list[memoryview] = []
        self._in = bytearray()
        self._envelopes = bytearray() if enveloped else None
        for fd in (reading, writing):
            os.set_blocking(fd, False)

    def put(self, kind: Kind, channel: int, data: bytes | memoryview) -> None:
        """Queue a frame."""
        self.put_raw(_HEAD.pack(kind, channel, len(data)) + data)

    def put_raw(self, data: bytes) -> None:
        """Queue what is no frame, before there are any."""
        self._out.append(memoryview(data))
        self.waiting += len(data)

    def flush(self) -> None:
        """Write what can be written."""
        while self._out:
            data = self._out[0]
            if len(self._out) > 1 and len(data) < MOST:
                self._join()
                continue
            try:
                sent = os.write(self.writing, data)
            except BlockingIOError:
                return
            self.waiting -= sent
            self._out[0] = data[sent:]
            if not self._out[0]:
                self._out.pop(0)

    def _join(self) -> None:
        """Make one of the small frames that wait."""
        size = count = 0
        while count < len(self._out) and size < _CHUNK:
            size += len(self._out[count])
            count += 1
        self._out[:count] = [memoryview(b"".join(self._out[:count]))]

    def get(self) -> Iterator[Frame]:
        """The frames that are complete now.

        Raises:
            EOFError: nothing more comes.
            ValueError: these are no frames.
        """
        try:
            data = os.read(self.reading, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            raise EOFError
        self._in += data if self._envelopes is None else self._unwrapped(data)
        at = 0
        while len(self._in) - at >= _HEAD.size:
            kind, channel, length = _HEAD.unpack_from(self._in, at)
            if length > MOST:
                raise ValueError(f"a frame of {length} bytes: at most {MOST} are sent")
            if len(self._in) - at < _HEAD.size + length:
                break
            at += _HEAD.size
            yield Frame(Kind(kind), channel, bytes(self._in[at : at + length]))
            at += length
        del self._in[:at]

    def _unwrapped(self, data: bytes) -> bytes:
        assert self._envelopes is not None  # noqa: S101 - only called then
        self._envelopes += data
        found = bytearray()
        at = 0
        while len(self._envelopes) - at >= _ENGINE.size:
            stream, length = _ENGINE.unpack_from(self._envelopes, at)
            if len(self._envelopes) - at < _ENGINE.size + length:
                break
            at += _ENGINE.size
            piece = self._envelopes[at : at + length]
            at += length
            if stream == 1:
                found += piece
            else:
                self.said = (self.said + piece)[-_SAID:]
        del self._envelopes[:at]
        return bytes(found)


def sealed(items: bytes, attached: bytes | bytearray, raw: bytes) -> bytes:
    """A message with what is said of its descriptors, and what is attached to those."""
    return b"".join((_LENGTH.pack(len(items), len(attached)), items, attached, raw))


def opened(message: memoryview) -> tuple[list[dict[str, Any]], memoryview, memoryview]:
    """What :func:`sealed` put together."""
    length, extra = _LENGTH.unpack_from(message)
    begin = _LENGTH.size + length
    items = json.loads(bytes(message[_LENGTH.size : begin]))
    return items, message[begin : begin + extra], message[begin + extra :]
