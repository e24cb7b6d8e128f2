"""The keeper of one sandbox: it stays outside, builds it, and answers the harness.

It is forked ahead, and makes what every sandbox needs before it knows which one. When the harness or pid 1 is gone the sandbox is removed, and the keeper ends.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import traceback

from sandboxes.helper import kernel, operations, paths, trees, wire
from sandboxes.helper.box import Box
from sandboxes.helper.ground import Entered, Failed, Ground

_EXPECTED = (OSError, Failed, ValueError, paths.Refused, trees.TooDeep)


def stand_by(ground: Ground, helper: socket.socket) -> None:
    """Get ready, wait for the channel of a sandbox, and be its keeper."""
    ready: Entered | OSError | None
    try:
        ready = ground.ahead([helper])
    except OSError as error:
        ready = error
    _, fds, _, _ = socket.recv_fds(helper, 1, 1)
    helper.close()
    if not fds:
        return
    kernel.set_name("shakeout-keeper")
    keep(ground, socket.socket(fileno=fds[0]), ready)


def keep(ground: Ground, harness: socket.socket, ready: Entered | OSError | None = None) -> None:
    """Be the keeper of the sandbox that is asked for on a channel; ``ready``: made ahead for it."""
    with contextlib.suppress(wire.Closed), harness:
        if isinstance(ready, OSError):
            wire.send(harness, _problem(ready))
            return
        try:
            _serve(ground, harness, ready)
        except wire.Closed:
            raise
        except Exception:  # noqa: BLE001 - there is nobody above to raise to
            lost = {"kind": "SandboxLost", "message": traceback.format_exc()}
            wire.send(harness, {"error": lost})


def _serve(ground: Ground, harness: socket.socket, ready: Entered | None) -> None:
    """Be the keeper of one sandbox until it is destroyed or somebody is gone."""
    request = wire.receive(harness)
    if request.fds:
        request.body["brought"] = request.fds[0]
    try:
        entered = ready or ground.enter(request.body, [harness])
    except _EXPECTED as error:
        wire.send(harness, _problem(error))
        return
    box = Box(ground, request.body, entered.pid1)
    try:
        answer, handed = box.build(request.payload, entered.counter)
    except (*_EXPECTED, wire.Closed) as error:
        box.remove()
        wire.send(harness, _problem(error))
        return
    left: list[str] | None = None
    try:
        wire.send(harness, answer, fds=[sock.fileno() for sock in handed])
        for sock in handed:
            # The last to close a packet socket waits 10 ms for the kernel: let that be us, at exit.
            if sock.family != socket.AF_PACKET:
                sock.close()
        with _poller(box, harness) as poller:
            while left is None:
                left = _turn(box, harness, poller)
    finally:
        if left is None:
            box.remove()
    wire.send(harness, {"left": left})


def _poller(box: Box, harness: socket.socket) -> select.epoll:
    poller = select.epoll()
    poller.register(harness, select.EPOLLIN)
    poller.register(box.pid1.handle, select.EPOLLIN)
    if box.watcher is not None:
        poller.register(box.watcher.reports, select.EPOLLIN)
    return poller


def _turn(box: Box, harness: socket.socket, poller: select.epoll) -> list[str] | None:
    """Answer what came; gives what is left when that was to destroy."""
    ready = dict(poller.poll(None if box.watcher is None else box.watcher.patience()))
    if box.pid1.handle in ready:
        raise wire.Closed("pid 1 of the sandbox is dead")
    for fd, event in ready.items():
        if box.watcher is not None and fd != harness.fileno():
            box.watcher.hear(fd, event, poller)
    if box.watcher is not None:
        box.watcher.tick()
    return _answer(box, harness) if harness.fileno() in ready else None


def _answer(box: Box, harness: socket.socket) -> list[str] | None:
    """Answer one request; gives what is left when that was to destroy."""
    request = wire.receive(harness)
    if request.body["op"] == "destroy":
        return box.remove()
    try:
        answer = operations.OPERATIONS[request.body["op"]](box, request)
    except _EXPECTED as error:
        wire.send(harness, _problem(error))
        return None
    try:
        wire.send(harness, answer.body, fds=answer.fds)
    finally:
        for fd in answer.fds:
            os.close(fd)
    return None


def _problem(error: Exception) -> dict[str, object]:
    return {"error": {"kind": getattr(error, "kind", "SandboxError"), "message": str(error)}}
