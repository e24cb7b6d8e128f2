"""Reading faults: their parameters against their own schemas, triggers, variants."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from typing import Any, Final

from harness.case import grammar
from harness.case.errors import nearest, quoted
from harness.case.model import Fault, Trigger
from harness.case.read_script import MODEL, service_names
from harness.case.reading import Reading, assign_ids, with_defaults
from harness.case.triggers import path_inside, trigger
from harness.case.validate import flaws, validator
from harness.case.yaml_build import Keys

MAX_VARIANTS: Final = 256
_COUNTED_LAYERS: Final = frozenset({"model", "upstream"})
Each = dict[str, dict[str, list[Any]]]


def read_faults(r: Reading, services: Collection[str]) -> tuple[tuple[Fault, ...], Each]:
    """The faults, and by id the parameters that make variants."""
    at: Keys = ("faults",)
    listed = r.peek(at)
    ids = fault_ids(listed)
    report_twice(r, at, ids)
    faults, each = [], {}
    for number, name in enumerate(ids):
        path = (*at, number)
        if r.get((*path, "fault")) in r.tables.faults:
            faults.append(_fault(r, path, name, services))
            if params := r.get((*path, "each")):
                each[name] = dict(params)
    if _variants(each) > MAX_VARIANTS:
        r.fail(at, f"each makes more than {MAX_VARIANTS} variants", "list fewer values", key=True)
    return tuple(faults), each


def fault_ids(listed: Any) -> list[str]:
    """Ids of the faults as written, whatever else is wrong with them."""
    if not isinstance(listed, list):
        return []
    return assign_ids([_written(item) for item in listed])


def _written(item: Any) -> tuple[str | None, str]:
    item = item if isinstance(item, dict) else {}
    explicit, name = item.get("id"), item.get("fault")
    return (explicit if isinstance(explicit, str) else None, str(name))


def report_twice(r: Reading, at: Keys, ids: list[str]) -> None:
    """Refuse an id that stands a second time in the list at ``at``."""
    for number, name in enumerate(ids):
        if name in ids[:number]:
            first = r.doc.where((*at, ids.index(name), "id"))
            message = f"the id {quoted(name)} is here a second time, first at line {first.line}"
            r.fail((*at, number, "id"), message, "give each an id of its own")


def _variants(each: Each) -> int:
    count = 1
    for params in each.values():
        for values in params.values():
            count *= len(values)
    return count


def _fault(r: Reading, path: Keys, name: str, services: Collection[str]) -> Fault:
    injector = r.tables.faults[r.get((*path, "fault"))]
    times = r.get((*path, "times"))
    if times is not None and injector.layer not in _COUNTED_LAYERS:
        message = f"times goes only with faults of model and upstream, not with {injector.name}"
        r.fail((*path, "times"), message, "write until to heal it earlier", key=True)
    if r.get((*path, "with", "of")):
        read_trigger(r, (*path, "with", "of"), services)
    until = (*path, "until")
    fault = Fault(
        id=name,
        fault=injector.name,
        when=read_trigger(r, (*path, "when"), services),
        until=read_trigger(r, until, services) if r.get(until) else None,
        times=None if times == "always" else times or 1,
        params=_params(r, path, injector.schema),
        where=r.doc.where((*path, "fault"), key=True),
    )
    if fault.until is not None and _no_later(fault.until, fault.when):
        message = "until comes no later than when, so the fault would never be in force"
        r.fail(until, message, "write a later until, or leave it out", key=True)
    known = set(services) if injector.layer == "upstream" else {*services, MODEL}
    if injector.layer == "human":
        known = set(service_names(r, person=True))
    known |= set(getattr(injector, "besides", ()))
    known_service(r, (*path, "with", "service"), known)
    for at, _ in r.items((*path, "each", "service")):
        known_service(r, at, known)
    return fault


def _no_later(until: Trigger, when: Trigger) -> bool:
    """Whether one trigger cannot come after the other, as far as the case alone shows it."""
    if until.kind == "start":
        return True
    if until.kind != when.kind:
        return False
    if until.kind == "request":
        return until.service == when.service and until.count <= when.count
    if until.kind == "after":
        return until.seconds <= when.seconds
    return until.kind == "file" and until.path == when.path


def _params(r: Reading, path: Keys, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    here = (*path, "with")
    written: Mapping[str, Any] = r.get(here, {})
    each: Mapping[str, Any] = r.get((*path, "each"), {})
    varied = r.peek((*path, "each"))
    needed = [
        name
        for name in schema.get("required", ())
        if not isinstance(varied, dict) or name not in varied
    ]
    if r.flawed(flaws(validator({**schema, "required": needed}), written, here)):
        return written
    known = schema.get("properties", {})
    before = len(r.errors)
    for name, values in each.items():
        at = (*path, "each", name)
        if name not in known:
            r.fail(at, f"unknown parameter {quoted(name)}", nearest(name, known), key=True)
        elif name in written:
            r.fail(at, f"{name} is in with too", "keep one of them", key=True)
        else:
            for number, value in enumerate(values):
                r.flawed(flaws(validator(known[name]), value, (*at, number)))
    if each and len(r.errors) == before:
        _combinations(r, path, written, each, schema)
    filled: Mapping[str, Any] = with_defaults(schema, written)
    return filled


def _combinations(
    r: Reading,
    path: Keys,
    written: Mapping[str, Any],
    each: Mapping[str, Any],
    schema: Mapping[str, Any],
) -> None:
    """What no parameter shows alone: whether they go together."""
    check = validator(schema)
    for values in itertools.islice(itertools.product(*each.values()), MAX_VARIANTS):
        whole = {**written, **dict(zip(each, values, strict=True))}
        if r.flawed(flaws(check, whole, (*path, "each"))):
            return


def known_service(r: Reading, path: Keys, known: Collection[str]) -> None:
    """Refuse the name at ``path`` where no service has it."""
    name = r.get(path)
    if isinstance(name, str) and name not in known:
        none = "the case declares no service of that kind; add one under services"
        hint = nearest(name, known) if known else none
        r.fail(path, f"unknown service {quoted(name)}", hint)


def read_trigger(r: Reading, path: Keys, services: Collection[str]) -> Trigger:
    """A trigger; ``start`` where there is none."""
    value = r.get(path, "start")
    if isinstance(value, dict):
        known_service(r, (*path, "service"), {*services, MODEL})
        r.take((*path, "after"), grammar.duration, 0.0)
        if "file" in value and r.take((*path, "file"), path_inside, "") == "":
            return Trigger("file")
    return trigger(value)
