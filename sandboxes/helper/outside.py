"""The relay of one sandbox, at the harness's end of the stream to its container.

It has a network of its own, in which the harness's services are connected to: nobody else on
the machine can. When the harness is gone it is killed, the stream ends, and so does the
container.
"""

from __future__ import annotations

import contextlib
import os
import socket
import traceback
from dataclasses import dataclass

from sandboxes.helper import engines, frames, kernel, network, passing, relay, wire
from sandboxes.helper.contained import AGENT
from sandboxes.helper.ground import Unusable


@dataclass(frozen=True, slots=True)
class Nothing:
    """Control groups: there are none on this side."""

    provides: frozenset[str] = frozenset()

    def remove(self, name: str) -> list[str]:
        """Nothing is ours."""
        del name
        return []

    def close(self) -> list[str]:
        """Nothing is ours."""
        return []


@dataclass(frozen=True, slots=True)
class Apart:
    """What a helper stands on whose sandboxes are elsewhere.

    Attributes:
        engine: path of its socket; empty where it has none.
        label: what the containers of the run carry, and no others do.
    """

    engine: str
    label: str
    site: Nothing = Nothing()
    uid: int = AGENT
    root_grade: bool = True

    def bereave(self, making: int) -> None:
        """Containers, which end by themselves only once they were started."""
        if self.engine:
            engines.remove_all(self.engine, self.label, making)


def check() -> None:
    """See, in a child, that a network of our own can be had.

    Raises:
        Unusable: it cannot.
    """
    pid = os.fork()
    if pid == 0:
        code = 1
        with contextlib.suppress(OSError):
            _enter_network()
            code = 0
        os._exit(code)
    if os.waitpid(pid, 0)[1]:
        remedy = (
            "run as root, or allow unprivileged user namespaces (sysctl "
            "kernel.unprivileged_userns_clone=1; on Ubuntu sysctl "
            "kernel.apparmor_restrict_unprivileged_userns=0)"
        )
        raise Unusable("no network of our own can be had, to serve a container through", remedy)


def _enter_network() -> None:
    kernel.unshare(kernel.NEWNET if os.geteuid() == 0 else kernel.NEWNET | kernel.NEWUSER)
    network.raise_loopback()


def stand_by(helper: socket.socket) -> None:
    """Get ready, wait for the channel of a sandbox, and be its relay."""
    _enter_network()
    _, fds, _, _ = socket.recv_fds(helper, 1, 1)
    helper.close()
    if not fds:
        return
    kernel.set_name("shakeout-relay")
    harness = socket.socket(fileno=fds[0])
    with contextlib.suppress(wire.Closed):
        stream = frames.Stream(fd := wire.receive(harness).fds[0], fd, enveloped=True)
        end = relay.Relay(stream, passing.Outside(), 1)
        relay.Wire(end, 0, harness)
        wire.send(harness, {"error": {"kind": "SandboxLost", "message": _run(end)}})


def _run(end: relay.Relay) -> str:
    """Carry until it is over; gives why that is."""
    try:
        end.run()
    except relay.Ended as error:
        said = end.stream.said.decode("utf-8", "replace").strip()
        return f"the sidecar in the container is gone: {said or error}"
    except Exception:  # noqa: BLE001 - there is nobody above to raise to
        return traceback.format_exc()
