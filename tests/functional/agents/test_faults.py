"""The fault cases on the whole of agentd, run as their user runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.functional.agents.test_pack import TOP, shakeout

FAULTS = TOP / "cases" / "faults"
#: The cases that the default tier runs; the long one shows the teeth of all.
QUICK = ("c01-net-flap", "c07-must-escalate")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_agentd_passes_and_its_controls_too(tmp_path: Path) -> None:
    paths = [FAULTS / f"{name}.yaml" for name in QUICK]
    run = shakeout(tmp_path, "--control", "--sandbox", "bubblewrap", *paths)
    assert run["exit"] == 0, run["trials"]
    assert run["counts"]["passed"] == 2 * len(QUICK)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_nothing_is_passed_that_was_not_tried(tmp_path: Path) -> None:
    run = shakeout(tmp_path, "--no-inject", "--sandbox", "bubblewrap", FAULTS / f"{QUICK[0]}.yaml")
    assert (run["exit"], run["verdict"]) == (3, "unavailable")
    assert run["reasons"] == ["fault-not-delivered"]


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_every_case_has_shown_that_it_can_fail(tmp_path: Path) -> None:
    run = shakeout(tmp_path, "--sandbox", "bubblewrap", FAULTS, verb="teeth", seconds=1480)
    assert (run["exit"], run["toothless"]) == (0, []), run
    assert len(run["sabotages"]) >= len(list(FAULTS.glob("*.yaml")))
