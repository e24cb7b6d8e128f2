"""What the user set: ``settings.yaml``, checked, and the two switches of the environment.

Out of the box nothing acts on its own: both switches are off, no attempt is allowed, and every
budget is zero.
"""

from __future__ import annotations

import datetime
import zoneinfo
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from runtime.errors import AgentdError

OBSERVE: Final = "AGENTD_RESILIENCE_OBSERVE"
ACT: Final = "AGENTD_RESILIENCE_ACT"
_SWITCH: Final = {"1": True, "true": True, "on": True, "0": False, "false": False, "off": False}

Command = Literal["test", "lint", "typecheck", "build", "format_check", "coverage"]
Usd = Annotated[Decimal, Field(ge=0, max_digits=12, decimal_places=6)]


class SettingsError(AgentdError):
    """The settings cannot be used; the message has a line for each reason."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelSettings(_Part):
    """The model that is asked.

    Attributes:
        protocol: which of three APIs it speaks.
        name: what it is called there.
        base_url: where it answers; the SDK's own variable, or its public address, if absent.
        api_key: the variable that holds the key, if not the SDK's own.
        native: whether it recovers from failures itself; then nothing acts for it.
        max_tokens: the longest reply.
        timeout: seconds that a reply may take to begin, and between two of its parts.
        longest: seconds that a reply may take in all.
        retries: how often the SDK repeats a request that failed.
    """

    protocol: Literal["anthropic", "openai-chat", "openai-responses"] = "anthropic"
    name: str = "claude-sonnet-5"
    base_url: str | None = None
    api_key: str | None = None
    native: bool = False
    max_tokens: int = Field(default=8192, ge=1)
    timeout: float = Field(default=60, gt=0)
    longest: float = Field(default=600, gt=0)
    retries: int = Field(default=2, ge=0, le=10)


class ListenSettings(_Part):
    """Where the daemon listens beside its socket.

    Attributes:
        port: of the loopback; 0 is a free one; none if absent.
    """

    port: int | None = Field(default=None, ge=0, le=65535)


class RecoverySettings(_Part):
    """What may be done about a tool's failure.

    Attributes:
        observe: classify and record failures, and change nothing.
        act: retry what is safe to retry; needs attempts and both budgets above zero as well.
        attempts: the most for one failure.
        usd_per_run: the most for one run, in dollars.
        usd_per_day: the most for a day, in dollars.
        zone: where the day begins.
        prices: dollars for one call of a tool, over those that the tools state; ``null`` takes
            a price away, and what has none is refused.
        deadline: seconds for a retry, all waits included; at most 60.
        answer_within: seconds after which silence is a no.
        in_chats: act in chats too, and not in projects alone.
        aliases: paths in the workspace that may be meant by other ones.
        kill_switch: what stops acting by being there, below the workspace where it is relative; in
            the daemon's folder if absent.
        protected: globs of paths that are not written while a failure waits for a person, beside
            those of git, keys and databases.
    """

    observe: bool = False
    act: bool = False
    attempts: int = Field(default=0, ge=0, le=10)
    usd_per_run: Usd = Decimal(0)
    usd_per_day: Usd = Decimal(0)
    zone: str = "UTC"
    prices: Mapping[str, Usd | None] = Field(default_factory=dict)
    deadline: float = Field(default=60, gt=0, le=60)
    answer_within: float = Field(default=86_400, gt=0)
    in_chats: bool = False
    aliases: Mapping[str, str] = Field(default_factory=dict)
    kill_switch: Path | None = None
    protected: tuple[str, ...] = ()

    @field_validator("zone")
    @classmethod
    def _known(cls, name: str) -> str:
        try:
            zoneinfo.ZoneInfo(name)
        except (ValueError, zoneinfo.ZoneInfoNotFoundError):
            raise ValueError(f"there is no time zone {name!r}") from None
        return name

    def day(self, moment: datetime.datetime) -> str:
        """The day that a moment lies in, in the budget's zone, as YYYY-MM-DD."""
        return moment.astimezone(zoneinfo.ZoneInfo(self.zone)).date().isoformat()


class ToolSettings(_Part):
    """How tools run.

    Attributes:
        disabled: those that are not offered.
        seconds: how long a call may take.
        output: bytes of each stream that are kept.
        commands: for the shell, by the tool that runs each: test, lint, typecheck, build,
            format_check and coverage.
    """

    disabled: frozenset[str] = frozenset()
    seconds: float = Field(default=120, gt=0)
    output: int = Field(default=1 << 20, ge=1024)
    commands: Mapping[Command, Annotated[str, Field(min_length=1)]] = Field(default_factory=dict)


class Settings(_Part):
    """All of it.

    Attributes:
        store: URL of the database; a file in the daemon's folder if absent.
        workspace: the folder that tools work in; the current one if absent.
    """

    model: ModelSettings = ModelSettings()
    listen: ListenSettings = ListenSettings()
    store: str | None = None
    workspace: Path | None = None
    recovery: RecoverySettings = RecoverySettings()
    tools: ToolSettings = ToolSettings()


def load(path: Path, environment: Mapping[str, str]) -> Settings:
    """The settings of a file, and the switches of the environment, which rank above it.

    Raises:
        SettingsError: ``file:line:column: field: what is wrong``, a line for each.
    """
    document = _document(path)
    try:
        settings = Settings.model_validate(_plain(document))
    except ValidationError as error:
        lines = [
            _line(path, document, problem["loc"], problem["msg"]) for problem in error.errors()
        ]
        raise SettingsError("\n".join(lines), "") from None
    switches = {
        name: value
        for name, variable in (("observe", OBSERVE), ("act", ACT))
        if (value := _switch(variable, environment)) is not None
    }
    recovery = settings.recovery.model_copy(update=switches)
    return settings.model_copy(update={"recovery": recovery})


def _document(path: Path) -> Any:
    yaml = YAML(typ="rt", pure=True)
    yaml.version = (1, 2)
    try:
        return yaml.load(path.read_bytes()) or CommentedMap()
    except FileNotFoundError:
        return CommentedMap()
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}", "make it readable, or remove it") from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else f"{path}"
        raise SettingsError(f"{where}: {error.problem}", "") from None
    except (YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: {error}", "") from None


def _plain(node: Any) -> Any:
    """The same, without what keeps its places."""
    if isinstance(node, Mapping):
        return {key: _plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_plain(value) for value in node]
    return node


def _line(path: Path, document: Any, place: Sequence[str | int], what: str) -> str:
    line, column = 0, 0
    node = document
    for key in place:
        if not isinstance(node, CommentedMap | CommentedSeq) or not _has(node, key):
            break
        line, column = node.lc.key(key) if isinstance(node, CommentedMap) else node.lc.item(key)
        node = node[key]
    return f"{path}:{line + 1}:{column + 1}: {'.'.join(map(str, place))}: {what}"


def _has(node: CommentedMap | CommentedSeq, key: str | int) -> bool:
    return key in node if isinstance(node, CommentedMap) else isinstance(key, int)


def _switch(variable: str, environment: Mapping[str, str]) -> bool | None:
    written = environment.get(variable, "").strip().lower()
    if not written:
        return None
    if written not in _SWITCH:
        known = ", ".join(_SWITCH)
        raise SettingsError(f"{variable} is {written!r}", f"write one of {known}")
    return _SWITCH[written]
