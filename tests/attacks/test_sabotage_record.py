"""A subject that writes into the pipe by which a sabotage is proved to have been applied."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import pytest

from harness import trial
from harness.screen.secrets import plant
from tests.attacks.form import Seen, python, scene, shakeout

_WRITES = """
import base64, json, os
import rules
secret = os.environ["TOKEN"]
words = {"plain": secret, "coded": base64.b64encode(secret.encode()).decode(), "deep": ""}
record = "/opt/shakeout-sabotage/record"
if os.path.exists(record):
    pipe = os.open(record, os.O_WRONLY | os.O_NONBLOCK)
    line = {deep} or json.dumps({"pid": 1, "event": "failed", "words": " ".join(words.values())})
    os.write(pipe, line.encode() + b"\\n")
"""
_SABOTAGE = [{"name": "less", "breaks": ["exit"], "patch": "rules:KEPT", "value": 2}]
_PLANTED: list[str] = []


def _teeth(folder: Path, patch: pytest.MonkeyPatch, deep: str = "''", ends: str = "0") -> Seen:
    case = python(
        _WRITES.replace("{deep}", deep) + f"raise SystemExit({ends})\n",
        [{"exit": 0}],
        secrets=["TOKEN"],
        workspace={"files": {"rules.py": "KEPT = 1\n"}},
        sabotage=_SABOTAGE,
    )

    def planted(names: Sequence[str], random: Random) -> Mapping[str, str]:
        canaries = plant(names, random)
        _PLANTED.extend(canaries.values())
        return canaries

    patch.setattr(trial, "plant", planted)
    (folder / "a.yaml").write_text(json.dumps({"case": "a", **case}))
    with scene(folder, patch):
        return shakeout(
            ["teeth", "a.yaml", "--json", "--out", "out", "--sandbox", "bubblewrap"], folder
        )


def test_what_the_subject_says_of_a_sabotage_carries_no_secret_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    seen = _teeth(tmp_path, monkeypatch)

    (sabotage,) = seen.document["sabotages"]
    assert (seen.code, sabotage["verdict"]) == (4, "error")
    assert "[secret:TOKEN:plain]" in sabotage["message"]
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(files) > 20
    coded = [base64.b64encode(secret.encode()).decode() for secret in _PLANTED]
    for told in (*_PLANTED, *coded):
        assert told not in seen.err
        assert [path for path in files if told.encode() in path.read_bytes()] == []


def test_a_record_that_nests_without_end_is_nobody_s_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    seen = _teeth(tmp_path, monkeypatch, deep="'[' * 50000", ends="rules.KEPT - 1")

    (sabotage,) = seen.document["sabotages"]
    assert (seen.code, sabotage["bites"]) == (0, True)
