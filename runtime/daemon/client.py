"""The daemon's client on this machine: requests over its socket, with the standard library alone."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from typing import Any

from runtime.errors import AgentdError
from runtime.places import Places

_PATIENCE = 30.0


class DaemonGone(AgentdError):
    """No daemon answers, or not any more."""


class Refused(AgentdError):
    """The daemon does not do what was asked."""


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("agentd", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Client:
    """What is asked of the daemon of a state folder."""

    def __init__(self, places: Places) -> None:
        self._places = places

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Ask for something, and give what is answered.

        Raises:
            DaemonGone: nobody answers.
            Refused: the answer is an error.
        """
        connection = self._connection()
        try:
            answer = self._sent(connection, method, path, body)
            said = json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise DaemonGone(f"the daemon does not answer: {error}", "start it again") from None
        finally:
            connection.close()
        if answer.status >= 400:
            raise Refused(f"the daemon refused: {said['error']['message']}", "")
        return said

    def events(self, conversation: str, after: int) -> Iterator[tuple[str, Any]]:
        """The events of a conversation behind a number, each with its kind.

        Raises:
            DaemonGone: the daemon ended.
        """
        connection = self._connection()
        try:
            answer = self._sent(
                connection, "GET", f"/events?conversation={conversation}&after={after}"
            )
            kind = ""
            for line in answer:
                name, _, value = line.decode().strip().partition(": ")
                if name == "event":
                    kind = value
                elif name == "data":
                    yield kind, json.loads(value)
        except (OSError, http.client.HTTPException) as error:
            raise DaemonGone(f"the daemon does not answer: {error}", "start it again") from None
        finally:
            connection.close()
        raise DaemonGone("the daemon ended", "start it again")

    def _connection(self) -> _Connection:
        return _Connection(str(self._places.socket), _PATIENCE)

    def _sent(
        self, connection: _Connection, method: str, path: str, body: Any = None
    ) -> http.client.HTTPResponse:
        token = self._places.token.read_text().strip()
        written = None if body is None else json.dumps(body).encode()
        connection.request(method, path, written, {"Authorization": f"Bearer {token}"})
        return connection.getresponse()
