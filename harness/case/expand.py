"""One case to the cases that are tried: one subject each, every fault parameter concrete."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from harness.case.errors import nearest, quoted
from harness.case.model import Case, Fault, SubjectRef
from harness.case.reading import with_defaults
from harness.case.tables import Tables, installed
from harness.errors import UsageError


def expand(
    case: Case, subject_name: str | None = None, tables: Tables | None = None
) -> tuple[tuple[Case, int | None], ...]:
    """Every variant: each subject with each combination of ``each``, in the file's order.

    Args:
        case: as loaded.
        subject_name: replaces the case's subjects by this registered one.
        tables: the registries; those of this installation by default.

    Returns:
        Each variant with the number of its combination from 1; ``None`` without ``each``.

    Raises:
        UsageError: there is no such subject, or it cannot be started without an argv.
    """
    subjects = case.subjects if subject_name is None else [_replaced(case, subject_name, tables)]
    combinations = list(_combinations(case.each))
    return tuple(
        (_variant(case, subject, chosen), number if case.each else None)
        for subject in subjects
        for number, chosen in enumerate(combinations, 1)
    )


def _replaced(case: Case, name: str, tables: Tables | None) -> SubjectRef:
    for ref in case.subjects:
        if ref.name == name:
            return ref
    registered = (tables or installed()).subjects
    if name not in registered:
        raise UsageError(f"unknown subject {quoted(name)}; {nearest(name, registered)}")
    if name == "command":
        raise UsageError("the subject command needs an argv; write it in the case")
    return SubjectRef(name, with_defaults(registered[name].schema, {}))


def _combinations(
    each: Mapping[str, Mapping[str, Any]],
) -> Iterator[dict[str, dict[str, Any]]]:
    """Fault id to the parameters chosen; the first parameter of the file changes slowest."""
    keys = [(fault, name) for fault, params in each.items() for name in params]
    for values in itertools.product(*(each[fault][name] for fault, name in keys)):
        chosen: dict[str, dict[str, Any]] = {}
        for (fault, name), value in zip(keys, values, strict=True):
            chosen.setdefault(fault, {})[name] = value
        yield chosen


def _variant(case: Case, subject: SubjectRef, chosen: Mapping[str, Mapping[str, Any]]) -> Case:
    faults = tuple(
        replace(fault, params={**fault.params, **chosen.get(fault.id, {})}) for fault in case.faults
    )
    document = _document(case.document, subject, faults)
    return replace(case, subjects=(subject,), faults=faults, each={}, document=document)


def _document(
    document: Mapping[str, Any], subject: SubjectRef, faults: tuple[Fault, ...]
) -> Mapping[str, Any]:
    """The file as it would read for this variant alone."""
    resolved = {key: value for key, value in document.items() if key != "subjects"}
    params = list(subject.argv) if subject.argv else dict(subject.params)
    resolved["subject"] = {subject.name: params} if params else subject.name
    if faults:
        resolved["faults"] = [
            {key: value for key, value in written.items() if key != "each"}
            | {"id": fault.id, "with": dict(fault.params)}
            for written, fault in zip(document["faults"], faults, strict=True)
        ]
    return resolved
