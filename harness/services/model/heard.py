"""What a request to the model says, whatever protocol it was said in.

Read leniently: a client that says something unknown is served all the same, and what was
not understood is kept in :attr:`Heard.unknown` for the log. Only a body that is no JSON
object cannot be heard at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from harness.extension import Schema
from harness.services.bounds import read_json


class NotHeard(ValueError):
    """The body is no JSON object; the message says what it is."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the request offers.

    Attributes:
        name: as a call names it.
        schema: JSON Schema of its arguments; empty where it gives none.
        namespace: of the tool, where the protocol has such.
        freeform: takes plain text and no JSON.
    """

    name: str
    schema: Schema = field(default_factory=dict)
    namespace: str = ""
    freeform: bool = False


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back, as far as it is text."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Heard:
    """One request to the model.

    Attributes:
        protocol: the name of its wire format.
        stream: the reply is to come as server-sent events.
        model: the name asked for.
        tools: offered, in order; tools in a namespace stand beside the others.
        results: of all tools, in the order of the history.
        messages: how many the history has.
        format: JSON Schema that the reply is to follow, where the request says so.
        wants_usage: a streamed reply is to report usage.
        size: of the body in bytes.
        key: equal for a request that is sent again as it was.
        unknown: what was not understood, for the log.
    """

    protocol: str
    stream: bool = False
    model: str | None = None
    tools: tuple[Tool, ...] = ()
    results: tuple[ToolResult, ...] = ()
    messages: int = 0
    format: Schema | None = None
    wants_usage: bool = True
    size: int = 0
    key: int = 0
    unknown: tuple[str, ...] = ()

    @property
    def last_result(self) -> str | None:
        """Text of the last tool result, ``None`` before there is one."""
        return self.results[-1].text if self.results else None

    def tool(self, name: str) -> Tool | None:
        """The tool of that name; a namespaced one also as ``namespace.name``."""
        for tool in self.tools:
            if tool.name == name or (tool.namespace and f"{tool.namespace}.{tool.name}" == name):
                return tool
        return None


def body_object(body: bytes) -> dict[str, Any]:
    """The request's JSON object.

    Raises:
        NotHeard: it is none.
    """
    try:
        value = read_json(body.decode())
    except (ValueError, RecursionError) as err:
        raise NotHeard(f"The body is not JSON: {err}.") from err
    if not isinstance(value, dict):
        raise NotHeard(f"The body is {type(value).__name__}, not a JSON object.")
    return value


def objects(value: object) -> Iterator[dict[str, Any]]:
    """The objects of a list; everything else is passed over."""
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield item


def text_of(value: object) -> str:
    """All text in a message's content: a string, a part, or a list of parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(text_of, value)))
    if isinstance(value, dict):
        for name in ("text", "content", "output"):
            if name in value:
                return text_of(value[name])
    return ""


def word(value: object) -> str:
    """``value`` if it is text, else nothing."""
    return value if isinstance(value, str) else ""


def schema_of(value: object) -> Schema:
    """``value`` if it is an object, else the schema that allows everything."""
    return value if isinstance(value, dict) else {}


def tokens(size: int) -> int:
    """One for every four bytes, as the harness counts."""
    return -(-size // 4)
