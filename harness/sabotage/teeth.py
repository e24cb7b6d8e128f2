"""What a run for teeth has shown: ``teeth.json``, and what was to bite and cannot."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.case.model import Case
from harness.evidence.documents import SCHEMA, Document, TrialRecord
from harness.judge.judging import Kind, Standing
from harness.sabotage.across import Cell, Row
from verifiers.verdicts import Verdict

NAME = "teeth.json"
_SABOTAGE = "sabotage"


@dataclass(frozen=True, slots=True)
class Teeth:
    """What was asked for.

    Attributes:
        cases: those that were to show teeth.
        cells: of the matrix; ``None``: none was asked for.
    """

    cases: Sequence[Case]
    cells: Sequence[Cell] | None = None

    def toothless(self, trials: Sequence[TrialRecord]) -> tuple[str, ...]:
        """Cases without a sabotage, and sabotages that nothing fails by.

        Those that every case of the matrix passed with, and those of which nothing that they
        break held without them: neither in the case as it is, for any subject, nor in its clean
        control.
        """
        bare = [case.id for case in self.cases if not case.sabotage]
        verdicts = {trial.id: trial.judged.verdict for trial in trials}
        empty = [
            str(row)
            for row, cells in self._rows().items()
            if all(verdicts[cell.trial] is Verdict.PASSED for cell in cells)
        ]
        held = {key for trial in trials for key in _held(trial)}
        idle = [
            str(Row(trial.case, trial.sabotaged.sabotage.name, trial.subject_name))
            for trial in trials
            if trial.sabotaged and _idle(trial, held)
        ]
        return tuple(dict.fromkeys((*bare, *empty, *idle)))

    def files(self, run: Document) -> Mapping[str, bytes]:
        """What goes into the run's folder beside its other reports."""
        return {NAME: (json.dumps(self.document(run), indent=1) + "\n").encode()}

    def document(self, run: Document) -> Document:
        """``teeth.json``."""
        trials = {trial["id"]: trial for trial in run["trials"]}
        return {
            "schema": SCHEMA,
            "run": run["run"],
            "exit": run["exit"],
            "cases": [_case(trial) for trial in trials.values() if trial["kind"] != _SABOTAGE],
            "sabotages": [
                _sabotage(trial, run["toothless"]) for trial in trials.values() if _decides(trial)
            ],
            "toothless": run["toothless"],
            "matrix": None if self.cells is None else self._matrix(trials),
        }

    def _rows(self) -> Mapping[Row, Sequence[Cell]]:
        rows: dict[Row, list[Cell]] = {}
        for cell in self.cells or ():
            rows.setdefault(cell.row, []).append(cell)
        return rows

    def _matrix(self, trials: Mapping[str, Any]) -> Document:
        own = [trial["id"] for trial in trials.values() if trial["kind"] == "trial"]
        rows = self._rows()
        return {
            "cases": [name for name in own if any(name == cell.on for cell in self.cells or ())],
            "rows": [
                {
                    "of": row.of,
                    "name": row.name,
                    "subject": row.subject,
                    "cells": [_cell(cell, trials[cell.trial]) for cell in cells],
                }
                for row, cells in rows.items()
            ],
        }


def _decides(trial: Mapping[str, Any]) -> bool:
    """Whether it is a sabotage on its own case."""
    return trial["kind"] == _SABOTAGE and bool(trial["sabotage"]["of"] == trial["case"])


def _case(trial: Mapping[str, Any]) -> Document:
    kept = ("id", "case", "kind", "subject", "sandbox", "verdict", "message", "known", "weighs")
    return {key: trial[key] for key in (*kept, "dir")}


#: An expectation of a case, with all that it asks for.
_Held = tuple[str, str, str, str]


def _held(trial: TrialRecord) -> Iterator[_Held]:
    """The expectations that held where nothing was sabotaged."""
    if trial.kind is not Kind.SABOTAGE:
        yield from _expected(trial, Standing.PASSED)


def _idle(trial: TrialRecord, held: Collection[_Held]) -> bool:
    """Whether a sabotage of its own case broke nothing that had held."""
    if not (trial.sabotaged and trial.sabotaged.own):
        return False
    broken = [key for key in _expected(trial, Standing.FAILED) if key[1] in trial.outcome.breaks]
    return bool(broken) and not any(key in held for key in broken)


def _expected(trial: TrialRecord, standing: Standing) -> Iterator[_Held]:
    for judged in trial.judged.expectations:
        if judged.standing is standing:
            one = judged.expectation
            params = json.dumps(one.params, sort_keys=True, default=repr)
            yield trial.case, one.id, one.oracle, params


def _sabotage(trial: Mapping[str, Any], toothless: Collection[str]) -> Document:
    bites = {"passed": True, "failed": False}.get(trial["weighs"])
    row = Row(trial["case"], trial["sabotage"]["name"], trial["subject"]["name"])
    if str(row) in toothless:
        bites = False
    kept = ("id", "case", "subject", "sandbox", "verdict", "reasons", "message")
    return {
        **{key: trial[key] for key in kept},
        "name": trial["sabotage"]["name"],
        "breaks": trial["sabotage"]["breaks"],
        "broke": sorted(_broke(trial)),
        "bites": bites,
        "dir": trial["dir"],
    }


def _cell(cell: Cell, trial: Mapping[str, Any]) -> Document:
    return {
        "on": cell.on,
        "trial": cell.trial,
        "verdict": trial["verdict"],
        "broke": sorted(_broke(trial)),
        "decides": trial["case"] == cell.row.of,
        "dir": trial["dir"],
    }


def _broke(trial: Mapping[str, Any]) -> Iterator[str]:
    return (broken["id"] for broken in trial["broke"])
