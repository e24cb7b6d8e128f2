"""The case that the README has people write is one that works as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.commands.check import checked
from tests.functional.verbs.shakeout import shakeout
from tests.house.checkout import ROOT


@pytest.fixture
def written(tmp_path: Path) -> Path:
    page = (ROOT / "README.md").read_text()
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    path = tmp_path / "asks-again.yaml"
    path.write_text(text)
    return path


def test_the_case_of_the_readme_is_valid(written: Path):
    (case,) = checked([written])

    assert case.id == written.stem
    assert case.faults
    assert case.sabotage


def test_the_case_of_the_readme_passes_and_shows_its_teeth(written: Path):
    ended = shakeout("teeth", written.name, cwd=written.parent)

    assert ended.code == 0, ended.out + ended.err
    assert "teeth shown by 1 of 1 sabotage" in ended.out
