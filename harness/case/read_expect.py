"""Reading what must hold: expectations, the control, sabotage, known defects, quarantine."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from harness.case import grammar
from harness.case.errors import closest, nearest, quoted
from harness.case.model import Control, Expectation, Known, Quarantine, Sabotage
from harness.case.read_faults import fault_ids, known_service, report_twice
from harness.case.read_script import MODEL, check_argv, read_script, service_names
from harness.case.reading import Reading, assign_ids
from harness.case.yaml_build import Keys
from harness.faults.base import ReplyFault
from harness.nearby import did_you_mean
from harness.oracles.base import Watching
from harness.oracles.timeline import LANDED
from sandboxes.capabilities import NEST

#: Judged in every trial, by the harness itself.
CONTAINMENT: Final = "containment"
SECRETS: Final = "secrets"
ESCALATIONS: Final = "escalations"


def read_expectations(r: Reading, at: Keys, services: Collection[str]) -> tuple[Expectation, ...]:
    """The expectations at ``at``, each through its oracle."""
    ids = expectation_ids(r, at)
    report_twice(r, at, ids)
    for path, _ in r.items(at):
        _check_mentions(r, path, services)
    return tuple(
        found
        for path, item in r.items(at)
        if (found := _expectation(r, path, item, ids[int(path[-1])])) is not None
    )


def expectation_ids(r: Reading, at: Keys) -> list[str]:
    """Ids of expectations, whatever else is wrong with them; of a misspelt oracle, the right one."""
    listed = r.peek(at)
    if not isinstance(listed, list):
        return []
    return assign_ids([_written(item, r.tables.oracles) for item in listed])


def _written(item: Any, oracles: Collection[str]) -> tuple[str | None, str]:
    item = item if isinstance(item, dict) else {}
    explicit = item.get("id")
    name = next((key for key in item if key != "id"), "")
    meant = name if name in oracles else closest(name, oracles)
    return (explicit if isinstance(explicit, str) else None, meant or name)


def _expectation(r: Reading, path: Keys, item: Mapping[str, Any], name: str) -> Expectation | None:
    oracles = [key for key in item if key in r.tables.oracles]
    if name == CONTAINMENT or (name == SECRETS and SECRETS not in item):
        hint = "write another id"
        r.fail((*path, "id"), f"the id {name} belongs to the harness", hint)
    if len(oracles) > 1:
        message = f"{oracles[1]} stands beside {oracles[0]}"
        r.fail((*path, oracles[1]), message, "give each an entry of its own", key=True)
    if not oracles:
        if list(item) == ["id"]:
            r.fail(path, "the entry names no oracle", nearest("", r.tables.oracles))
        return None
    if not r.clean((*path, oracles[0])):
        return None
    where = r.doc.where((*path, oracles[0]), key=True)
    oracle = r.tables.oracles[oracles[0]]
    try:
        params = oracle.parse(item[oracles[0]])
    except ValueError as error:
        r.blame((*path, oracles[0]), error)
        return None
    if isinstance(oracle, Watching) and oracle.watched(params) and _nests(r):
        message = "what is attempted in a sandbox made inside is not counted"
        r.fail((*path, oracles[0]), message, "leave nest out of sandbox.needs", key=True)
    return Expectation(name, oracles[0], params, where)


def _nests(r: Reading) -> bool:
    return any(name == NEST for _, name in r.items(("sandbox", "needs")))


def _check_mentions(r: Reading, path: Keys, services: Collection[str]) -> None:
    """Whatever services and faults an oracle speaks of must be there."""
    faults = fault_ids(r.peek(("faults",)))
    people = service_names(r, person=True)
    for kind, at in _mentions(r, path):
        name = r.get(at)
        if kind == "service":
            known_service(r, at, {*services, MODEL})
        elif kind == "sink":
            known_service(r, at, {name} if str(name).startswith("file:") else people)
        elif kind == ESCALATIONS:
            if not people:
                message = "escalations have nowhere to go: the case has no chat service"
                r.fail(at, message, "write one under services.telegram or slack", key=True)
        elif isinstance(name, str) and name not in faults:
            r.fail(at, f"the case has no fault {quoted(name)}", nearest(name, faults))
        elif isinstance(name, str) and at[-1] == "id":
            _check_landing(r, at, faults.index(name))


def _check_landing(r: Reading, at: Keys, number: int) -> None:
    """Only of a fault in replies is it on record when it hit first."""
    kind = r.get(("faults", number, "fault"))
    was = (*at[:-1], "was")
    hits = isinstance(injector := r.tables.faults.get(kind), ReplyFault)
    if injector is not None and r.get(was) == LANDED and not hits:
        message = f"when {quoted(kind)} landed is never on record"
        r.fail(was, message, "write was: armed")


def _mentions(r: Reading, path: Keys) -> Iterator[tuple[str, Keys]]:
    """Where a service, a sink or a fault is named; under ``where`` stand the subject's words, not ours."""
    for at, key, value in r.entries(path):
        if key == "service":
            yield key, at
        elif key == "fault":
            yield key, (*at, "id") if isinstance(value, dict) else at
        elif key == "except":
            yield from (("service", inner) for inner, _ in r.items(at))
        elif key == ESCALATIONS:
            yield key, at
            yield from (("sink", inner) for inner, _ in r.items((*at, "sinks")))
        elif key != "where":
            yield from _mentions(r, at)
            for inner, _ in r.items(at):
                yield from _mentions(r, inner)


