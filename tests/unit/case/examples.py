"""Registries small enough to know by heart, and the full example of a case."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.case.grammar import GrammarError, glob, regex
from harness.case.tables import Tables
from harness.faults.base import Layer
from harness.services.registry import SERVICES


def record(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    return schema | {"required": list(required)} if required else schema


@dataclass(frozen=True)
class Entry:
    name: str
    schema: Any
    summary: str = "One sentence."


@dataclass(frozen=True)
class FaultEntry(Entry):
    layer: Layer = Layer.MODEL
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class OracleEntry(Entry):
    patterns: tuple[str, ...] = field(default=())

    def parse(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return {"value": value}
        for key in self.patterns:
            if key in value:
                regex(value[key])
        for one in value.get("allow", ()):
            glob(one)
        if "path" in value and ".." in value["path"]:
            raise GrammarError("names no path inside", value["path"], "write a path inside")
        return dict(value)


TEXT = {"type": "string", "description": "text"}
WHOLE = {"type": "integer", "minimum": 0, "description": "a number"}


def _named(*entries: Any) -> dict[str, Any]:
    return {entry.name: entry for entry in entries}


TABLES = Tables(
    faults=_named(
        FaultEntry("model.truncate", record((), after_events=WHOLE | {"default": 1})),
        FaultEntry("model.status", record(("status",), status=WHOLE, retry_after=TEXT)),
        FaultEntry(
            "upstream.slow",
            record(
                ("service", "delay"), service=TEXT, delay={"type": "string", "format": "duration"}
            ),
            layer=Layer.UPSTREAM,
        ),
        FaultEntry("process.kill", record(), layer=Layer.PROCESS),
        FaultEntry("human.no-answer", record(("service",), service=TEXT), layer=Layer.HUMAN),
    ),
    oracles=_named(
        OracleEntry(
            "home",
            {
                "oneOf": [
                    {"type": "string", "enum": ["untouched"]},
                    record(
                        ("untouched",),
                        untouched={"type": "boolean", "enum": [True]},
                        allow={"type": "array", "items": {"type": "string", "format": "glob"}},
                    ),
                ]
            },
        ),
        OracleEntry(
            "file",
            record(("path",), path=TEXT, equals=TEXT, matches=TEXT, absent={"type": "boolean"}),
            patterns=("matches",),
        ),
        OracleEntry("requests", record((), service=TEXT, exactly=WHOLE, at_least=WHOLE)),
        OracleEntry(
            "escalations",
            record((), count=WHOLE, sinks={"type": "array", "items": {"type": "string"}}),
        ),
        OracleEntry("output", record((), stream=TEXT, matches=TEXT), patterns=("matches",)),
        OracleEntry("secrets", {"type": "string", "enum": ["absent"]}),
    ),
    services=SERVICES,
    subjects=_named(
        Entry("agentd", record((), act={"type": "boolean", "default": False}, attempts=WHOLE)),
        Entry("codex", record()),
        Entry("claude-code", record((), model=TEXT)),
        Entry("command", {"type": "array", "items": {"type": "string"}, "minItems": 1}),
    ),
)

EXAMPLE = """\
case: rate-limit-once
title: A 429 is retried once, inside the budget
proves: "[000] a safe retry runs within a 60-second deadline"
tags: [recovery]
subject: {agentd: {act: true, attempts: 2}}
task: Fetch /report and write it to report.txt
sandbox:
  network: services
  limits: {memory: 2GiB, pids: 512, disk: 1GiB, seconds: 60}
  clock: {at: 2031-02-03T04:05:06Z, zone: Asia/Kathmandu}
home: {.config/app.toml: "x = 1\\n"}
workspace: {files: {README.md: "hello\\n"}, git: true, mount: {./agent: /opt/subject}}
env: {FOO: bar}
secrets: [API_TOKEN]
script:
  - {say: "Fetching.", call: {http_get: {url: "http://upstream/report"}}}
  - {run: "cat report.txt"}
  - {say: "Done."}
services:
  http:
    upstream:
      - {on: GET /report, reply: {status: 429, headers: {Retry-After: "1"}}, times: 1}
      - {on: GET /report, reply: {status: 200, body: "42\\n"}}
faults:
  - {id: cut, fault: model.truncate, when: {request: 2}, times: 1, with: {after_events: 3}}
steps: [start, {wait: exit}]
stimulus: []
expect:
  - {home: untouched}
  - {file: {path: report.txt, equals: "42\\n"}}
  - {id: asked-twice, requests: {service: upstream, exactly: 2}}
control: {expect: [{file: {path: report.txt, equals: "42\\n"}}]}
sabotage:
  - {name: no-rate-limit-row, breaks: [asked-twice, file], patch: "runtime.recovery.guard:TABLE", drop: rate_limit}
"""


def write_case(folder: Path, text: str, name: str = "case.yaml") -> Path:
    (folder / "agent").mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
