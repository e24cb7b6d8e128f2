"""Reading the model's script, the services and the steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from harness.case import grammar
from harness.case.errors import closest, quoted
from harness.case.fields import FIELDS
from harness.case.model import Call, Params, ScriptStep, ServiceDecl, Step, SubjectRef
from harness.case.reading import Reading, with_defaults
from harness.case.validate import flaws, validator
from harness.case.yaml_build import Keys

MODEL: Final = "model"
_BESIDE: Final = frozenset({"usage", "stop", "if", "repeat"})
_ABSTRACT: Final = ("run", "write", "read")


def read_script(r: Reading, at: Keys) -> tuple[ScriptStep, ...] | None:
    """The turns; ``None`` where there is no script."""
    if not isinstance(r.peek(at), list):
        return None
    return tuple(_turn(r, path, item) for path, item in r.items(at))


def _turn(r: Reading, path: Keys, item: Mapping[str, Any]) -> ScriptStep:
    abstract = [key for key in _ABSTRACT if key in item]
    calls = [call for key in item for call in _calls(key, item[key])]
    if len(abstract) > 1:
        message = f"{abstract[1]} stands beside {abstract[0]}"
        r.fail((*path, abstract[1]), message, "give each a turn of its own", key=True)
    if "raw" in item and (calls or "say" in item):
        r.fail((*path, "raw"), "raw stands beside say or a call", "keep one of them", key=True)
    if not calls and item.keys() <= _BESIDE:
        r.fail(path, "the turn says and calls nothing", "write say, call, run, write, read or raw")
    return ScriptStep(
        say=item.get("say"),
        calls=tuple(calls),
        usage=item.get("usage"),
        stop=item.get("stop"),
        raw=item.get("raw"),
        when=item.get("if"),
        repeat=_times(item.get("repeat", 1)),
    )


def _calls(key: str, value: Any) -> list[Call]:
    if key == "call":
        maps = value if isinstance(value, list) else [value]
        return [Call("call", name, args) for one in maps for name, args in one.items()]
    if key == "run":
        return [Call("run", args={"command": value})]
    return [Call(key, args=value)] if key in _ABSTRACT else []


def _times(value: Any) -> int | None:
    return None if value == "always" else int(value)


def read_services(r: Reading) -> tuple[ServiceDecl, ...]:
    """The declared services; names are unique over all kinds."""
    found: dict[str, ServiceDecl] = {}
    for kind_path, kind, _ in r.entries(("services",)):
        entry = r.tables.services.get(kind)
        if entry is None or entry.parse is None:
            continue
        for path, name, value in r.entries(kind_path):
            if name in {MODEL, "localhost"}:
                hint = "write a host name of its own, such as upstream"
                r.fail(path, f"{quoted(name)} cannot name a service", hint, key=True)
            elif name in found:
                message = f"there is a service {quoted(name)} already"
                r.fail(path, message, "give each a name of its own", key=True)
            try:
                if r.clean(path):
                    found[name] = entry.parse(name, value)
            except ValueError as error:
                r.blame(path, error)
    return tuple(found.values())


def service_names(r: Reading, *, person: bool = False) -> frozenset[str]:
    """Names of services as written, whatever else is wrong with them.

    ``person``: only of those behind which there is one.
    """
    kinds = r.peek(("services",))
    known = r.tables.services
    listed = [
        names
        for kind, names in (kinds.items() if isinstance(kinds, dict) else ())
        if not person or (kind in known and known[kind].person)
    ]
    return frozenset(name for names in listed if isinstance(names, dict) for name in names)


def read_steps(r: Reading) -> tuple[Step, ...]:
    """The steps; by default the subject is started and waited for."""
    if r.peek(("steps",)) is None:
        return (Step("start"), Step("wait"))
    started = False
    steps = []
    for path, item in r.items(("steps",)):
        step = _step(r, path, item)
        if step.kind == "start" and started:
            r.fail(path, "the subject is started twice", "write {restart: {}} for a second start")
        elif step.kind in {"wait", "kill", "restart"} and not started:
            r.fail(path, f"{step.kind} comes before start", "start the subject first")
        started = started or step.kind == "start"
        steps.append(step)
    if not started and r.sound(("steps",)):
        r.fail(("steps",), "the steps never start the subject", "write start first", key=True)
    return tuple(steps)


def _step(r: Reading, path: Keys, item: Any) -> Step:
    if item == "start":
        return Step("start")
    if "run" in item:
        check_argv(r, (*path, "run"))
        where = r.doc.where((*path, "run", 0))
        return Step("run", argv=tuple(item["run"]), user=item.get("as", "agent"), where=where)
    if "kill" in item:
        value = item["kill"]
        return Step("kill", signal=grammar.signal_number(str(value)))
    if "restart" in item:
        return Step("restart")
    at_most = r.take((*path, "at_most"), grammar.duration, None)
    return Step("wait", at_most=at_most, then=item.get("then", "terminate"))


def check_argv(r: Reading, at: Keys) -> None:
    """Placeholders exist, and there is a program."""
    for path, _ in r.items(at):
        r.take(path, grammar.check_placeholders, None)
        r.no_nul(path, r.get(path, ""))
    if r.get((*at, 0)) == "":
        r.fail((*at, 0), "the program is empty", "name a program")


def read_subjects(r: Reading) -> tuple[SubjectRef, ...]:
    """The subjects, at least one; each is tried alone."""
    both = [key for key in ("subject", "subjects") if r.peek((key,)) is not None]
    if len(both) == 2:
        r.fail(("subjects",), "subjects stands beside subject", "keep one of them", key=True)
    if not both and isinstance(r.doc.data, dict) and not _misspelt(r.doc.data):
        r.fail((), "the case lacks subject", "write subject: NAME, or subjects: [NAME, …]")
    found: dict[str, SubjectRef] = {}
    places = list(r.items(("subjects",)))
    if r.get(("subject",)) is not None:
        places.insert(0, (("subject",), r.get(("subject",))))
    for path, value in places:
        one = _subject(r, path, value)
        if one.name in found and len(both) == 1:
            r.fail(path, f"the subject {one.name} is here twice", "make a case of its own for it")
        found[one.name] = one
    return tuple(found.values())


def _misspelt(keys: Iterable[str]) -> bool:
    """Whether a key of the case that is unknown most likely means its subjects."""
    return any(closest(key, FIELDS) in {"subject", "subjects"} for key in keys if key not in FIELDS)


def _subject(r: Reading, path: Keys, value: Any) -> SubjectRef:
    name, params = (value, {}) if isinstance(value, str) else next(iter(value.items()))
    if name == "command":
        check_argv(r, (*path, name))
        return SubjectRef(name, argv=tuple(params), where=r.doc.where((*path, name, 0)))
    schema = r.tables.subjects[name].schema
    if isinstance(value, str):
        r.flawed(flaws(validator(schema), params, path))
    filled: Params = with_defaults(schema, params)
    return SubjectRef(name, filled, where=r.doc.where(path))
