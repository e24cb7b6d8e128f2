"""The protocols by the path that they answer, and by name."""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.services.model.protocols.anthropic import Anthropic
from harness.services.model.protocols.base import ModelProtocol
from harness.services.model.protocols.chat import Chat
from harness.services.model.protocols.responses import Responses
from harness.services.reply import Wire

ANTHROPIC, CHAT, RESPONSES = Anthropic(), Chat(), Responses()

#: By the end of the completion path.
PATHS: Mapping[str, ModelProtocol] = {
    "messages": ANTHROPIC,
    "chat/completions": CHAT,
    "responses": RESPONSES,
}

PROTOCOLS: Mapping[str, ModelProtocol] = {each.name: each for each in PATHS.values()}

# A client's base address may or may not have /v1, or a folder for the provider before it.
_ROOT = r"(?:/(?:[\w.-]+/)*(?:v\d+|api|openai|anthropic))?"
_COMPLETION = re.compile(rf"{_ROOT}/(messages|chat/completions|responses)/?")
_OTHER = re.compile(rf"{_ROOT}(/.*)")
_USUAL: Mapping[str, ModelProtocol] = {f"/v1/{path}": each for path, each in PATHS.items()}


def bare(path: str) -> str:
    """A path without its query."""
    return path.partition("?")[0]


def protocol_for(path: str) -> ModelProtocol | None:
    """Which protocol a request to ``path`` speaks; ``None`` where it is no completion path."""
    if path in _USUAL:
        return _USUAL[path]
    match = _COMPLETION.fullmatch(bare(path))
    return PATHS[match[1]] if match else None


def below_root(path: str) -> str:
    """The path without query and without the client's base, such as ``/models``."""
    match = _OTHER.fullmatch(bare(path))
    return match[1] if match else bare(path)


def spoken(wire: Wire) -> ModelProtocol:
    """The protocol of a reply that has been rendered."""
    return PROTOCOLS.get(wire.protocol, CHAT)