def _no_oracles(r: Reading) -> frozenset[str]:
    """What stands for an oracle under ``expect`` and is none, which is told there."""
    listed = r.peek(("expect",))
    entries = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return frozenset(key for one in entries for key in one if key not in r.tables.oracles)


def judged_ids(r: Reading) -> frozenset[str]:
    """Ids that a verdict of this case can name as broken."""
    ids = {*expectation_ids(r, ("expect",)), CONTAINMENT}
    if r.peek(("secrets",)):
        ids.add(SECRETS)
    return frozenset(ids)


def _breaks(r: Reading, path: Keys, known: Collection[str]) -> frozenset[str]:
    names = set()
    untold = not r.misspelt(("expect",))
    ids = set(known) - {CONTAINMENT, *_no_oracles(r)}
    for at, name in r.items((*path, "breaks")):
        if name not in known and untold:
            hint = nearest(name, ids) if ids else "write what must hold under expect"
            r.fail(at, f"no expectation has the id {quoted(name)}", hint)
        names.add(name)
    return frozenset(names)


def read_control(r: Reading, services: Collection[str]) -> Control | None:
    """The control, as far as it differs."""
    at: Keys = ("control",)
    if not isinstance(r.peek(at), dict):
        return None
    written = r.peek(at)
    return Control(
        script=read_script(r, (*at, "script")),
        stimulus=read_expectations(r, (*at, "stimulus"), services)
        if "stimulus" in written
        else None,
        expect=read_expectations(r, (*at, "expect"), services) if "expect" in written else None,
    )


def read_sabotage(r: Reading, known: Collection[str]) -> tuple[Sabotage, ...]:
    """The sabotages; each breaks expectations that there are."""
    found: dict[str, Sabotage] = {}
    for path, item in r.items(("sabotage",)):
        name = item["name"]
        if name in found:
            message = f"there is a sabotage {quoted(name)} already"
            r.fail((*path, "name"), message, "give each a name of its own")
        if "patch" in item:
            _patch(r, path, item)
        if "replace_subject" in item:
            check_argv(r, (*path, "replace_subject", "command"))
        params = {key: value for key, value in item.items() if key not in {"name", "breaks"}}
        where = r.doc.where((*path, *_place(item)))
        found[name] = Sabotage(name, _breaks(r, path, known), params, where)
    return tuple(found.values())


def _place(item: Mapping[str, Any]) -> Keys:
    """Where in a sabotage stands what it works on."""
    if "change" in item:
        return ("change", "path")
    return ("replace_subject", "command", 0) if "replace_subject" in item else ("patch",)


def _patch(r: Reading, path: Keys, item: Mapping[str, Any]) -> None:
    ways = [key for key in ("drop", "value", "with") if key in item]
    if len(ways) != 1:
        hint = "write exactly one of drop, value, with"
        r.fail((*path, "patch"), f"patch has {len(ways)} of drop, value, with", hint, key=True)
    if "with" in item:
        file = str(item["with"]).partition(":")[0]
        try:
            there = (r.folder / file).is_file()
        except (OSError, ValueError):
            there = False
        if not there:
            usual = "name one relative to the case file"
            hint = did_you_mean(Path(file), usual, (".py",), beside=r.folder)
            r.fail((*path, "with"), f"there is no file {quoted(file)}", hint)


def read_known(r: Reading, ids: Collection[str]) -> tuple[Known, ...]:
    """Known defects; of subjects and in expectations that there are."""
    found = []
    for path, item in r.items(("known",)):
        subject = item["subject"]
        if subject not in r.tables.subjects:
            hint = nearest(subject, r.tables.subjects)
            r.fail((*path, "subject"), f"unknown subject {quoted(subject)}", hint)
        found.append(
            Known(
                subject=subject,
                version=item["version"],
                breaks=_breaks(r, path, set(ids) - {CONTAINMENT}),
                because=item["because"],
                since=item["since"],
            )
        )
    return tuple(found)


def read_quarantine(r: Reading) -> Quarantine | None:
    """Who keeps the case out of the exit code, why, and until when."""
    written = r.get(("quarantine",))
    if not written:
        return None
    until = r.take(("quarantine", "until"), grammar.date, datetime.date.min)
    return Quarantine(written["owner"], written["reason"], until)


def read_prices(r: Reading) -> Mapping[str, tuple[float, float]]:
    """Dollars per million tokens, by model."""
    return {
        name: (float(price["input"]), float(price["output"]))
        for _, name, price in r.entries(("prices",))
    }
