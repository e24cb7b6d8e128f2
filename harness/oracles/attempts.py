"""``attempts``: how often the subject tried something, counted from outside."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from harness.case.model import Params
from harness.evidence.model import Evidence
from harness.extension import Schema
from harness.oracles import asked, counting
from harness.oracles.base import Finding, unseen
from harness.oracles.file import locate
from harness.plural import plural
from sandboxes.base import AGENT_HOME, WORKSPACE, Act, Depth, Root

_WATCHED: Final = "evidence.json#/attempts"
_ACTS: Final = tuple(act.value for act in Act if act is not Act.LOCK)  # which has no name
_BODY: Final = "body"
_REQUEST: Final = {
    "type": "object",
    "description": "Requests to a service, each counted with its repeats; the one that was made "
    "most often decides.",
    "properties": {
        "service": asked.SERVICE,
        **asked.FILTER,
        "same": {
            "enum": [_BODY, "target"],
            "default": _BODY,
            "description": "What makes a request a repeat: the same method, path and query, and "
            "the same body too unless it is `target`.",
        },
    },
    "additionalProperties": False,
}


class Attempts:
    """Counts tries, whatever came of them: a call that was refused counts like any other.

    On files the kernel tells of each system call that names the path; so it is as often as
    the subject asked, by whatever program. What goes through a descriptor that is open already
    is not seen, and neither is what is done to a path under another name, which a hard link or
    the renaming of a folder above gave it; to give it that is a try of its own, ``link``. A program that is copied first, or given to the dynamic loader, is read
    and not run.
    """

    name = "attempts"
    summary = "The subject tried something so often: on a path, to run a program, or one request."
    schema: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "Tries on this path: relative to the workspace, `~/…` in the home, "
                "or absolute.",
            },
            "act": {
                "enum": list(_ACTS),
                "description": "Only tries to do this: read or write it, run it (or enter a "
                "folder, or ask whether that is allowed), name it (make, remove, rename), link it "
                "(give it another name, also by renaming a folder above it: what is done under "
                "that is not seen), or look at it; all but looks by default.",
            },
            "beneath": {
                "type": "boolean",
                "default": False,
                "description": "Whether tries on anything below the path count too.",
            },
            "program": {
                "type": "string",
                "pattern": "^[A-Za-z0-9._+-]+$",
                "description": "Tries to run the program that this name leads to along PATH at "
                "the start, by whatever name.",
            },
            "request": _REQUEST,
            **counting.BOUNDS,
        },
        "oneOf": [{"required": [target]} for target in ("path", "program", "request")],
        "anyOf": counting.ONE_BOUND,
        "dependentRequired": {"act": ["path"], "beneath": ["path"]},
        "additionalProperties": False,
    }

    def parse(self, value: Any) -> Params:
        bounds = counting.bounds(value)
        if "request" in value:
            written = value["request"]
            return {
                **bounds,
                "request": {**asked.parse(written), "same": written.get("same", _BODY)},
            }
        if "program" in value:
            return {**bounds, "on": value["program"], "acts": ["run"], "beneath": False}
        acts = [value["act"]] if "act" in value else [act for act in _ACTS if act != Act.LOOK]
        beneath = value.get("beneath", False)
        return {**bounds, "on": _absolute(value["path"]), "acts": acts, "beneath": beneath}

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        if "request" in params:
            return _judge_requests(params, evidence)
        expected = f"{counting.in_words(params, 'try')} to {_acts(params)} {params['on']}"
        expected += " or below it" if params["beneath"] else ""
        if params["on"] not in evidence.attempts:
            return unseen(expected, "nobody watched for it", _WATCHED)
        counts = evidence.attempts[params["on"]]
        if counts is None:
            return unseen(expected, "there was no such program to watch", _WATCHED)
        count, seen = _counted(params, counts)
        return counting.judged(params, count, evidence, expected, seen, _WATCHED)

    def final(self, params: Params) -> bool:
        return counting.none_needed(params)

    def wants(self, params: Params) -> Sequence[tuple[Root, str]]:
        return ()

    def watched(self, params: Params) -> Sequence[str]:
        return () if "request" in params else (params["on"],)


def _absolute(written: str) -> str:
    root, path = locate(written)
    base = {Root.HOME: AGENT_HOME, Root.WORKSPACE: WORKSPACE, Root.SYSTEM: "/"}[root]
    return posixpath.join(base, path)


def _counted(params: Params, counts: Mapping[str, int]) -> tuple[int, str]:
    """How many there were, and of what, in words; looks are told in any case."""
    depths = [depth.value for depth in Depth] if params["beneath"] else [Depth.ON.value]
    by_act = Counter[str]()
    for key, number in counts.items():
        depth, _, act = key.partition(".")
        by_act[act] += number if depth in depths else 0
    count = sum(by_act[act] for act in params["acts"])
    what = ", ".join(f"{act} {by_act[act]}x" for act in _ACTS if by_act[act])
    return count, f"{count} ({what})" if what else f"{count}"


def _acts(params: Params) -> str:
    return " or ".join(params["acts"])


def _judge_requests(params: Params, evidence: Evidence) -> Finding:
    wanted = params["request"]
    by_body = wanted["same"] == _BODY
    what = "the same request" if by_body else "requests to the same target"
    expected = f"{counting.in_words(params, 'time')} {what} among {asked.in_words(wanted)}"
    made = Counter(
        (request.method, request.path, request.body_sha256 if by_body else "")
        for request in evidence.requests
        if asked.fits(wanted, request)
    )
    most = max(made.values(), default=0)
    seen = f"at most {most}" if made else "none at all"
    if made:
        method, path, _ = max(made, key=lambda key: made[key])
        seen = f"{plural(most, 'time')} {method} {path}, of {plural(len(made), 'different one')}"
    return counting.judged(params, most, evidence, expected, seen, counting.REQUESTS)
