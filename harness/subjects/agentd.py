"""agentd, the agent runtime that is installed with the harness: one task, by the whole of it.

The harness imports nothing of it. Its package and those that it needs are shown in the sandbox as
they lie here, and what a case says of it is written down as a user would, in its settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import yaml

from harness.case.model import Case, SubjectRef
from harness.extension import Schema
from harness.subjects.base import Dialect, Identity, Launch, Missing
from harness.subjects.packages import Packages, interpreter
from sandboxes.base import Planted

_SHOWN: Final = Packages("/opt/agentd", ("runtime", "verifiers", "sandboxes"))
_FOLDER: Final = ".agentd"
#: Of the three SDKs' code the quickest to load, by more than a second.
_PROTOCOL: Final = "openai-chat"
_USD: Final[Schema] = {"type": "number", "minimum": 0}
_TEXTS: Final[Schema] = {"type": "array", "items": {"type": "string"}}

#: Part of its settings, to what a case can say of it.
_SETTINGS: Final[Mapping[str, Mapping[str, Schema]]] = {
    "recovery": {
        "observe": {
            "type": "boolean",
            "description": "failures are classified and recorded, and nothing changes",
        },
        "act": {"type": "boolean", "description": "what is safe to retry may be retried"},
        "attempts": {
            "type": "integer",
            "minimum": 0,
            "description": "how often one failed call may be made again; none if absent",
        },
        "usd_per_run": {
            **_USD,
            "description": "dollars for the attempts of a run; if absent, those of a day",
        },
        "usd_per_day": {
            **_USD,
            "description": "dollars for the attempts of a day; none if absent",
        },
        "zone": {"type": "string", "description": "the time zone in which the day begins"},
        "prices": {
            "type": "object",
            "additionalProperties": {"type": ["number", "null"], "minimum": 0},
            "description": "tool to the dollars of a call; null takes its price away",
        },
        "deadline": {
            "type": "number",
            "description": "seconds for a retry, all waits included; at most 60",
        },
        "answer_within": {
            "type": "number",
            "description": "seconds after which a person's silence is a no",
        },
        "in_chats": {"type": "boolean", "description": "act in chats too, not in projects alone"},
        "aliases": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "path in the workspace to the one that may be meant by it",
        },
        "kill_switch": {
            "type": "string",
            "description": "what stops acting by being there; in its own folder if absent",
        },
        "protected": {
            **_TEXTS,
            "description": "globs of paths that nothing writes while a person is asked",
        },
    },
    "model": {
        "protocol": {
            "enum": ["anthropic", "openai-chat", "openai-responses"],
            "default": _PROTOCOL,
            "description": "the API by which it asks the model",
        },
        "native": {
            "type": "boolean",
            "description": "the model recovers from failures itself, and nothing acts for it",
        },
        "timeout": {"type": "number", "description": "seconds that a reply may take to begin"},
        "retries": {
            "type": "integer",
            "minimum": 0,
            "description": "how often a request to the model is repeated",
        },
    },
    "tools": {
        "disabled": {**_TEXTS, "description": "tools that are not offered"},
        "seconds": {"type": "number", "description": "how long a call of a tool may take"},
        "output": {"type": "integer", "description": "bytes of each stream that are kept"},
    },
}

_SCHEMA: Final[Schema] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "via": {
            "type": "array",
            "items": {"type": "string"},
            "default": [],
            "description": "a program that is started with the command behind it, as env starts one",
        },
        **{name: schema for part in _SETTINGS.values() for name, schema in part.items()},
    },
}


class Agentd:
    """The adapter of ``agentd``."""

    name = "agentd"
    summary = "The agent runtime of this project, as it is installed: agentd run TASK."
    schema = _SCHEMA
    dialect = Dialect(
        offers_tools=True,
        tools={"run": ("run",), "write": ("write_file",), "read": ("read_file",)},
    )

    def identify(self, ref: SubjectRef, case: Case) -> Identity | Missing:  # noqa: ARG002
        """Its version, and the digest of its code and of every package that it needs."""
        return _SHOWN.identify(self.name)

    def launch(self, ref: SubjectRef, case: Case) -> Launch:
        """``VIA agentd run TASK``, its settings in its own folder of the home."""
        program, mounts = interpreter()
        settings = yaml.safe_dump(_settings(ref.params), sort_keys=False).encode()
        return Launch(
            [*ref.params.get("via", ()), program, "-m", "runtime", "run", case.task],
            {"PYTHONPATH": _SHOWN.inside, "PYTHONDONTWRITEBYTECODE": "1"},
            home=[Planted(f"{_FOLDER}/settings.yaml", content=settings)],
            mounts=[*mounts, *_SHOWN.mounts()],
            own=[f"{_FOLDER}/**"],
        )

    def final_text(self, stdout: bytes) -> str | None:
        """What the model said last, which is all that it prints."""
        return stdout.decode("utf-8", "replace") if stdout else None


def _settings(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a case says of it, in the parts that its settings have."""
    said = {"protocol": _PROTOCOL, **params}
    if "usd_per_day" in said:
        said.setdefault("usd_per_run", said["usd_per_day"])
    return {
        part: {name: said[name] for name in names if name in said}
        for part, names in _SETTINGS.items()
    }
