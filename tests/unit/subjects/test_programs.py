"""Programs that are known not to run: the checker and a run say the same of them, at their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.case.errors import CaseErrors
from harness.case.load import load_case
from harness.commands.check import checked
from harness.errors import Unavailable
from harness.plan import Selection, plan
from harness.subjects.programs import programs_at
from sandboxes.errors import CommandNotFound
from verifiers.verdicts import Reason

WRONG = {
    "./agnt": "did you mean ./agent[?]",
    "./gone/for-good": "write one of ./agent, ./notes",
    "./notes": "chmod [+]x .*/m/notes",
    "/opt/m/notes": "chmod [+]x .*/m/notes",
    "{workspace}/none": "write one of /opt/m/agent, /opt/m/notes",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, mode in (("agent", 0o755), ("notes", 0o644)):
        file = tmp_path / "m" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("#!/bin/sh\n")
        file.chmod(mode)
    return tmp_path


@pytest.mark.parametrize("program", WRONG)
def test_a_run_and_the_checker_say_the_same_at_the_same_place(program: str, folder: Path):
    path = folder / "a.yaml"
    text = f'case: a\nsubject: {{command: ["{program}"]}}\nworkspace: {{mount: {{m: /opt/m}}}}\n'
    path.write_text(text)

    with pytest.raises(CaseErrors, match=WRONG[program]) as refused:
        checked([path])
    (trial,) = plan([load_case(path)], {}, Selection())
    (lack,) = [lack for lack in trial.lacks if lack.reason is Reason.TOOL_MISSING]

    assert [f"{lack.where}: {lack}"] == [str(error) for error in refused.value.errors]
    assert f"{lack.where}".endswith("a.yaml:2:21")


def test_what_only_the_sandbox_can_tell_has_its_place_and_what_to_write(folder: Path):
    path = folder / "a.yaml"
    path.write_text("case: a\nsubject: {command: [nonesuch]}\nsteps: [{run: [neither]}, start]\n")
    case = load_case(path)

    for where, place in ((case.subjects[0].where, "2:21"), (case.steps[0].where, "3:16")):
        with pytest.raises(Unavailable) as caught, programs_at(where):
            raise CommandNotFound("'x' cannot be run in the sandbox")
        (lack,) = caught.value.lacks
        assert lack.reason is Reason.TOOL_MISSING
        assert str(lack.where).endswith(f"a.yaml:{place}")
        assert "a program on PATH" in str(lack)
