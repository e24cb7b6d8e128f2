"""What a user says to have something plugged in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from runtime.errors import AgentdError

#: What a plug may be called; two underscores in a row part it from its tools' names.
NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]|_(?!_)){0,30}[a-z0-9]|[a-z0-9]")
#: The name before the double underscore of every skill's instructions.
SKILL: Final = "skill"


class BadPlug(AgentdError):
    """What was to be plugged in cannot be; nothing of it stays."""


class UnknownPlug(AgentdError):
    """Nothing of that name is plugged in."""


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(max_length=32)]

    @model_validator(mode="after")
    def _named(self) -> _Spec:
        if not NAME.fullmatch(self.name) or self.name == SKILL:
            raise ValueError(
                f"{self.name!r} is no name for a plug: lower-case letters, digits, - and single _,"
                f" 32 at most, and not {SKILL!r}"
            )
        return self


class PackageSpec(_Spec):
    """An installed Python package with entry points in the group ``agentd.tools``.

    Attributes:
        distribution: what it is called where it is installed.
        path: folders that are looked in before all others.
        env: variables of the daemon's that its tools are given.
    """

    kind: Literal["package"] = "package"
    distribution: Annotated[str, Field(min_length=1)]
    path: tuple[str, ...] = ()
    env: tuple[str, ...] = ()


class McpSpec(_Spec):
    """An MCP server: a command that speaks on its input and output, or a URL.

    Attributes:
        command: the program and its arguments; no shell.
        env: variables of the daemon's that it is given, by name; it is given no others.
        url: where it answers.
        bearer: the variable that holds the token it wants.
    """

    kind: Literal["mcp"] = "mcp"
    command: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    url: Annotated[str, Field(pattern=r"^https?://")] | None = None
    bearer: str | None = None

    @model_validator(mode="after")
    def _one(self) -> McpSpec:
        if bool(self.command) == bool(self.url):
            raise ValueError("an MCP server has either a command or a URL")
        return self


class SkillSpec(_Spec):
    """A folder with a ``SKILL.md``.

    Attributes:
        folder: where, absolute.
    """

    kind: Literal["skill"] = "skill"
    folder: Path

    @model_validator(mode="after")
    def _whole(self) -> SkillSpec:
        if not self.folder.is_absolute():
            raise ValueError(f"the folder {self.folder} is not absolute")
        return self


Spec: TypeAlias = PackageSpec | McpSpec | SkillSpec
_SPEC: Final[TypeAdapter[Spec]] = TypeAdapter(Annotated[Spec, Field(discriminator="kind")])


def spec_of(given: Mapping[str, Any]) -> Spec:
    """A spec out of what came as JSON.

    Raises:
        BadPlug: it is none; each wrong field is named.
    """
    try:
        return _SPEC.validate_python(dict(given))
    except ValidationError as error:
        wrong = "; ".join(
            ": ".join(filter(None, [".".join(map(str, each["loc"][1:])), each["msg"]]))
            for each in error.errors()
        )
        raise BadPlug(f"this cannot be plugged in: {wrong}", "") from None


def as_json(spec: Spec) -> dict[str, Any]:
    """A spec as it is stored."""
    return spec.model_dump(mode="json")
