"""The daemon, from its start to its end: one for a state folder, on a socket in it."""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import anyio
import uvicorn
from starlette.types import ASGIApp

from runtime.daemon import folder
from runtime.daemon.app import application
from runtime.daemon.auth import token_of
from runtime.daemon.parts import Parts, assembled
from runtime.daemon.stopping import Stopping
from runtime.daemon.turns import Turns
from runtime.errors import AgentdError, only
from runtime.places import Places
from runtime.screen.logs import ScreenFilter, ScreenFormatter
from runtime.screen.screen import Screen
from runtime.store.errors import StoreError

LOOPBACK: Final = "127.0.0.1"
#: Seconds between two looks for hand-offs that nobody answered, at most.
LOOK: Final = 30.0
#: Seconds that requests have to end when the daemon ends.
GRACE: Final = 5
_LOG: Final = logging.getLogger("agentd")


class CannotListen(AgentdError):
    """There is no listening where the daemon is to listen."""


async def serve(environment: Mapping[str, str]) -> None:
    """Serve until a signal, or a request, ends it.

    Raises:
        AgentdError: it cannot begin, or not go on; what was stored is left as it is.
    """
    places = Places.of(environment)
    with folder.alone(places):
        token = token_of(places.token)
        try:
            async with assembled(environment, known={"agentd-token": token}) as parts:
                with _logged(parts.screen), _bound(parts) as sockets:
                    await _served(parts, token, sockets)
        except BaseExceptionGroup as group:
            raise only(group) from group


async def _served(parts: Parts, token: str, sockets: Sequence[socket.socket]) -> None:
    stopping = Stopping()
    async with anyio.create_task_group() as group, anyio.create_task_group() as running:
        turns = Turns(parts, running, stopping)
        server = _Server(application(parts, turns, stopping, token))
        group.start_soon(_signals, stopping)
        group.start_soon(watch_silence, parts, stopping)
        group.start_soon(_end, stopping, turns, server)
        for conversation in await parts.conversations.answered():
            await turns.answered(conversation)
        parts.models.load()
        await server.serve(list(sockets))
        stopping.ask()
        group.cancel_scope.cancel()
    await parts.events.emit("daemon.stopped")
    if stopping.error:
        raise stopping.error


class _Server(uvicorn.Server):
    """The server, which leaves signals to the daemon."""

    def __init__(self, app: ASGIApp) -> None:
        config = uvicorn.Config(
            app,
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            timeout_graceful_shutdown=GRACE,
        )
        super().__init__(config)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for each in sockets or ():
            _LOG.warning("listening on %s", _named(each))


async def _signals(stopping: Stopping) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as received:
        async for _ in received:
            stopping.ask()


async def _end(stopping: Stopping, turns: Turns, server: _Server) -> None:
    await stopping.asked.wait()
    turns.end()
    server.should_exit = True


async def watch_silence(parts: Parts, stopping: Stopping) -> None:
    """Record as silence what nobody answers in time."""
    seconds = min(LOOK, parts.settings.recovery.answer_within)
    while True:
        await parts.clock.sleep(seconds)
        try:
            await parts.supervisor.handoffs.silence()
        except StoreError as error:
            stopping.fail(error)


@contextlib.contextmanager
def _bound(parts: Parts) -> Iterator[Sequence[socket.socket]]:
    """The sockets to listen on; whose the folder is, his is what lies where the socket goes."""
    path, port = parts.places.socket, parts.settings.listen.port
    with contextlib.ExitStack() as stack:
        path.unlink(missing_ok=True)
        stack.callback(path.unlink, missing_ok=True)
        sockets = [stack.enter_context(_listening(socket.AF_UNIX, str(path)))]
        path.chmod(0o600)
        if port is not None:
            sockets.append(stack.enter_context(_listening(socket.AF_INET, (LOOPBACK, port))))
        yield sockets


def _listening(family: socket.AddressFamily, address: str | tuple[str, int]) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if family == socket.AF_INET:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen()  # who finds the socket is not turned away
    except OSError as error:
        made.close()
        where = address if isinstance(address, str) else f"{address[0]}:{address[1]}"
        remedy = "set listen.port to another, or AGENTD_HOME to a shorter path"
        raise CannotListen(f"cannot listen on {where}: {error.strerror or error}", remedy) from None
    return made


def _named(each: socket.socket) -> str:
    if each.family == socket.AF_UNIX:
        return str(each.getsockname())
    host, port = each.getsockname()
    return f"http://{host}:{port}"


@contextlib.contextmanager
def _logged(screen: Screen) -> Iterator[None]:
    """Everything that is logged goes to the errors' stream, screened."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(ScreenFilter(screen))
    form = logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s")
    handler.setFormatter(ScreenFormatter(screen, form))
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
