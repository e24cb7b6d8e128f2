"""Could the same work now? What cannot be found out counts as no.

Each check looks at what the failure was about, changes nothing, and has a deadline of its own: a
mount that hangs is no answer.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import urlsplit

import anyio

from runtime.recovery.classes import FailureClass
from runtime.recovery.guard.changes import paths_of
from runtime.recovery.observe import Failed
from runtime.tools.base import Context

#: Seconds for a check.
PATIENCE: Final = 5.0
_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found.

    Attributes:
        ok: whether a retry could work; ``None`` where that cannot be found out.
        why: what was looked at.
    """

    ok: bool | None
    why: str


async def verify(failed: Failed, context: Context) -> Checked:
    """Check what a retry of a failed call needs."""
    check = _CHECKS.get(failed.classified.cls)
    if check is None:
        return Checked(None, f"nothing is known that could be checked for {failed.classified.cls}")
    look = partial(check, failed, context)
    try:
        with anyio.fail_after(PATIENCE):
            return await anyio.to_thread.run_sync(look, abandon_on_cancel=True)
    except TimeoutError:
        return Checked(None, f"the check took longer than {PATIENCE:g} s")
    except (OSError, ValueError) as error:
        return Checked(None, f"the check failed: {error}")


def _permission(failed: Failed, context: Context) -> Checked:
    """Every path of the call can be read by now."""
    paths = [
        context.workspace / str(failed.call.arguments[name])
        for name in paths_of(failed.tool)
        if name in failed.call.arguments
    ]
    if not paths:
        return Checked(None, "the call names no path")
    for path in paths:
        try:
            path.stat()
        except FileNotFoundError:
            return Checked(False, f"{path} is not there")
        except OSError as error:
            return Checked(None, f"{path} cannot be looked at: {error.strerror}")
        if not os.access(path, os.R_OK | (os.X_OK if path.is_dir() else 0)):
            return Checked(False, f"{path} still cannot be read")
    return Checked(True, "every path can be read")


def _dependency(failed: Failed, context: Context) -> Checked:
    """The program that was missing is there by now."""
    program = failed.result.data.get("program")
    if not isinstance(program, str):
        return Checked(None, "it is not known which program was missing")
    if shutil.which(program, path=context.environment.get("PATH", os.defpath)):
        return Checked(True, f"{program} is there")
    return Checked(False, f"{program} is still missing")


def _network(failed: Failed, context: Context) -> Checked:
    """Whoever was called takes a connection."""
    url = failed.result.data.get("url")
    if not isinstance(url, str):
        return Checked(None, "it is not known who was called")
    host, port = _peer(url, context.environment)
    if host is None:
        return Checked(None, f"no host can be made out in {url}")
    try:
        socket.create_connection((host, port), timeout=PATIENCE / 2).close()
    except OSError as error:
        return Checked(False, f"{host}:{port} takes no connection: {error}")
    return Checked(True, f"{host}:{port} takes connections")


def _peer(url: str, environment: Mapping[str, str]) -> tuple[str | None, int]:
    """Who is connected to for a URL: its host, or the proxy before it."""
    parts = urlsplit(url)
    proxies = {
        name.removesuffix("_proxy"): value
        for name, value in ((name.lower(), value) for name, value in environment.items())
        if name.endswith("_proxy") and value
    }
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    spared = [each.strip().lstrip(".") for each in proxies.get("no", "").split(",")]
    name = parts.hostname or ""
    bypassed = any(each == "*" or (each and f".{name}".endswith(f".{each}")) for each in spared)
    reached = urlsplit(proxy) if proxy and not bypassed else parts
    return reached.hostname, reached.port or _PORTS.get(reached.scheme, 80)


def _rate(failed: Failed, context: Context) -> Checked:  # noqa: ARG001
    """It was a server that asked for time, and it was given."""
    if failed.result.data.get("status") in (429, 503) or failed.result.data.get("retry_after"):
        return Checked(True, "the server asked for time, and was given it")
    return Checked(None, "it is not known how long to wait")


def _decided_by_change(failed: Failed, context: Context) -> Checked:  # noqa: ARG001
    """The table has a change that helps, or the guard finds none."""
    return Checked(True, "what was wrong is in the call itself")


_CHECKS: Final[Mapping[FailureClass, Callable[[Failed, Context], Checked]]] = {
    FailureClass.PERMISSION_DENIED: _permission,
    FailureClass.MISSING_DEPENDENCY: _dependency,
    FailureClass.NETWORK: _network,
    FailureClass.RATE_LIMIT: _rate,
    FailureClass.BAD_ARGUMENTS: _decided_by_change,
    FailureClass.OUTPUT_CONTRACT: _decided_by_change,
    FailureClass.MISSING_PATH: _decided_by_change,
}
