"""The token: made at the first start, for the user's eyes alone, shown with every request."""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from runtime.daemon.answers import Answers
from runtime.errors import AgentdError

#: The one path that needs no token, and tells nothing.
OPEN: Final = "/health"
_SHORTEST: Final = 16


class BadToken(AgentdError):
    """The file of the token is none that can be trusted."""


def token_of(path: Path) -> str:
    """The token of a file, which is made where there is none.

    Raises:
        BadToken: others can read it, or there is no token in it.
    """
    with contextlib.suppress(FileExistsError):
        _make(path)
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise BadToken(f"{path}: {error.strerror}", "remove it; a new one is made") from None
    with os.fdopen(file, "rb") as opened:
        mode = os.fstat(file).st_mode
        written = opened.read(4096).strip()
    if not stat.S_ISREG(mode) or mode & 0o077:
        raise BadToken(f"{path} can be read by others", "remove it; a new one is made")
    if len(written) < _SHORTEST or not written.isascii() or len(written.split()) != 1:
        raise BadToken(f"{path} has no token in it", "remove it; a new one is made")
    return written.decode()


def _make(path: Path) -> None:
    """Put a fresh token there, in one step."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(file, "w") as opened:
            opened.write(f"{secrets.token_urlsafe(32)}\n")
        path.hardlink_to(fresh)
    finally:
        fresh.unlink()


class Guarded:
    """An application that only answers who shows the token."""

    def __init__(self, app: ASGIApp, token: str, answers: Answers) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()
        self._answers = answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http" and (scope["path"] == OPEN or self._shown(scope)):
            await self._app(scope, receive, send)
            return
        refused = await self._answers.error(401, "unauthorized", "show the token as a bearer token")
        refused.headers["www-authenticate"] = "Bearer"
        await refused(scope, receive, send)

    def _shown(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(given) == 1 and hmac.compare_digest(given[0], self._wanted)
