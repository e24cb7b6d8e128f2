"""The manifest of a skill: the front matter of its ``SKILL.md``, and the instructions below it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from runtime.tools.hotplug.specs import BadPlug

FILE: Final = "SKILL.md"
_LONGEST: Final = 1 << 18  # bytes of the file
_FRONT: Final = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*\n(.*)\Z", re.DOTALL)


class Command(BaseModel):
    """A tool that is a command.

    Attributes:
        name: unique in the skill.
        description: for the model.
        command: the program and its arguments, no shell; it reads the tool's arguments as JSON
            from its input. Words that begin with ``./`` are files of the skill.
        schema_: JSON Schema of the arguments; any object if absent.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,32}$")]
    description: Annotated[str, Field(min_length=1)]
    command: Annotated[tuple[str, ...], Field(min_length=1)]
    schema_: Annotated[Mapping[str, Any], Field(alias="schema", default_factory=dict)]


class Manifest(BaseModel):
    """What a skill says of itself; keys of other runtimes are let be.

    Attributes:
        name: its own.
        description: what it is good for.
        tools: its commands.
        instructions: the text below the front matter.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    description: Annotated[str, Field(min_length=1)]
    tools: tuple[Command, ...] = ()
    instructions: str


def manifest_of(folder: Path) -> Manifest:
    """The manifest in a folder.

    Raises:
        BadPlug: it is absent, or wrong; each wrong field is named.
    """
    path = folder / FILE
    try:
        with path.open("rb") as file:
            data = file.read(_LONGEST + 1)
        text = data.decode()
    except OSError as error:
        raise BadPlug(f"{path}: {error.strerror}", "a skill is a folder with one") from None
    except UnicodeDecodeError as error:
        raise BadPlug(f"{path} is not UTF-8: {error.reason}", "save it as UTF-8") from None
    if len(data) > _LONGEST:
        raise BadPlug(f"{path} is longer than {_LONGEST} bytes", "make it shorter")
    return _read(path, text.replace("\r\n", "\n"))


def _read(path: Path, text: str) -> Manifest:
    parts = _FRONT.match(text)
    if parts is None:
        raise BadPlug(f"{path} has no front matter", "begin it with --- and name, description, ---")
    try:
        front = YAML(typ="safe", pure=True).load(StringIO(parts[1]))
        if not isinstance(front, dict):
            raise BadPlug(f"{path}: the front matter is no mapping", "write name: and description:")
        return Manifest.model_validate({**front, "instructions": parts[2].strip()})
    except YAMLError as error:
        raise BadPlug(f"{path}: the front matter is no YAML: {error}", "mend it") from None
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()
        )
        raise BadPlug(f"{path}: {wrong}", "mend its front matter") from None
