"""Which sabotages are tried on which cases, and what is made of what came of them."""

from __future__ import annotations

import io
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from harness.case.load import load_case
from harness.case.model import Case
from harness.evidence.documents import RunRecord, TrialRecord, run_document
from harness.judge.judging import Kind, TrialVerdict
from harness.plan import Selection, Trial, plan
from harness.report.teeth import print_teeth
from harness.sabotage.across import Cell, across
from harness.sabotage.teeth import Teeth
from sandboxes.capabilities import CAPABILITIES, Capability, Probe
from tests.unit.evidence import records
from tests.unit.evidence.records import ERROR, PASSED, WITHIN

EVERYTHING = {
    "bubblewrap": Probe(
        "bubblewrap",
        available=True,
        grade="root",
        capabilities={name: Capability(name, available=True, detail="") for name in CAPABILITIES},
    )
}
TEETH = Selection(control=True, sabotage=True)
CASE = """\
case: {name}
subject: {{command: [sh, agent.sh]}}
workspace: {{files: {{agent.sh: "{agent}"}}}}
expect: [{{home: untouched}}]
"""


def case(
    folder: pathlib.Path, name: str, *sabotages: str, agent: str = "true", more: str = ""
) -> Case:
    text = CASE.format(name=name, agent=agent) + more
    if sabotages:
        text += "sabotage:\n" + "".join(
            f"  - {{name: {each}, breaks: [home], replace_subject: {{command: [{each}]}}}}\n"
            for each in sabotages
        )
    path = folder / f"{name}.yaml"
    path.write_text(text)
    return load_case(path)


def planned(cases: Sequence[Case]) -> Sequence[Trial]:
    return plan(cases, EVERYTHING, TEETH)


def crossed(cases: Sequence[Case]) -> tuple[Sequence[Trial], Sequence[Cell]]:
    return across(cases, EVERYTHING, TEETH)


def test_beside_each_case_its_control_and_its_sabotages_are_planned(tmp_path: pathlib.Path):
    trials = planned([case(tmp_path, "a", "x", "y")])

    assert [trial.id for trial in trials] == [
        "a.command.bubblewrap",
        "a.command.bubblewrap.control",
        "a.command.bubblewrap.sabotage-x",
        "a.command.bubblewrap.sabotage-y",
    ]
    assert [trial.kind for trial in trials] == ["trial", "control", "sabotage", "sabotage"]


def test_each_combination_is_tried_with_each_sabotage(tmp_path: pathlib.Path):
    more = "faults:\n  - {fault: model.status, each: {status: [429, 503]}}\n"

    trials = planned([case(tmp_path, "a", "x", more=more)])

    assert [trial.id.removeprefix("a.command.bubblewrap") for trial in trials] == [
        ".m1", ".control.m1", ".sabotage-x.m1", ".m2", ".control.m2", ".sabotage-x.m2",
    ]  # fmt: skip


def test_without_being_asked_for_no_sabotage_is_planned(tmp_path: pathlib.Path):
    trials = plan([case(tmp_path, "a", "x")], EVERYTHING, Selection(control=True))

    assert [trial.kind for trial in trials] == ["trial", "control"]


def test_a_sabotaged_trial_keeps_the_clean_subject_and_starts_what_stands_in(
    tmp_path: pathlib.Path,
):
    clean, _, sabotaged = planned([case(tmp_path, "a", "x")])

    assert (sabotaged.ref, sabotaged.identity) == (clean.ref, clean.identity)
    assert list(sabotaged.starts.argv) == ["x"]
    assert clean.starts == clean.ref
    assert sabotaged.sabotaged is not None
    assert sabotaged.sabotaged.digest not in ("", clean.identity and clean.identity.digest)


def test_the_digest_is_of_all_that_a_sabotage_brings(tmp_path: pathlib.Path):
    (tmp_path / "lax.py").write_text("def allows(): return True\n")
    made = case(tmp_path, "a")
    path = tmp_path / "a.yaml"
    path.write_text(
        path.read_text()
        + 'sabotage: [{name: x, breaks: [home], patch: "m:f", with: "lax.py:allows"}]\n'
    )
    made = load_case(path)
    (before,) = (trial for trial in planned([made]) if trial.sabotaged)
    (tmp_path / "lax.py").write_text("def allows(): return 1\n")
    (after,) = (trial for trial in planned([made]) if trial.sabotaged)

    assert before.sabotaged is not None
    assert after.sabotaged is not None
    assert before.sabotaged.digest != after.sabotaged.digest
    assert before.sabotaged.changed_meanwhile(made)
    assert not after.sabotaged.changed_meanwhile(made)


