"""Judges stored evidence in a process of its own, watched.

    python -m tests.unit.oracles.judging_alone FOLDER...

It prints ``{oracle: {"answers": […], "offences": […]}}``, the deliberately impure ones among
them.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.case.model import Params
from harness.evidence.model import Evidence
from harness.evidence.store import load_evidence
from harness.oracles.base import Finding
from harness.oracles.containment import judge_containment
from harness.oracles.registry import ORACLES
from harness.search import search
from tests.house.checkout import ROOT
from tests.unit.oracles import impure
from tests.unit.oracles.impure import Impure
from tests.unit.oracles.samples import SAMPLES
from tests.unit.oracles.watch import Watch


class Containment:
    """What is judged in every trial, asked as the oracles are."""

    def parse(self, value: Any) -> Params:
        """It takes nothing."""
        return {}

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        """Look."""
        return judge_containment(evidence)


#: Two environments that have nothing in common but where programs are found.
HERE = {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C", "HOME": "/nowhere"}
ELSEWHERE = {
    "PYTHONHASHSEED": "2",
    "TZ": "Asia/Kathmandu",
    "LC_ALL": "C.UTF-8",
    "PYTHONUTF8": "1",
    "FOO": "bar",
}


def judged_in_two_processes(folders: Sequence[str]) -> tuple[Any, Any]:
    """What two processes that have little in common say of the same stored evidence."""

    def judged(env: Mapping[str, str], *written: str) -> Any:
        argv = [sys.executable, "-m", "tests.unit.oracles.judging_alone", *written]
        env = {"PATH": os.environ["PATH"], **env}
        return json.loads(subprocess.check_output(argv, cwd=ROOT, env=env))

    return judged(HERE, *folders), judged(ELSEWHERE, *(f"{folder}/" for folder in folders))


OTHERS: Mapping[str, Any] = {
    "containment": Containment(),
    **{name: Impure(do) for name, (do, _) in impure.WATCHED.items()},
    **{name: Impure(do) for name, (do, _) in impure.SEEN.items()},
    **{name: Impure(do) for name, do in impure.ELSEWHERE.items()},
}


def told(watch: Watch, oracle: Any, written: Any, evidence: Evidence) -> Iterator[tuple[str, str]]:
    """The answer, and each offence."""
    params = oracle.parse(written)
    before = copy.deepcopy((params, evidence))
    answers = []
    for _ in range(2):
        with watch:
            answers.append(oracle.judge(params, evidence))
        yield from (("offences", offence) for offence in watch.offences)
    yield "answers", json.dumps(asdict(answers[0]), default=lambda verdict: verdict.value)
    if answers[0] != answers[1]:
        yield "offences", "two answers"
    if (params, evidence) != before:
        yield "offences", "changed the evidence"


def main(folders: Sequence[str]) -> None:
    """See above."""
    evidences = [load_evidence(Path(folder)) for folder in folders]
    search(
        "the process that searches", "runs from here on: it is a sealed box, asked through a pipe"
    )
    watch = Watch()
    found: dict[str, dict[str, list[str]]] = {}
    for name, oracle in {**ORACLES, **OTHERS}.items():
        found[name] = {"answers": [], "offences": []}
        for written in SAMPLES.get(name, [None]):
            for evidence in evidences:
                for kind, what in told(watch, oracle, written, copy.deepcopy(evidence)):
                    found[name][kind].append(what)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
