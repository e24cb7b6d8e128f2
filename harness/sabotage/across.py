"""The matrix of ``teeth --full``: every sabotage tried on every case with the same subject.

Only the diagonal, where a sabotage is tried on its own case, decides anything. The rest shows
which case notices which protection's loss.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.case.model import Case, Sabotage
from harness.plan import Selection, Trial, trials_of, under, variations
from harness.sabotage.sabotaged import sabotaged
from sandboxes.base import Probe


@dataclass(frozen=True, slots=True)
class Row:
    """A sabotage of one case, for one subject."""

    of: str
    name: str
    subject: str

    def __str__(self) -> str:
        return f"{self.of}/{self.name} of {self.subject}"


@dataclass(frozen=True, slots=True)
class Cell:
    """A sabotage on a case.

    Attributes:
        on: id of the trial of that case as it is.
        trial: id of the sabotaged trial.
    """

    row: Row
    on: str
    trial: str


@dataclass(frozen=True, slots=True)
class _Place:
    """The trial of a case as it is; ``number`` as of its variation."""

    trial: Trial
    number: int | None

    def owns(self, row: Row) -> bool:
        return (self.trial.case.id, self.trial.ref.name) == (row.of, row.subject)


def across(
    cases: Sequence[Case], probes: Mapping[str, Probe], selection: Selection
) -> tuple[tuple[Trial, ...], tuple[Cell, ...]]:
    """The trials off the diagonal, and every cell of the matrix, the diagonal's included.

    A sabotage that does the same to a case as another is not tried again: both share the trial.
    """
    plain = replace(selection, control=False, sabotage=False)
    places = [
        _Place(next(trials_of(variation, probes, plain)), variation.number)
        for case in cases
        for variation in variations(case, plain)
    ]
    tried: dict[tuple[str, str], str] = {}
    cells, trials = [], []
    for row, where, trial in _sorted(places):
        assert trial.sabotaged is not None  # noqa: S101 - it is made of one
        key = (where.trial.id, trial.sabotaged.digest)
        if key not in tried:
            tried[key] = trial.id
            trials += [] if trial.sabotaged.own else [trial]
        cells.append(Cell(row, where.trial.id, tried[key]))
    return tuple(trials), tuple(cells)


def _sorted(places: Sequence[_Place]) -> Iterator[tuple[Row, _Place, Trial]]:
    """Every sabotage at every place with the same subject; the diagonal first."""
    rows: dict[Row, tuple[Sabotage, _Place]] = {}
    for place in places:
        for sabotage in place.trial.case.sabotage:
            row = Row(place.trial.case.id, sabotage.name, place.trial.ref.name)
            rows.setdefault(row, (sabotage, place))
    for own in (True, False):
        for row, (sabotage, owner) in rows.items():
            for where in places:
                if where.owns(row) is own and (own or _same_subject(where.trial, owner.trial)):
                    yield row, where, _trial(sabotage, owner, where)


def _same_subject(one: Trial, other: Trial) -> bool:
    return (
        one.case.id != other.case.id
        and one.ref.name == other.ref.name
        and one.identity is not None
        and one.identity == other.identity
    )


def _trial(
    sabotage: Sabotage,
    owner: _Place,
    where: _Place,
) -> Trial:
    removed = sabotaged(sabotage, where.trial.case, owner.trial.case)
    return under(where.trial, where.number, removed)
