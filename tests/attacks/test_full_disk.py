"""No room for the evidence, at each stage of a run: it never passes without all of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.attacks.form import Seen, on_disk, scene, shakeout
from tests.attacks.kinds.author import GOOD
from tests.attacks.test_attacks import wanted_here

_SIZES = [f"size={n}k" for n in range(4, 68, 4)]
_NAMES = [f"nr_inodes={n}" for n in range(1, 26)]
#: Of each stage at which there can be no room left, one.
_SOME = ("size=4k", "size=16k", "size=28k", "nr_inodes=2", "nr_inodes=6", "nr_inodes=12")


def _ways():
    for options in (*_SIZES, *_NAMES):
        yield pytest.param(options, marks=() if options in _SOME else pytest.mark.long)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    wanted_here("bubblewrap", ["user.root"])
    with scene(tmp_path, monkeypatch):
        (tmp_path / "good.yaml").write_text(json.dumps(GOOD))
        yield tmp_path


@pytest.mark.parametrize("options", [*_ways()])
def test_a_run_passes_only_where_all_of_its_evidence_is_on_disk(options, folder):
    def work() -> tuple[Seen, set[str]]:
        words = ["run", "good.yaml", "--json", "--sandbox", "bubblewrap", "--out", "out"]
        seen = shakeout(words, folder)
        return seen, {path.name for path in Path("out").rglob("*") if _whole(path)}

    seen, kept = on_disk(options, folder, work)

    if seen.code == 0:
        assert {"run.json", "verdict.json", "junit.xml", "files.json", "case.yaml"} <= kept
    else:
        assert seen.code in {2, 4}, seen.err
        assert "No space left" in seen.err


def _whole(path: Path) -> bool:
    if path.suffix != ".json":
        return path.is_file() and path.stat().st_size > 0
    try:
        json.loads(path.read_bytes())
    except ValueError:
        return False
    return True
