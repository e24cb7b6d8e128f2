"""The page about evidence names every file that a run leaves, and every event of its journals."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sandboxes.registry import BACKENDS
from tests.functional.verbs.shakeout import TOP, shakeout

PAGE = (TOP / "docs/evidence.md").read_text()
EVENT = re.compile(r"\b_?(?:journal|log)\.write\(\s*\"([a-z-]+)\"")

needs_a_sandbox = pytest.mark.skipif(
    not any(backend.probe().available for backend in BACKENDS.values()),
    reason="no sandbox can be made here; see shakeout doctor",
)


def named(text: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", text))


@needs_a_sandbox
def test_every_file_of_a_run_is_on_the_page(tmp_path: Path):
    shakeout("new", "x", cwd=tmp_path)
    shakeout("run", "x.yaml", "--out", "run", cwd=tmp_path)
    files = {path.relative_to(tmp_path / "run") for path in (tmp_path / "run").rglob("*")}
    names = {
        re.sub(r"^[0-9]+\.", "N.", "/".join(path.parts[2:] or path.parts))
        for path in files
        if (tmp_path / "run" / path).is_file()
    }
    names = {re.sub(r"^requests/[0-9]+", "requests/N", name) for name in names}
    copies = {name for name in names if re.fullmatch(r"subject/workspace/.+\.copy", name)}

    assert copies
    assert len(names - copies) >= 14
    assert names - copies - named(PAGE) == set()


def test_every_event_that_is_written_down_is_on_the_page():
    written = {
        event
        for path in (TOP / "harness").rglob("*.py")
        for event in EVENT.findall(path.read_text())
    }

    assert len(written) >= 20
    assert written - named(PAGE) == set()


@needs_a_sandbox
def test_a_trial_is_tried_again_with_the_seed_of_its_run_as_the_page_says(tmp_path: Path):
    shakeout("new", "x", cwd=tmp_path)
    first = shakeout("run", "x.yaml", "--json", cwd=tmp_path).json
    again = shakeout("run", "x.yaml", "--seed", str(first["seed"]), "--json", cwd=tmp_path).json

    for key in ("seed", "verdict"):
        assert again[key] == first[key]
        assert again["trials"][0][key] == first["trials"][0][key]
