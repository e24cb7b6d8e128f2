"""One end of a conversation with a process of the helper, as errors and values."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from typing import Any

from sandboxes.errors import (
    AddressInUse,
    CommandNotFound,
    NotJoinable,
    SandboxError,
    SandboxLost,
)
from sandboxes.helper import wire

_ERRORS: dict[str, type[SandboxError]] = {
    "SandboxError": SandboxError,
    "SandboxLost": SandboxLost,
    "CommandNotFound": CommandNotFound,
    "AddressInUse": AddressInUse,
    "NotJoinable": NotJoinable,
}


class Fate:
    """Whether a sandbox is lost, and why; its channels share it, since it is lost as a whole."""

    def __init__(self) -> None:
        self.lost = ""


class Channel:
    """A socket on which each request gets one reply; anything else raises.

    After a missed deadline the conversation is out of step, so the sandbox counts as lost.
    """

    def __init__(self, sock: socket.socket, peer: str, fate: Fate) -> None:
        self._sock = sock
        self._peer = peer
        self._fate = fate

    def fileno(self) -> int:
        """For ``poll``."""
        return self._sock.fileno()

    def ask(
        self,
        body: dict[str, Any],
        payload: bytes = b"",
        fds: Sequence[int] = (),
        timeout: float = 60.0,
    ) -> wire.Message:
        """Send a request and give its reply."""
        self.send(body, payload, fds, timeout)
        return self.receive(timeout)

    def send(
        self,
        body: dict[str, Any],
        payload: bytes = b"",
        fds: Sequence[int] = (),
        timeout: float = 60.0,
    ) -> None:
        """Send without waiting for an answer."""
        self._alive()
        self._sock.settimeout(timeout)
        try:
            wire.send(self._sock, body, payload, fds)
        except (wire.Closed, OSError) as error:
            raise self._lose(f"{self._peer} takes no requests: {error}") from error

    def receive(self, timeout: float) -> wire.Message:
        """The next message; an error it carries is raised."""
        self._alive()
        self._sock.settimeout(timeout)
        try:
            message = wire.receive(self._sock)
        except TimeoutError as error:
            raise self._lose(f"{self._peer} did not answer within {timeout:g} s") from error
        except (wire.Closed, OSError) as error:
            raise self._lose(f"{self._peer} is gone: {error}") from error
        problem = message.body.get("error")
        if problem is None:
            return message
        for fd in message.fds:
            os.close(fd)
        kind = _ERRORS.get(problem["kind"], SandboxError)
        if kind is SandboxLost:
            raise self._lose(problem["message"])
        raise kind(problem["message"])

    def close(self) -> None:
        """Hang up."""
        self._fate.lost = self._fate.lost or f"{self._peer} was destroyed"
        self._sock.close()

    def _alive(self) -> None:
        if self._fate.lost:
            raise SandboxLost(self._fate.lost)

    def _lose(self, why: str) -> SandboxLost:
        self._fate.lost = why
        return SandboxLost(why)
