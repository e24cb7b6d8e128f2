"""Loading case files: from YAML to :class:`~harness.case.model.Case`, or every error at once.

::

    bytes → plain data with places (yaml) → structure (validate) → parts (read_*) → Case

Loading looks at the file, at what it mounts, and at nothing else; it runs nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from harness.case import yaml
from harness.case.errors import CaseError, CaseErrors
from harness.case.model import Case, ScriptStep
from harness.case.read_expect import (
    judged_ids,
    read_control,
    read_expectations,
    read_known,
    read_prices,
    read_quarantine,
    read_sabotage,
)
from harness.case.read_faults import read_faults
from harness.case.read_place import (
    read_env,
    read_planted,
    read_sandbox,
    read_secrets,
    read_workspace,
)
from harness.case.read_script import (
    read_script,
    read_services,
    read_steps,
    read_subjects,
    service_names,
)
from harness.case.reading import Reading
from harness.case.schema import loader_schema
from harness.case.script_schema import SCRIPT
from harness.case.tables import Tables, installed
from harness.case.validate import flaws, validator

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


def load_cases(paths: Iterable[Path], tables: Tables | None = None) -> tuple[Case, ...]:
    """Load files, each once, in order.

    Raises:
        CaseErrors: every error of every file, ids used twice among them.
    """
    cases, errors = load_each(paths, tables)
    if errors:
        raise CaseErrors(errors)
    return cases


def load_each(
    paths: Iterable[Path], tables: Tables | None = None
) -> tuple[tuple[Case, ...], list[CaseError]]:
    """Load files, each once, in order; gives those that are right, and what is wrong with others."""
    cases: dict[str, Case] = {}
    errors: list[CaseError] = []
    for path in dict.fromkeys(paths):
        try:
            case = load_case(path, tables)
        except CaseErrors as error:
            errors.extend(error.errors)
            continue
        first = cases.setdefault(case.id, case)
        if first is not case:
            message = f"the case id {case.id} is in use already, at {first.where}"
            errors.append(CaseError(case.where, message, "give each case an id of its own"))
    return tuple(cases.values()), errors


def load_case(path: Path, tables: Tables | None = None) -> Case:
    """Load one file.

    Raises:
        CaseErrors: everything that is wrong with it.
    """
    doc = yaml.read(path)
    return case_of(doc, path, tables or installed())


def case_of(doc: yaml.Document, path: Path, tables: Tables) -> Case:
    """The case that a file says; relative paths are relative to ``path``'s folder.

    Raises:
        CaseErrors: everything that is wrong with it.
    """
    r = Reading(doc, tables, path.parent, list(doc.errors))
    r.flawed(flaws(_case_validator(tables), doc.data))
    case = _case(r, path)
    if r.errors:
        raise CaseErrors(r.errors)
    return case


@functools.cache
def _case_validator(tables: Tables) -> Validator:
    return validator(loader_schema(tables))


def _case(r: Reading, path: Path) -> Case:
    hosts = service_names(r)
    faults, each = read_faults(r, hosts)
    ids = judged_ids(r)
    env = read_env(r)
    r.no_nul(("task",), r.get(("task",), ""))
    return Case(
        id=r.get(("case",), ""),
        source=path,
        where=r.doc.where(("case",)),
        document=r.get((), {}),
        title=r.get(("title",), ""),
        proves=r.get(("proves",), ""),
        tags=tuple(item for _, item in r.items(("tags",))),
        subjects=read_subjects(r),
        task=r.get(("task",), ""),
        sandbox=read_sandbox(r),
        home=read_planted(r, ("home",)),
        workspace=read_workspace(r),
        env=env,
        secrets=read_secrets(r, env),
        script=read_script(r, ("script",)),
        leftover=r.get(("leftover",)) == "allowed",
        services=read_services(r),
        faults=faults,
        each=each,
        steps=read_steps(r),
        stimulus=read_expectations(r, ("stimulus",), hosts),
        expect=read_expectations(r, ("expect",), hosts),
        control=read_control(r, hosts),
        sabotage=read_sabotage(r, ids),
        prices=read_prices(r),
        known=read_known(r, ids),
        quarantine=read_quarantine(r),
    )


def load_script(path: Path, tables: Tables | None = None) -> tuple[ScriptStep, ...]:
    """The turns of a script: a list of them, or a case that has one.

    Raises:
        CaseErrors: everything that is wrong with it.
    """
    doc = yaml.read(path)
    if isinstance(doc.data, dict):
        case = case_of(doc, path, tables or installed())
        if case.script is None:
            error = CaseError(doc.where(), "the case has no script", "write script: [{say: …}]")
            raise CaseErrors([error])
        return tuple(case.script)
    r = Reading(doc, tables or installed(), path.parent, list(doc.errors))
    r.flawed(flaws(validator(SCRIPT), doc.data))
    script = read_script(r, ())
    if r.errors:
        raise CaseErrors(r.errors)
    return script or ()
