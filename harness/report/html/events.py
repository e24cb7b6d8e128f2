"""What happened in a trial, lane by lane, on one clock: seconds since the first step.

The journal says when the harness did and saw what; requests carry their own time. Changes of
files have none: they are found when the subject is frozen, and stand there.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.evidence import store
from harness.journal import NAME as JOURNAL
from harness.plural import plural
from harness.report.html.stored import Stored
from harness.report.html.text import cut

_WORDS = 240
_ERROR = 400
_FAULT_LANES = 8
_SERVICE_LANES = 6
_MORE_FAULTS = "more faults"
_MORE_SERVICES = "more services"
_ALARMS = frozenset({"deadline", "stopped", "trouble", "bug", "not-armed", "given-up"})
_HARNESS = {
    "ready": "the sandbox was ready: {home} paths in the home, {workspace} in the workspace",
    "frozen": "the subject was frozen",
    "listed": "its files were listed",
    "killed": "everything in the sandbox was killed",
    "destroyed": "the sandbox was destroyed",
    "deadline": "the trial's limit of {seconds} s was over",
    "stopped": "the harness stopped the subject: {how}",
    "trouble": "{reason}: {message}",
    "bug": "a defect of the harness itself",
    "not-armed": "the fault {fault} could not be injected: {why}",
    "given-up": "a trigger's pattern took too long: {message}",
}


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    Attributes:
        t: seconds since the first step.
        shape: how it is drawn: ``turn``, ``minor``, ``hit``, ``bad``, ``point``, ``alarm``, or as
            a span ``step``, ``process``, ``linger``, ``fault``, ``missed``.
        words: what happened.
        file: which file of the trial tells of it.
        end: of a span; ``None`` for a moment.
        label: to be written in a span.
    """

    t: float
    shape: str
    words: str
    file: str
    end: float | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    """Events of one kind, under one heading."""

    name: str
    note: str
    events: Sequence[Event] = field(default_factory=list)


def lanes(stored: Stored) -> Sequence[Lane]:
    """Every lane in which something happened."""
    journal = _on_clock(stored.journal)
    if not journal and not stored.requests:
        return ()
    end = _end(journal, stored.requests)
    every = [
        _steps(journal, end),
        *_faults(stored, journal, end),
        *_requests(stored),
        _processes(stored, journal, end),
        _files(stored, journal, end),
        _clock(stored, journal, end),
        _harness(journal),
    ]
    return [lane for lane in every if lane.events]


Journal = Sequence[tuple[float, Mapping[str, Any]]]


def _on_clock(events: Sequence[Mapping[str, Any]]) -> Journal:
    first = next((event["t"] for event in events if event["event"] == "step"), 0.0)
    return [(event["t"] - first, event) for event in events]


def _end(journal: Journal, requests: Sequence[Mapping[str, Any]]) -> float:
    """When the subject was frozen, else the last that is known of it."""
    frozen = [t for t, event in journal if event["event"] == "frozen"]
    times = [t for t, _ in journal] + [request["t"] for request in requests]
    return frozen[0] if frozen else max(times)


def _steps(journal: Journal, end: float) -> Lane:
    steps = [(t, event) for t, event in journal if event["event"] == "step"]
    over = [t for t, event in journal if event["event"] in ("deadline", "stopped")]
    last = min(over, default=end)
    ends = [t for t, _ in steps[1:]] + [last] * bool(steps)
    events = [
        Event(
            t,
            "step",
            f"step {event['number']}: {event['kind']}",
            JOURNAL,
            max(t, until),
            str(event["kind"]),
        )
        for (t, event), until in zip(steps, ends, strict=True)
    ]
    return Lane("steps", "", events)


def _faults(stored: Stored, journal: Journal, end: float) -> Iterator[Lane]:
    faults = stored.verdict.get("faults", ())
    for fault in faults[:_FAULT_LANES]:
        yield Lane(fault["id"], _standing(fault), _of_fault(fault, stored, journal, end))
    rest = faults[_FAULT_LANES:]
    events = [event for fault in rest for event in _of_fault(fault, stored, journal, end)]
    yield Lane(_MORE_FAULTS, plural(len(rest), "fault"), events)


def _standing(fault: Mapping[str, Any]) -> str:
    if fault["landed"]:
        return f"{fault['fault']}, landed {_times(fault['count'])}"
    return f"{fault['fault']}, {'armed, did not land' if fault['armed'] else 'not armed'}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _of_fault(
    fault: Mapping[str, Any], stored: Stored, journal: Journal, end: float
) -> Sequence[Event]:
    """In force from when it was armed until it was healed; and each request that it hit."""
    name, shape = fault["id"], "fault" if fault["landed"] else "missed"
    events = []
    begun: float | None = None
    for t, event in journal:
        if event.get("fault") != name:
            continue
        if event["event"] == "armed":
            begun = t
        elif event["event"] in ("healed", "stayed") and begun is not None:
            words = f"{name} in force, then {event['event']}: {fault['proof']}"
            events.append(Event(begun, shape, _short(words), JOURNAL, max(begun, min(t, end))))
            begun = None
    if begun is not None:
        words = f"{name} in force to the end: {fault['proof']}"
        events.append(Event(begun, shape, _short(words), JOURNAL, max(begun, end)))
    hits = [request for request in stored.requests if request["fault"] == name]
    return events + [
        Event(hit["t"], "hit", f"{name} landed: {_asked(hit)}", _body(hit)) for hit in hits
    ]


