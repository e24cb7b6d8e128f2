"""The same cases come to the same verdicts, for the same reasons, on every backend."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness import cli
from harness.faults.registry import FAULTS
from harness.oracles.registry import ORACLES
from sandboxes.registry import BACKENDS
from tests import few
from tests.conformance.conftest import WAYS, wanted, wanted_kind
from tests.functional.parity.sources import Source, sample, sources

#: What is not of the case: numbers of processes, times and speeds, the agent's number, which is
#: the first from 61234 on that nobody has, and names of commits, which come of when they were made.
OWN = re.compile(
    r"\b\d+(?= \(| bytes)|\b[\d.]+(?= s\b| [kMG]B/s)|\b\d\d:\d\d(:\d\d)?\b|\b6123\d\b"
    r"|\b[0-9a-f]{10,40}\b"
)
OBJECTS = ".git/objects/"
AT_ONCE = 20
LACKS = "capability-missing"
#: Cases of which only the verdicts are compared, and why.
UNLIKE = {
    "full-is-met-by-who-writes-too-much": "how fast it was shifts what is cut off of its words",
    "home-unwritable-that-nobody-minds": "it lists the root folder, which is the image's",
    "missing-executable-that-nobody-wants": "it lists the programs of the image",
    "missing-path-that-nobody-asked-for": "it shows the size of a folder of the image",
    "reused-pid-does-not-hide-what-the-subject-left": "it tells the number of a process",
    "reused-pid-that-nobody-reads": "it lists the numbers of processes",
}

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]


def groups(of: Sequence[Source], kind: str) -> Iterator[Any]:
    """So many at once that a run is worth its start."""
    for agents in (False, True):
        some = [source for source in of if source.of_agents is agents]
        for at in range(0, len(some), AT_ONCE):
            marks = [pytest.mark.agents] if agents else []
            marks += [pytest.mark.long] if kind == "all" else []
            name = f"{kind}-{'agents' if agents else 'cases'}-{at // AT_ONCE}"
            yield pytest.param(some[at : at + AT_ONCE], marks=marks, id=name)


def judged(trial: Path, *, words: bool) -> dict[str, Any]:
    """What a trial came to, without what may differ: times, places, process numbers.

    Without ``words``, only the verdicts.
    """
    verdict = json.loads((trial / "verdict.json").read_text())
    came_to = {
        **{name: verdict[name] for name in ("verdict", "reasons")},
        "expect": [(e["id"], e["verdict"]) for e in verdict["expect"]],
        "faults": [(f["id"], f["landed"]) for f in verdict["faults"]],
    }
    if not words:
        return came_to
    at_end = trial / "files.json"  # absent where nothing was started
    files = json.loads(at_end.read_text()) if at_end.exists() else []
    return {
        **came_to,
        **{name: verdict[name] for name in ("ended_by", "exit_code")},
        "seen": [OWN.sub("N", e["seen"] or "") for e in verdict["expect"]],
        "files": [
            (change["root"], change["path"], change["change"])
            for change in files
            if not change["path"].startswith(OBJECTS)
        ],
        "stdout": OWN.sub("N", (trial / "stdout").read_bytes().decode("latin-1"))
        if (trial / "stdout").exists()
        else None,
    }


FEW = few.spread([source for source in sample() if not source.of_agents], few.PARITY)


@pytest.mark.parametrize("group", [*groups(FEW, "few"), *groups(sources(), "all")])
def test_every_backend_comes_to_the_same_verdicts(group, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SHAKEOUT_STATE", str(tmp_path / "state"))
    files = [str(source.file(tmp_path)) for source in group]
    words = not group[0].of_agents
    seen = {}
    for name, backend in BACKENDS.items():
        wanted(backend)
        seen[name] = come_to(group, files, name, tmp_path / name, capsys, words=words)

    first, *others = seen.values()
    assert others
    assert [line for other in others for line in differences(first, other)] == []


@pytest.mark.long
@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize("group", [*groups(FEW, "ways")])
def test_every_way_into_a_container_comes_to_the_same_verdicts(
    group, kind, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("SHAKEOUT_STATE", str(tmp_path / "state"))
    files = [str(source.file(tmp_path)) for source in group]
    wanted(BACKENDS["docker"])
    first = come_to(group, files, "docker", tmp_path / "joined", capsys, words=False)
    monkeypatch.setitem(BACKENDS, "docker", wanted_kind(kind))
    other = come_to(group, files, "docker", tmp_path / "way", capsys, words=False)

    can = {trial: came for trial, came in other.items() if LACKS not in came["reasons"]}
    assert can if kind == "docker/runsc" else can == other
    assert list(differences({trial: first[trial] for trial in can}, can)) == []


def come_to(
    group: Sequence[Source], files: Sequence[str], name: str, out: Path, capsys: Any, *, words: bool
) -> dict[str, dict[str, Any]]:
    """What the trials of a run on a backend come to, by their ids without its name."""
    code = cli.main(["run", *files, "--sandbox", name, "--out", str(out), "--json"])
    run = json.loads(capsys.readouterr().out)
    assert code == run["exit"], run
    reasons = {reason for trial in run["trials"] for reason in trial["reasons"]}
    if "subject-missing" in reasons:
        pytest.skip("the agents are not installed")
    assert {trial["sandbox"]["backend"] for trial in run["trials"]} == {name}
    assert {trial["case"] for trial in run["trials"]} == {source.name for source in group}
    return {
        trial["id"].replace(name, ""): judged(
            out / trial["dir"], words=words and trial["case"] not in UNLIKE
        )
        for trial in run["trials"]
    }


def differences(first: dict[str, Any], other: dict[str, Any]) -> Iterator[str]:
    """What two backends say otherwise, by trial."""
    assert first.keys() == other.keys()
    for trial, came_to in first.items():
        for what, said in came_to.items():
            if said != other[trial][what]:
                yield f"{trial} {what}: {said!r} there, {other[trial][what]!r} here"


def test_the_sample_has_every_fault_and_every_oracle():
    shown = frozenset().union(*(source.shows for source in sample()))

    assert set(FAULTS) - shown == set(), "write a case for it: tests/functional/parity/cases"
    assert set(ORACLES) - shown == set(), "write a case for it: tests/functional/parity/cases"
    names = {source.name for source in sources()}
    assert len(names) == len(sources())
    assert names >= UNLIKE.keys()
