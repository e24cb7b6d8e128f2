"""What the helper asks of an engine: to remove the containers of a harness that was killed.

One that runs ends by itself, as its input ends. One that was made and not started would stay,
and one that was asked for a moment ago comes to be only when nobody wants it any more.
"""

from __future__ import annotations

import contextlib
import json
import socket
import time
from typing import Any

_API = "v1.41"
_TIMEOUT = 10.0
_LINGER, _LOOK = 10.0, 0.1


def remove_all(path: str, label: str, expected: int) -> None:
    """Remove every container with a label, ``NAME=VALUE``.

    Where so many are expected to appear, that is waited for, and for a while only.
    """
    deadline = time.monotonic() + _LINGER
    seen: set[str] = set()
    while True:
        with contextlib.suppress(OSError, ValueError):  # the next sweep is the second line
            for container in _listed(path, label):
                seen.add(container)
                _ask(path, "DELETE", f"/containers/{container}?force=1&v=1")
        if len(seen) >= expected or time.monotonic() > deadline:
            return
        time.sleep(_LOOK)


def _listed(path: str, label: str) -> list[str]:
    from urllib.parse import quote  # noqa: PLC0415 - slow, and seldom needed

    wanted = quote(json.dumps({"label": [label]}))
    answer = _ask(path, "GET", f"/containers/json?all=1&filters={wanted}")
    return [each["Id"] for each in json.loads(answer)]


def _ask(path: str, method: str, what: str) -> bytes:
    from http.client import HTTPConnection, HTTPException  # noqa: PLC0415 - likewise

    connection: Any = HTTPConnection("localhost", timeout=_TIMEOUT)
    connection.sock = socket.socket(socket.AF_UNIX)
    try:
        connection.sock.settimeout(_TIMEOUT)
        connection.sock.connect(path)
        connection.request(method, f"/{_API}{what}")
        answer: bytes = connection.getresponse().read()
    except HTTPException as error:
        raise OSError(f"the engine said nothing of use: {error!r}") from error
    finally:
        connection.close()
    return answer