def _requests(stored: Stored) -> Iterator[Lane]:
    services = dict.fromkeys(request["service"] for request in stored.requests)
    names = [*services][:_SERVICE_LANES]
    for name in names:
        yield _service(name, [r for r in stored.requests if r["service"] == name])
    rest = [r for r in stored.requests if r["service"] not in names]
    yield _service(_MORE_SERVICES, rest)


def _service(name: str, requests: Sequence[Mapping[str, Any]]) -> Lane:
    hit = sum(request["fault"] is not None for request in requests)
    broken = sum(request["ended"] != "whole" for request in requests)
    notes = [plural(len(requests), "request")]
    notes += [f"{hit} hit by a fault"] if hit else []
    notes += [f"{broken} not whole"] if broken else []
    events = [Event(r["t"], _glyph(r), _asked(r), _body(r)) for r in requests]
    return Lane(f"→ {name}", ", ".join(notes), events)


def _glyph(request: Mapping[str, Any]) -> str:
    if request["fault"] is not None:
        return "hit"
    if request["ended"] != "whole" or request["status"] >= _ERROR:
        return "bad"
    return "turn" if request["kind"] == "turn" else "minor"


def _asked(request: Mapping[str, Any]) -> str:
    what = " ".join(filter(None, (request["method"], request["path"]))) or "a handshake"
    words = [f"#{request['seq']} {what}", f"{request['status']}, {request['ended']}"]
    words.append(
        request["kind"] + (f" {request['turn'] + 1}" if request["turn"] is not None else "")
    )
    if request["attempt"] > 1:
        words.append(f"attempt {request['attempt']}")
    if request["fault"] is not None:
        words.append(f"hit by {request['fault']}")
    return _short(" · ".join(words))


def _body(request: Mapping[str, Any]) -> str:
    return f"requests/{request['seq']}.body"


def _processes(stored: Stored, journal: Journal, end: float) -> Lane:
    events = [*_mains(journal, end), *_aside(journal), *_lingering(stored, end)]
    looks: Sequence[Mapping[str, Any]] = stored.processes.get("after", ())
    number = len(looks[-1]["live"]) if looks else 0
    return Lane("processes", f"{number} left at the end" if number else "", events)


def _mains(journal: Journal, end: float) -> Iterator[Event]:
    ended = {event["process"]: (t, event) for t, event in journal if event["event"] == "ended"}
    for t, event in journal:
        if event["event"] == "started":
            until, how = ended.get(event["process"], (end, None))
            words = f"{shlex.join(event['argv'])}: {_ending(how)}"
            yield Event(t, "process", _short(words), JOURNAL, max(t, until), "subject")


def _ending(event: Mapping[str, Any] | None) -> str:
    if event is None:
        return "ran until the harness ended it"
    if event["signal"]:
        return f"ended by signal {event['signal']}"
    return f"ended with exit code {event['exit_code']}"


def _aside(journal: Journal) -> Iterator[Event]:
    for t, event in journal:
        if event["event"] == "ran":
            words = f"a step ran {shlex.join(event['argv'])}: exit code {event['exit_code']}"
            yield Event(t, "point", _short(words), JOURNAL)


def _lingering(stored: Stored, end: float) -> Iterator[Event]:
    """What still ran after the steps: the last look was at the freeze."""
    looks: Sequence[Mapping[str, Any]] = stored.processes.get("after", ())
    seen: dict[int, tuple[float, float, str]] = {}
    for look in looks:
        t = end - looks[-1]["seconds"] + look["seconds"]
        for process in look["live"]:
            first, _, _ = seen.get(process["pid"], (t, t, ""))
            seen[process["pid"]] = (first, t, shlex.join(process["argv"]))
    for pid, (first, last, argv) in seen.items():
        yield Event(first, "linger", _short(f"{pid} still ran: {argv}"), store.PROCESSES, last)


def _files(stored: Stored, journal: Journal, end: float) -> Lane:
    changes = Counter((change["root"], change["change"]) for change in stored.files)
    if not changes:
        return Lane("files", "")
    words = ", ".join(f"{count} {change} in {root}" for (root, change), count in changes.items())
    seen = next((t for t, event in journal if event["event"] == "listed"), end)
    note = f"{plural(len(stored.files), 'change')}, as found at the end"
    return Lane("files", note, [Event(seen, "point", words, store.FILES)])


def _clock(stored: Stored, journal: Journal, end: float) -> Lane:
    return Lane("clock", "", list(_clock_events(stored, journal, end)))


def _clock_events(stored: Stored, journal: Journal, end: float) -> Iterator[Event]:
    sandbox = stored.case.get("sandbox") or {}
    for name, value in (sandbox.get("clock") or {}).items():
        yield Event(0.0, "point", f"the sandbox began with its clock's {name} {value}", store.CASE)
    for t, event in journal:
        injector = str(event.get("injector", ""))
        if event["event"] == "armed" and injector.startswith("clock."):
            yield Event(t, "point", f"{injector} ({event['fault']})", JOURNAL)
    moved = (stored.evidence.get("clocks") or {}).get("host_moved")
    if moved:
        yield Event(end, "alarm", f"the host's own clock was set by {moved} s", store.EVIDENCE)


def _harness(journal: Journal) -> Lane:
    events = [
        Event(
            t,
            "alarm" if event["event"] in _ALARMS else "point",
            _short(_HARNESS[event["event"]].format_map(event)),
            JOURNAL,
        )
        for t, event in journal
        if event["event"] in _HARNESS
    ]
    return Lane("harness", "", events)


def _short(words: str) -> str:
    return cut(words, _WORDS)
