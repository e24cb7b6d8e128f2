"""Evidence as plain data, for the files of a trial's folder, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harness.evidence.model import (
    Clocks,
    Evidence,
    FaultRecord,
    FileChange,
    Happening,
    Lingering,
    ModelRecord,
    Network,
    Output,
    PathState,
    Processes,
    Request,
    SecretHit,
)
from sandboxes.base import Root

SCHEMA = 1
Form = Mapping[str, Any]
Key = tuple[Root, str]


def change_form(change: FileChange) -> Form:
    """One entry of ``files.json``."""
    return {
        "root": str(change.root),
        "path": change.path,
        "change": change.change,
        "before": _state_form(change.before),
        "after": _state_form(change.after),
        "by": change.by,
    }


def processes_form(processes: Processes) -> Form:
    """``processes.json``."""
    return {
        "schema": SCHEMA,
        "observed": processes.observed,
        "after": [
            {"seconds": seconds, "live": [asdict(process) for process in live]}
            for seconds, live in processes.after
        ],
    }


def network_form(network: Network) -> Form:
    """``network.json``."""
    return {"schema": SCHEMA, **asdict(network)}


def rest_form(evidence: Evidence, stored: Mapping[Key, str]) -> Form:
    """``evidence.json``: what the other files do not hold.

    Args:
        evidence: all of it.
        stored: the file of each of its contents.
    """
    return {
        "schema": SCHEMA,
        "ended_by": evidence.ended_by,
        "exit_code": evidence.exit_code,
        "final_text": evidence.final_text,
        "faults": [asdict(fault) for fault in evidence.faults],
        "model": asdict(evidence.model),
        "listed": sorted(map(str, evidence.listed)),
        "sentinels": {path: list(seen) for path, seen in evidence.sentinels.items()},
        "paths": [
            {"root": str(root), "path": path, "state": _state_form(state)}
            for (root, path), state in evidence.paths.items()
        ],
        "contents": [
            {"root": str(root), "path": path, "file": stored[root, path]}
            for root, path in evidence.contents
        ],
        "outputs": {
            name: {"kept": len(output.data), "total": output.total, "capped": output.capped}
            for name, output in (("stdout", evidence.stdout), ("stderr", evidence.stderr))
        },
        "secrets": None if evidence.secrets is None else [asdict(hit) for hit in evidence.secrets],
        "own": list(evidence.own),
        "prices": {model: list(price) for model, price in evidence.prices.items()},
        "timeline": [asdict(happening) for happening in evidence.timeline],
        "attempts": dict(evidence.attempts),
        "clocks": asdict(evidence.clocks),
        "notes": dict(evidence.notes),
        "requests": len(evidence.requests),
    }


@dataclass(frozen=True, slots=True)
class Stored:
    """The documents and files of a trial's folder, as read."""

    files: Sequence[Form]
    processes: Form
    network: Form
    rest: Form
    requests: Sequence[Request]
    outputs: Mapping[str, bytes]
    contents: Mapping[Key, bytes]


def evidence_of(stored: Stored) -> Evidence:
    """The evidence out of what is stored.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: a document is not in its form.
    """
    rest = stored.rest
    secrets = rest["secrets"]
    if len(stored.requests) != rest["requests"]:
        raise ValueError(f"{rest['requests']} requests were recorded, not {len(stored.requests)}")
    return Evidence(
        changes=tuple(map(_change, stored.files)),
        paths={(Root(e["root"]), e["path"]): _state(e["state"]) for e in rest["paths"]},
        contents=stored.contents,
        sentinels={path: (seen[0], seen[1]) for path, seen in rest["sentinels"].items()},
        listed=frozenset(map(Root, rest["listed"])),
        requests=stored.requests,
        stdout=_output(rest, "stdout", stored.outputs),
        stderr=_output(rest, "stderr", stored.outputs),
        processes=_processes(stored.processes),
        network=Network(**_without_schema(stored.network)),
        faults=tuple(FaultRecord(**fault) for fault in rest["faults"]),
        model=ModelRecord(**rest["model"]),
        ended_by=rest["ended_by"],
        exit_code=rest["exit_code"],
        final_text=rest["final_text"],
        secrets=None if secrets is None else tuple(SecretHit(**hit) for hit in secrets),
        own=tuple(rest["own"]),
        prices={model: (price[0], price[1]) for model, price in rest["prices"].items()},
        timeline=tuple(Happening(**happening) for happening in rest["timeline"]),
        attempts=rest["attempts"],
        clocks=Clocks(**rest["clocks"]),
        notes=rest["notes"],
    )


def _state_form(state: PathState | None) -> Form | None:
    return None if state is None else asdict(state)


def _state(form: Form | None) -> PathState | None:
    return None if form is None else PathState(**form)


def _change(form: Form) -> FileChange:
    states = {side: _state(form[side]) for side in ("before", "after")}
    return FileChange(**{**form, **states, "root": Root(form["root"])})


def _output(rest: Form, name: str, outputs: Mapping[str, bytes]) -> Output:
    told = rest["outputs"][name]
    if len(outputs[name]) < told["kept"]:
        raise ValueError(f"{name} is shorter than it was")
    return Output(outputs[name][: told["kept"]], told["total"], told["capped"])


def _processes(form: Form) -> Processes:
    looks = tuple(
        (look["seconds"], tuple(Lingering(**{**p, "argv": tuple(p["argv"])}) for p in look["live"]))
        for look in form["after"]
    )
    return Processes(observed=form["observed"], after=looks)


def _without_schema(form: Form) -> Form:
    return {key: value for key, value in form.items() if key != "schema"}
