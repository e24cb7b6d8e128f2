"""The table of tools, which can change while the daemon runs."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator

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
        fresh: dict[str, Tool] = {}
        with self._lock:
            for tool in tools:
                taken = self._tools.get(tool.name) or fresh.get(tool.name)
                if taken:
                    raise DuplicateTool(
                        f"the tool {tool.name} of {tool.family} is there already, of {taken.family}",
                        "give one of them another name",
                    )
                _check(tool)
                fresh[tool.name] = tool
            self._tools = {**self._tools, **fresh}

    def remove(self, family: str) -> tuple[str, ...]:
        """Take out all tools of a family, and say which."""
        with self._lock:
            gone = tuple(tool.name for tool in self._tools.values() if tool.family == family)
            self._tools = {
                name: tool for name, tool in self._tools.items() if tool.family != family
            }
        return gone

    def get(self, name: str) -> Tool | None:
        """The tool of a name."""
        return self._tools.get(name)

    def __iter__(self) -> Iterator[Tool]:
        return iter(tuple(self._tools.values()))

    def __len__(self) -> int:
        return len(self._tools)


def _check(tool: Tool) -> None:
    try:
        Draft202012Validator.check_schema(tool.schema)
    except SchemaError as error:
        raise BadTool(f"the schema of the tool {tool.name}: {error.message}", "mend it") from None
    if tool.schema.get("type") != "object":
        raise BadTool(f"the arguments of the tool {tool.name} are no object", "use type: object")