def test_off_the_diagonal_each_sabotage_is_tried_on_each_case_of_the_same_subject(
    tmp_path: pathlib.Path,
):
    cases = [
        case(tmp_path, "a", "x"),
        case(tmp_path, "b", "y"),
        case(tmp_path, "c", "z", agent="false"),
    ]

    trials, cells = crossed(cases)

    assert sorted(trial.id for trial in trials) == [
        "a.command.bubblewrap.sabotage-b.y",
        "b.command.bubblewrap.sabotage-a.x",
    ]
    assert not any(trial.sabotaged.own for trial in trials if trial.sabotaged)
    assert sorted((cell.row.name, cell.on[0], cell.trial) for cell in cells) == [
        ("x", "a", "a.command.bubblewrap.sabotage-x"),
        ("x", "b", "b.command.bubblewrap.sabotage-a.x"),
        ("y", "a", "a.command.bubblewrap.sabotage-b.y"),
        ("y", "b", "b.command.bubblewrap.sabotage-y"),
        ("z", "c", "c.command.bubblewrap.sabotage-z"),
    ]
    assert {trial.id for trial in planned(cases)} >= {
        cell.trial for cell in cells if cell.row.of == cell.on[0]
    }


def test_what_does_the_same_to_a_case_shares_a_trial(tmp_path: pathlib.Path):
    trials, cells = crossed([case(tmp_path, "a", "x"), case(tmp_path, "b", "x")])

    assert trials == ()
    assert {(cell.row.of, cell.on[0]): cell.trial for cell in cells} == {
        ("a", "a"): "a.command.bubblewrap.sabotage-x",
        ("a", "b"): "b.command.bubblewrap.sabotage-x",
        ("b", "a"): "a.command.bubblewrap.sabotage-x",
        ("b", "b"): "b.command.bubblewrap.sabotage-x",
    }


# -- what came of them


def record(trial: Trial, judged: TrialVerdict) -> TrialRecord:
    made = records.record(trial.case.id, judged, kind=Kind(trial.kind), sabotaged=trial.sabotaged)
    return replace(made, id=trial.id, repeated=trial.group, subject_name="command")


def shown(
    cases: Sequence[Case], verdicts: Mapping[str, TrialVerdict]
) -> tuple[Any, Sequence[str], str]:
    """``teeth.json``, what has no teeth, and the table; a trial that is not named passed."""
    more, cells = crossed(cases)
    teeth = Teeth(cases, cells)
    trials = [record(t, verdicts.get(t.id, PASSED)) for t in (*planned(cases), *more)]
    toothless = teeth.toothless(trials)
    run: RunRecord = records.run(*trials, toothless=toothless)
    document = teeth.document(run_document(run))
    out = io.StringIO()
    print_teeth(document, out, width=160)
    return document, toothless, out.getvalue()


def test_what_every_case_passes_with_has_no_teeth(tmp_path: pathlib.Path):
    cases = [case(tmp_path, "a", "x"), case(tmp_path, "b", "y"), case(tmp_path, "c")]
    own, other = "a.command.bubblewrap.sabotage-x", "b.command.bubblewrap.sabotage-y"

    document, toothless, text = shown(cases, {own: WITHIN})

    assert toothless == ("c", "b/y of command")
    assert document["exit"] == 1
    assert {each["name"]: each["bites"] for each in document["sabotages"]} == {
        "x": True,
        "y": False,
    }
    assert "b/y of command has no teeth" in text
    assert "teeth shown by 1 of 2 sabotages" in text

    document, toothless, text = shown(cases[:2], {own: WITHIN, other: WITHIN})

    assert (toothless, document["exit"]) == ((), 0)


def test_only_the_diagonal_decides(tmp_path: pathlib.Path):
    cases = [case(tmp_path, "a", "x"), case(tmp_path, "b", "y")]
    diagonal = dict.fromkeys(
        ("a.command.bubblewrap.sabotage-x", "b.command.bubblewrap.sabotage-y"), WITHIN
    )

    document, _, text = shown(cases, {**diagonal, "b.command.bubblewrap.sabotage-a.x": ERROR})

    assert document["exit"] == 0
    assert len(document["sabotages"]) == 2
    assert "Xe  a/x of command" in text
    assert "oX  b/y of command" in text


@pytest.mark.parametrize(
    ("judged", "bites", "word"),
    [(WITHIN, True, "yes"), (PASSED, False, "NO"), (ERROR, None, "unknown")],
)
def test_the_table_says_whether_a_sabotage_bites(
    judged: TrialVerdict, bites: bool | None, word: str, tmp_path: pathlib.Path
):
    document, _, text = shown(
        [case(tmp_path, "a", "x")], {"a.command.bubblewrap.sabotage-x": judged}
    )

    (sabotage,) = document["sabotages"]
    assert sabotage["bites"] is bites
    assert word in text.split()
