"""``order``: what happened before what, and how long after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from harness.case.grammar import DURATION, duration
from harness.case.model import Params
from harness.evidence.model import Evidence
from harness.extension import Schema
from harness.oracles import asked
from harness.oracles.base import Finding, broken, held, unseen
from harness.oracles.seen import NOTHING_RAN, unrecorded, was_run
from harness.oracles.timeline import LANDED, Point, timeline
from sandboxes.base import Root

_EVIDENCE = "evidence.json#/timeline"
_KINDS: Final = ("request", "fault", "step", "process")
_NUMBER: Final = {"type": "integer", "minimum": 1}
_REQUEST: Final = {
    "type": "object",
    "description": "A request to a service, where it arrived.",
    "properties": {
        "service": asked.SERVICE,
        **asked.FILTER,
        "fault": {"type": "string", "description": "Only requests that this fault hit, by its id."},
        "status": {"type": "integer", "description": "Only requests answered with this status."},
        "number": {
            **_NUMBER,
            "description": "Which one of those that fit, counted over the whole trial from 1; "
            "else the next one.",
        },
    },
    "additionalProperties": False,
}
_FAULT: Final = {
    "description": "A fault of the case: its id where it was armed, or what became of it.",
    "anyOf": [
        {"type": "string", "description": "Its id: it was armed."},
        {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "Its id."},
                "was": {
                    "enum": ["armed", LANDED, "healed"],
                    "description": "`landed`: its first hit on a request; only for faults "
                    "of replies, since of the others it is not on record when they hit.",
                },
            },
            "required": ["id", "was"],
            "additionalProperties": False,
        },
    ],
}
_STEP: Final = {
    "description": "A step of the case begins: its number from 1, or its kind.",
    "anyOf": [
        {**_NUMBER, "description": "Its number."},
        {
            "enum": ["start", "wait", "run", "kill", "restart"],
            "description": "Its kind: the next one of it.",
        },
    ],
}
_PROCESS: Final = {
    "enum": ["started", "ended"],
    "description": "The main process of the subject started, or ended.",
}
_MATCHER: Final[Mapping[str, Any]] = {
    "request": _REQUEST,
    "fault": _FAULT,
    "step": _STEP,
    "process": _PROCESS,
}
_GAP: Final = {
    "type": "object",
    "description": "How long after the one before.",
    "properties": {
        "at_least": {**DURATION, "description": "No sooner than that."},
        "at_most": {**DURATION, "description": "No later than that."},
    },
    "minProperties": 1,
    "additionalProperties": False,
}
_ONE_KIND: Final = [{"required": [kind]} for kind in _KINDS]


def _entry(description: str, more: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "type": "object",
        "description": description,
        "properties": {**_MATCHER, **more},
        "oneOf": _ONE_KIND,
        "additionalProperties": False,
    }


_LIST: Final = {
    "type": "array",
    "description": "What happened, in this order; more may have happened in between.",
    "items": _entry("One thing that happened.", {"after": _GAP}),
    "minItems": 1,
}


class Order:
    """Walks along the time line: each entry takes the next thing that fits it.

    It does not look for a later one that would fit better: a retry that came too soon is a
    retry that came too soon, however many come after it in time.
    """

    name = "order"
    summary = "Requests, faults, steps and the subject's start and end came in this order."
    schema: ClassVar[Schema] = {
        "anyOf": [
            {**_LIST, "minItems": 2},
            {
                "type": "object",
                "properties": {
                    "of": _LIST,
                    "within": {**DURATION, "description": "How long from the first to the last."},
                    "never_after": _entry("What did not happen any more after the last.", {}),
                },
                "required": ["of"],
                "minProperties": 2,
                "additionalProperties": False,
            },
        ]
    }

    def parse(self, value: Any) -> Params:
        written = value if isinstance(value, dict) else {"of": value}
        if "after" in written["of"][0]:
            raise ValueError("nothing comes before the first entry that its `after` could mean")
        parsed: dict[str, Any] = {"of": [_parsed(entry) for entry in written["of"]]}
        if "within" in written:
            parsed["within"] = duration(written["within"])
        if "never_after" in written:
            parsed["never_after"] = _parsed(written["never_after"])
        return parsed

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        expected = _in_words(params)
        if not was_run(evidence):
            return unseen(expected, NOTHING_RAN, _EVIDENCE)
        if why := unrecorded(evidence):
            return unseen(expected, why, _EVIDENCE)
        points = timeline(evidence)
        met: list[Point] = []
        at = 0
        for entry in params["of"]:
            found = _next(entry, points, at)
            if found is None:
                return _missed(entry, met, points, evidence, expected)
            at = found + 1
            met.append(points[found])
            if wrong := _gap(entry.get("after", {}), met):
                return broken(expected, f"{_said(met)}: {wrong}", _EVIDENCE)
        return _conclude(params, met, points, at, evidence, expected)

    def final(self, params: Params) -> bool:
        """What did not happen yet could still happen."""
        return False

    def wants(self, params: Params) -> Sequence[tuple[Root, str]]:
        return ()


def _parsed(entry: Mapping[str, Any]) -> Params:
    parsed = dict(entry)
    if "request" in entry:
        written = entry["request"]
        more = {key: written[key] for key in ("fault", "status", "number") if key in written}
        parsed["request"] = {**asked.parse(written), **more}
    if isinstance(entry.get("fault"), str):
        parsed["fault"] = {"id": entry["fault"], "was": "armed"}
    if "after" in entry:
        parsed["after"] = {key: duration(text) for key, text in entry["after"].items()}
    return parsed


def _next(entry: Params, points: Sequence[Point], at: int) -> int | None:
    """The place of the next point that fits, from ``at`` on."""
    fitting = [place for place, point in enumerate(points) if _fits(entry, point)]
    if number := entry.get("request", {}).get("number"):
        fitting = fitting[number - 1 : number]
    return next((place for place in fitting if place >= at), None)


def _fits(entry: Params, point: Point) -> bool:
    if "request" in entry:
        wanted, request = entry["request"], point.request
        return (
            request is not None
            and asked.fits(wanted, request)
            and wanted.get("status", request.status) == request.status
            and ("fault" not in wanted or wanted["fault"] in (request.fault or "").split(","))
        )
    if "fault" in entry:
        return (point.what, point.name) == (entry["fault"]["was"], entry["fault"]["id"])
    if "step" in entry:
        return point.what == "step" and entry["step"] in (point.number, point.name)
    return point.what == str(entry["process"])


def _missed(
    entry: Params, met: Sequence[Point], points: Sequence[Point], evidence: Evidence, expected: str
) -> Finding:
    """An entry that nothing fits from there on."""
    if unknown := _untimed(entry, points, evidence):
        return unseen(expected, unknown, _EVIDENCE)
    so_far = f"{_said(met)}; after that " if met else ""
    earlier = [point for point in points if _fits(entry, point)]
    only = f", only {earlier[-1]}" if earlier else ""
    return broken(expected, f"{so_far}no {_entry_words(entry)}{only}", _EVIDENCE)


def _untimed(entry: Params, points: Sequence[Point], evidence: Evidence) -> str:
    """That something did happen, and nobody knows when; empty where that is not so."""
    fault = entry.get("fault", {})
    if fault.get("was") != LANDED or any(_fits(entry, point) for point in points):
        return ""
    hit = any(record.id == fault["id"] and record.landed for record in evidence.faults)
    return f"when {fault['id']} landed is not on record" if hit else ""


def _gap(after: Mapping[str, float], met: Sequence[Point]) -> str:
    """What is wrong with the time between the last two, if anything is."""
    if not after or len(met) < 2:
        return ""
    gap = met[-1].t - met[-2].t
    if gap < after.get("at_least", 0.0):
        return f"{gap:.3f} s apart, sooner than {after['at_least']:g} s"
    if gap > after.get("at_most", gap):
        return f"{gap:.3f} s apart, later than {after['at_most']:g} s"
    return ""


def _conclude(
    params: Params,
    met: Sequence[Point],
    points: Sequence[Point],
    at: int,
    evidence: Evidence,
    expected: str,
) -> Finding:
    span = met[-1].t - met[0].t
    if span > params.get("within", span):
        return broken(expected, f"{_said(met)}: {span:.3f} s in all", _EVIDENCE)
    if "never_after" in params:
        late = _next(params["never_after"], points, at)
        if late is not None:
            return broken(expected, f"{_said(met)}, and then {points[late]}", _EVIDENCE)
        if unknown := _untimed(params["never_after"], points, evidence):
            return unseen(expected, unknown, _EVIDENCE)
    return held(expected, _said(met), _EVIDENCE)


def _said(met: Sequence[Point]) -> str:
    return ", ".join(map(str, met))


def _entry_words(entry: Params) -> str:
    if "request" in entry:
        request = entry["request"]
        marks = [f"{key} {request[key]}" for key in ("number", "fault", "status") if key in request]
        words = asked.in_words(request, one=True)
        words += f" ({', '.join(marks)})" if marks else ""
    elif "fault" in entry:
        words = f"fault {entry['fault']['id']} {entry['fault']['was']}"
    elif "step" in entry:
        words = f"step {entry['step']}"
    else:
        words = f"subject {entry['process']}"
    times = [f"{key.replace('_', ' ')} {gap:g} s" for key, gap in entry.get("after", {}).items()]
    return words + (f" ({' and '.join(times)} after)" if times else "")


def _in_words(params: Params) -> str:
    words = ", then ".join(_entry_words(entry) for entry in params["of"])
    words += f", all within {params['within']:g} s" if "within" in params else ""
    if "never_after" in params:
        words += f", and no {_entry_words(params['never_after'])} after that"
    return words
