"""The names that sabotages may patch are there, and sabotages keep to them."""

from __future__ import annotations

import importlib
from operator import attrgetter
from pathlib import Path

import pytest

from harness.case.load import load_case
from runtime.seams import SEAMS

FAULTS = sorted((Path(__file__).resolve().parents[3] / "cases" / "faults").glob("*.yaml"))


@pytest.mark.parametrize("seam", SEAMS)
def test_each_is_there_and_says_what_is_lost(seam: str) -> None:
    module, name = seam.split(":")
    attrgetter(name)(importlib.import_module(module))
    assert SEAMS[seam].endswith(".")


@pytest.mark.parametrize("path", FAULTS, ids=lambda path: path.stem)
def test_a_case_patches_nothing_else(path: Path) -> None:
    assert patched(path)
    assert patched(path) <= set(SEAMS)


def test_no_seam_is_without_a_case() -> None:
    assert set(SEAMS) == set().union(*map(patched, FAULTS))


def patched(path: Path) -> set[str]:
    """The names that the sabotages of a case patch."""
    return {
        str(each.params["patch"]) for each in load_case(path).sabotage if "patch" in each.params
    }
