"""A suite file: the ids it consists of, each with its case once that is written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.case import yaml
from harness.case.errors import CaseErrors, quoted
from harness.case.model import Where
from harness.case.reading import Reading
from harness.case.schema import SUITE
from harness.case.tables import Tables
from harness.case.validate import flaws, validator
from harness.nearby import did_you_mean

NAME = "suite.yaml"
_NO_TABLES = Tables({}, {}, {}, {})


@dataclass(frozen=True, slots=True)
class Check:
    """One id of a suite; ``case`` is its file, ``None`` where it is not written yet."""

    id: str
    title: str
    where: Where
    case: Path | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite, in the order of its file."""

    name: str
    source: Path
    title: str = ""
    checks: tuple[Check, ...] = ()


def load_suite(path: Path) -> Suite:
    """Load a suite file.

    Raises:
        CaseErrors: everything that is wrong with it; a case that is not there among it.
    """
    doc = yaml.read(path)
    r = Reading(doc, _NO_TABLES, path.parent, list(doc.errors))
    r.flawed(flaws(validator(SUITE), doc.data))
    checks = _checks(r)
    if r.errors:
        raise CaseErrors(r.errors)
    return Suite(r.get(("suite",)), path, r.get(("title",), ""), checks)


def _checks(r: Reading) -> tuple[Check, ...]:
    ids: dict[str, Check] = {}
    files: set[Path] = set()
    for path, item in r.items(("checks",)):
        name = item["id"]
        if name in ids:
            message = (
                f"the check {name} is here a second time, first at line {ids[name].where.line}"
            )
            r.fail((*path, "id"), message, "give each an id of its own")
        case = r.folder / item["case"] if "case" in item else None
        if case is not None and not case.is_file():
            usual = "name a file relative to the suite's, or leave case out until it is written"
            hint = did_you_mean(Path(item["case"]), usual, (".yaml", ".yml"), beside=r.folder)
            r.fail((*path, "case"), f"there is no file {quoted(item['case'])}", hint)
        elif case is not None and case.resolve() in files:
            r.fail(
                (*path, "case"), f"{quoted(item['case'])} is here a second time", "keep one of them"
            )
        files |= {case.resolve()} if case is not None else set()
        ids[name] = Check(name, item["title"], r.doc.where(path), case)
    return tuple(ids.values())
