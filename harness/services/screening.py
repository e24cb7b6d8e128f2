"""What a request says, made fit to be stored.

Planted secrets become marks, wherever they stand: in the path, in a header, in the body.
Credentials and the ids by which agents know their machine and their session are replaced
too, for evidence is shown to others; equal ids stay recognisable by their number.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from typing import Final

from harness.services.base import Redact

HIDDEN: Final = "[redacted]"

_CREDENTIALS: Final = frozenset(
    {
        "api-key",
        "authorization",
        "cookie",
        "proxy-authorization",
        "x-api-key",
        "x-goog-api-key",
    }
)
_IDS: Final = frozenset(
    {
        "session-id",
        "session_id",
        "thread-id",
        "x-claude-code-session-id",
        "x-codex-window-id",
        "x-litellm-session-id",
        "x-session-affinity",
        "x-session-id",
    }
)
# Looked for by their underscore: quotes are far more frequent in a body.
_BODY_IDS: Final = re.compile(
    rb'_(?:(?:(?<="user_)|(?<="device_)|(?<="session_)|(?<="thread_)|(?<="installation_))id'
    rb'|(?<="account_)uuid|(?<="prompt_)cache_key)"'
    rb'\s*:\s*"((?:[^"\\]|\\.)+)"'
)
_MOST_IDS: Final = 10_000


class Screen:
    """Screens the requests of one trial.

    Args:
        redact: replaces planted secrets; ``None``: none is planted.
    """

    def __init__(self, redact: Redact | None) -> None:
        self._redact = redact
        self._ids: dict[bytes, str] = {}
        self._lock = threading.Lock()

    def text(self, text: str) -> tuple[str, Sequence[str]]:
        """A path, a host name or the like."""
        if self._redact is None:
            return text, ()
        screened, marks = self._redact(text.encode("utf-8", "surrogateescape"))
        return screened.decode("utf-8", "replace"), marks

    def headers(self, headers: Mapping[str, str]) -> tuple[Mapping[str, str], Sequence[str]]:
        """Headers; a credential in which a secret was found shows its mark, and no more."""
        if self._redact is not None:
            together = "\n".join([f"{name}\n{value}" for name, value in headers.items()])
            if self.text(together)[1]:
                return self._headers_one_by_one(headers)
        return {name: self._shown(name, value) for name, value in headers.items()}, ()

    def _headers_one_by_one(
        self, headers: Mapping[str, str]
    ) -> tuple[Mapping[str, str], Sequence[str]]:
        shown = {}
        found: list[str] = []
        for name, value in headers.items():
            screened, marks = self.text(value)
            if marks and name in _CREDENTIALS:
                screened = " ".join([HIDDEN, *marks])
            elif not marks:
                screened = self._shown(name, value)
            key, marks_of_name = self.text(name)
            shown[key] = screened
            found += [*marks_of_name, *marks]
        return shown, found

    def _shown(self, name: str, value: str) -> str:
        if name in _CREDENTIALS:
            return HIDDEN
        if name in _IDS:
            return self._id(value.encode())
        return value

    def body(self, body: bytes, *, of_agent: bool) -> tuple[bytes, Sequence[str]]:
        """A body; ``of_agent`` says that its fields are an agent's own, to the model."""
        screened, marks = self._redact(body) if self._redact is not None else (body, ())
        if of_agent and screened:
            screened = _BODY_IDS.sub(self._hide_id, screened)
        return screened, marks

    def _hide_id(self, match: re.Match[bytes]) -> bytes:
        start, end = match.start(1) - match.start(), match.end(1) - match.start()
        return match[0][:start] + self._id(match[1]).encode() + match[0][end:]

    def _id(self, value: bytes) -> str:
        with self._lock:
            known = self._ids.get(value)
            if known is None:
                if len(self._ids) == _MOST_IDS:
                    return "[id]"
                known = self._ids[value] = f"[id:{len(self._ids) + 1}]"
            return known
