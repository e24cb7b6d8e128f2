"""``events``: what the subject put on record itself, and what was seen of it from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from harness.case.grammar import regex
from harness.case.model import Params
from harness.evidence.model import Evidence
from harness.extension import Schema
from harness.oracles import counting
from harness.oracles.base import Finding, Oracle, broken, held, unseen
from harness.oracles.file import locate
from harness.oracles.others import Others
from harness.oracles.records import Event, Record, json_lines, table
from harness.oracles.seen import NOTHING_RAN, some, was_run
from harness.oracles.sqlite_image import Unreadable
from harness.search import search
from sandboxes.base import Root
from verifiers.verdicts import Verdict

_BESIDE: Final = ("-wal", "-journal")
_SCALAR: Final = ["string", "integer", "number", "boolean", "null"]


class Events:
    """Counts events in the subject's own record, and asks a second witness.

    A record proves nothing but itself. So another expectation, of something that was counted
    outside of the subject, stands beside it, and both must hold.
    """

    name = "events"
    summary = "The subject's own record holds so many such events, and what was seen outside fits."

    def __init__(self, outside: Mapping[str, Oracle]) -> None:
        """``outside``: the oracles that count from outside, which ``beside`` may name."""
        self._outside = Others(outside)

    @property
    def schema(self) -> Schema:
        """Of what a case writes; ``beside`` takes one of the oracles that count from outside."""
        return {
            "type": "object",
            "properties": {
                "file": {
                    "type": "string",
                    "minLength": 1,
                    "description": "The record: relative to the workspace, `~/…` in the home, or "
                    "absolute. One JSON map on each line, or a SQLite database.",
                },
                "table": {
                    "type": "string",
                    "pattern": "^[A-Za-z_][A-Za-z0-9_]*$",
                    "description": "The table whose rows are the events; then it is a database.",
                },
                "where": {
                    "type": "object",
                    "description": "Only events with these values, by key, or by column: text is "
                    "a regular expression to be found in it, all else is equal. `a.b` is `b` in "
                    "the map `a`.",
                    "additionalProperties": {"type": _SCALAR, "description": "The value."},
                    "minProperties": 1,
                },
                **counting.BOUNDS,
                "beside": self._outside.schema(
                    "What was seen of the same outside of the subject, with bounds of its own."
                ),
            },
            "required": ["file", "beside"],
            "anyOf": counting.ONE_BOUND,
            "additionalProperties": False,
        }

    def parse(self, value: Any) -> Params:
        locate(value["file"])
        where = value.get("where", {})
        for wanted in where.values():
            if isinstance(wanted, str):
                regex(wanted)
        named = {key: value[key] for key in ("file", "table") if key in value}
        beside = self._outside.parse(value["beside"])
        return {**named, "where": dict(where), **counting.bounds(value), "beside": beside}

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        own = _judge_record(params, evidence)
        second = self._outside.judge(params["beside"], evidence)
        expected = f"{own.expected}; outside: {second.expected}"
        if own.verdict is Verdict.FAILED:
            seen = f"the record breaks it: {own.seen}; outside: {second.seen}"
            return broken(expected, seen, own.evidence)
        if second.verdict is Verdict.FAILED:
            seen = f"the record: {own.seen}; yet outside: {second.seen}"
            return broken(expected, seen, second.evidence)
        seen = f"the record: {own.seen}; outside: {second.seen}"
        worse = own if own.verdict is Verdict.UNAVAILABLE else second
        return Finding(worse.verdict, expected, seen, worse.reason, worse.evidence)

    def final(self, params: Params) -> bool:
        return counting.none_needed(params) and self._outside.final(params["beside"])

    def wants(self, params: Params) -> Sequence[tuple[Root, str]]:
        root, path = locate(params["file"])
        names = ["", *_BESIDE] if "table" in params else [""]
        return [*((root, path + name) for name in names), *self._outside.wants(params["beside"])]

    def watched(self, params: Params) -> Sequence[str]:
        return self._outside.watched(params["beside"])


def _judge_record(params: Params, evidence: Evidence) -> Finding:
    """What the record alone says."""
    expected, shown = _in_words(params), f"files.json#{params['file']}"
    try:
        record = _read(params, evidence)
    except Unreadable as error:
        return unseen(expected, str(error), shown)
    found = [event for event in record.events if _fits(params["where"], event)]
    seen = f"{len(found)} of {len(record.events)} events"
    seen += f" ({some(record.remarks)})" if record.remarks else ""
    if not was_run(evidence):
        return unseen(expected, NOTHING_RAN, shown)
    if not counting.within(params, len(found)):
        return broken(expected, seen, shown)
    return (held if record.events or not record.remarks else unseen)(expected, seen, shown)


def _read(params: Params, evidence: Evidence) -> Record:
    """The record; one that is not there holds nothing, and says so.

    Raises:
        Unreadable: it could not be read.
    """
    root, path = locate(params["file"])
    if (root, path) not in evidence.paths:
        raise Unreadable(f"{params['file']} was not looked at")
    if evidence.paths[root, path] is None:
        return Record((), ("there is no such file",))
    names = ["", *_BESIDE] if "table" in params else [""]
    for name in names:
        there = evidence.paths.get((root, path + name)) is not None
        if there and (root, path + name) not in evidence.contents:
            raise Unreadable(f"{params['file']}{name} is no file, or too large to be kept")
    files = [evidence.contents.get((root, path + name), b"") for name in names]
    return table(params["table"], *files) if "table" in params else json_lines(files[0])


def _fits(where: Mapping[str, Any], event: Event) -> bool:
    return all(_is(wanted, _value(event, key)) for key, wanted in where.items())


_NOTHING: Final = object()


def _value(event: Event, key: str) -> object:
    if key in event:
        return event[key]
    value: object = event
    for part in key.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return _NOTHING
        value = value[part]
    return value


def _is(wanted: object, value: object) -> bool:
    if isinstance(wanted, str):
        return isinstance(value, str) and search(wanted, value) is not None
    same = isinstance(wanted, bool) is isinstance(value, bool)
    return same and value is not _NOTHING and wanted == value


def _in_words(params: Params) -> str:
    words = f"{counting.in_words(params, 'event')} in {params['file']}"
    words += f" ({params['table']})" if "table" in params else ""
    if params["where"]:
        words += " with " + " and ".join(f"{k} {v!r}" for k, v in params["where"].items())
    return words
