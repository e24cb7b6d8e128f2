"""Answers that are no turns: probes, and requests on the side.

A side request is what an agent asks beside its work, without tools: a title, a commit
message, a summary. It is answered so that the agent can go on, and never from the script.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.services.base import Incoming
from harness.services.model.heard import Heard, NotHeard, tokens
from harness.services.model.protocols.base import (
    JSON_BODY,
    ModelProtocol,
    Stamp,
    Trouble,
    dumps,
    encode,
    failed,
)
from harness.services.model.protocols.registry import ANTHROPIC, CHAT, below_root, protocol_for
from harness.services.model.schema_fill import complete
from harness.services.reply import Part, Turn, Wire

#: Status of a request for a web socket: go on in plain HTTP.
UPGRADE_REQUIRED = 426

_TITLE = re.compile(r"\btitle\b", re.IGNORECASE)
_BORN = "2025-01-01T00:00:00Z"
_COUNTS = {
    "/messages/count_tokens": lambda tokens: {"input_tokens": tokens},
    "/responses/input_tokens": lambda tokens: {
        "object": "response.input_tokens",
        "input_tokens": tokens,
    },
}


def side_turn(heard: Heard, prompt: str) -> Turn:
    """Something sane and short: JSON where a schema asks for it, a title where one is wanted."""
    if heard.format is not None:
        return Turn(dumps(complete(heard.format, {})))
    return Turn("Scripted task" if _TITLE.search(prompt) else "Done.")


def probe(incoming: Incoming, models: Sequence[str], stamp: Stamp) -> Wire:
    """Answer what is no completion: HEAD, the list of models, counting, and all the rest."""
    path = below_root(incoming.path)
    if incoming.method == "HEAD":
        return Wire(200, {"content-type": JSON_BODY, "content-length": "0"})
    if incoming.method == "GET" and (path == "/models" or path.startswith("/models/")):
        return _models(incoming, path.removeprefix("/models").strip("/"), models, stamp)
    if incoming.method == "POST" and path in _COUNTS:
        return _json(_COUNTS[path](tokens(len(incoming.body))))
    return _refused(incoming, path, stamp)


def not_heard(protocol: ModelProtocol, why: NotHeard, stamp: Stamp) -> Wire:
    """A completion was asked for in no JSON."""
    return failed(protocol, Trouble(400, str(why)), stamp)


def beyond(protocol: ModelProtocol, steps: int, stamp: Stamp) -> Wire:
    """The script is at its end: an error that no official client retries."""
    message = f"The script has no more turns: all {steps} steps have been played or skipped."
    wire = failed(protocol, Trouble(400, message), stamp)
    headers = {**wire.headers, "x-should-retry": "false"}
    return Wire(wire.status, headers, wire.parts, protocol=protocol.name)


def _refused(incoming: Incoming, path: str, stamp: Stamp) -> Wire:
    protocol = protocol_for(incoming.path) or _spoken(incoming)
    if protocol_for(incoming.path) is None:
        return failed(protocol, Trouble(404, f"Nothing is served at {path}."), stamp)
    if "websocket" in incoming.headers.get("upgrade", "").lower():
        message = "Web sockets are not served; ask by POST."
        return failed(protocol, Trouble(UPGRADE_REQUIRED, message), stamp)
    message = f"{incoming.method} is not allowed here; ask by POST."
    return failed(protocol, Trouble(405, message), stamp)


def _spoken(incoming: Incoming) -> ModelProtocol:
    return ANTHROPIC if "anthropic-version" in incoming.headers else CHAT


def _json(value: object, status: int = 200) -> Wire:
    return Wire(status, {"content-type": JSON_BODY}, (Part(encode(dumps(value))),))


def _models(incoming: Incoming, wanted: str, models: Sequence[str], stamp: Stamp) -> Wire:
    anthropic = _spoken(incoming) is ANTHROPIC

    def described(name: str) -> Mapping[str, Any]:
        if anthropic:
            return {
                "type": "model",
                "id": name,
                "display_name": name,
                "created_at": _BORN,
                "lifecycle": "active",
            }
        return {"id": name, "object": "model", "created": stamp.created, "owned_by": "shakeout"}

    if wanted:  # any name will do, as it does for a completion
        return _json(described(wanted))
    listing = [described(name) for name in models]
    if anthropic:
        ends = {"first_id": models[0], "last_id": models[-1]}
        return _json({"data": listing, "has_more": False, **ends})
    return _json({"object": "list", "data": listing})
