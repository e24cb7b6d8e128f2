"""The table of tools, which can change while the daemon runs."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from runtime.errors import AgentdError
from runtime.tools.base import Tool


class DuplicateTool(AgentdError):
    """Two tools of one name; the second is refused."""


class BadTool(AgentdError):
    """A tool whose declaration cannot be used."""


class Registry:
    """Tools by name.

    A call holds the :class:`Tool` that it found, so what is taken out meanwhile ends in peace.
    """

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._lock = threading.Lock()
        self._tools: dict[str, Tool] = {}
        self.add(tools)

    def add(self, tools: Iterable[Tool]) -> None:
        """Add all of them, or none.

        Raises:
            DuplicateTool: a name is taken, also by another of the same.
            BadTool: a schema is none.
        """
        with self._lock:
            self._tools = _added(self._tools, tools)

    def replace(self, family: str, tools: Iterable[Tool]) -> None:
        """Put these in the place of all tools of a family, in one step, or change nothing.

        Raises:
            DuplicateTool: a name is taken by another family, or twice.
            BadTool: a schema is none.
        """
        with self._lock:
            self._tools = _added(_without(self._tools, family), tools)

    def remove(self, family: str) -> tuple[str, ...]:
        """Take out all tools of a family, and say which."""
        with self._lock:
            gone = tuple(tool.name for tool in self._tools.values() if tool.family == family)
            self._tools = _without(self._tools, family)
        return gone

    def get(self, name: str) -> Tool | None:
        """The tool of a name."""
        return self._tools.get(name)

    def __iter__(self) -> Iterator[Tool]:
        return iter(tuple(self._tools.values()))

    def __len__(self) -> int:
        return len(self._tools)


def _without(tools: Mapping[str, Tool], family: str) -> dict[str, Tool]:
    return {name: tool for name, tool in tools.items() if tool.family != family}


def _added(there: Mapping[str, Tool], tools: Iterable[Tool]) -> dict[str, Tool]:
    """Both together, if no name is there twice."""
    all_: dict[str, Tool] = dict(there)
    for tool in tools:
        if taken := all_.get(tool.name):
            raise DuplicateTool(
                f"the tool {tool.name} of {tool.family} is there already, of {taken.family}",
                "give one of them another name",
            )
        check(tool)
        all_[tool.name] = tool
    return all_


def check(tool: Tool) -> None:
    """See that a tool can be used.

    Raises:
        BadTool: its schema is none, or not of an object.
    """
    try:
        Draft202012Validator.check_schema(tool.schema)
    except SchemaError as error:
        raise BadTool(f"the schema of the tool {tool.name}: {error.message}", "mend it") from None
    if tool.schema.get("type") != "object":
        raise BadTool(f"the arguments of the tool {tool.name} are no object", "use type: object")
