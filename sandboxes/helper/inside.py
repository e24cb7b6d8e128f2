"""The sidecar: pid 1 of a container, with the keeper of its one sandbox beside it.

It carries between the harness, on its standard streams, and the keeper. When the harness is
gone its input ends, and then it ends, and the container with it.
"""

from __future__ import annotations

import os
import signal
import socket
import traceback

from sandboxes.helper import contained, frames, keeper, kernel, passing, relay


def main() -> None:
    """Serve until the harness is gone; never returns."""
    code = 1
    try:
        _serve()
        code = 0
    except Exception:  # noqa: BLE001 - there is nobody above to raise to
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _serve() -> None:
    kernel.clear_environment()
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    os.umask(0o022)
    ground = contained.prepare()
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        _keep(ground, ours, theirs)
    theirs.close()
    stream = frames.Stream(0, 1)
    end = relay.Relay(stream, passing.Inside(), 2)
    relay.Wire(end, 0, ours)
    try:
        end.run()
    except relay.Ended:
        end.finish()


def _keep(ground: contained.Contained, ours: socket.socket, theirs: socket.socket) -> None:
    """Be the keeper, who has nothing of the stream."""
    try:
        ours.close()
        nothing = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1):
            os.dup2(nothing, fd)
        kernel.set_name("shakeout-keeper")
        keeper.keep(ground, theirs)
    finally:
        os._exit(0)
