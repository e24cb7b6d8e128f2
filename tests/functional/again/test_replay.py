"""``--replay``: what hit once between two requests hits there again, 20 times out of 20."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.evidence import store
from harness.journal import read_journal
from tests.functional.run.conftest import Bench

#: A fault that comes with time or output, beside a subject that asks on and on, as fast as it
#: likes: whether the one request that is refused has an odd number is a matter of luck.
RACE = """\
subject:
  command:
    - python3
    - -c
    - |
      import random, threading, time, urllib.error, urllib.request
      def tell():
          time.sleep(random.uniform(0.1, 0.3))
          print("told", flush=True)
      threading.Thread(target=tell).start()
      for number in range(2000):
          time.sleep(random.uniform(0.001, 0.03))
          try:
              urllib.request.urlopen("http://upstream:8080/", timeout=9)
          except urllib.error.HTTPError:
              break
      raise SystemExit(number % 2)
services: {http: {upstream: [{on: GET /, reply: {body: fine}}]}}
faults: [{id: bad, fault: upstream.status, WHEN, with: {service: upstream, status: 500}}]
expect: [{exit: 0}]
"""


def until_it_fails(shakeout: Bench, when: str) -> Path:
    """Repeat the race until it is lost, after at least one request; gives that trial's folder."""
    case = shakeout.case("race", RACE.replace("WHEN", when))
    for number in range(9):
        out = shakeout.folder / f"original-{number}"
        shakeout("run", case, "--out", out, "--repeat", "4", "-n", "4", "--json")
        for verdict in sorted(out.glob("trials/*/verdict.json")):
            if json.loads(verdict.read_text())["verdict"] == "failed":
                return verdict.parent
    raise AssertionError("in 36 trials the fault never hit a request with an odd number")


def hit(folder: Path) -> int:
    """Which request the fault hit."""
    (asked,) = [r for r in store.load_evidence(folder).requests if r.fault == "bad"]
    return asked.seq


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "when",
    ["when: {after: 500ms}", pytest.param('when: {output: "^told"}', marks=pytest.mark.long)],
)
def test_a_race_that_was_lost_is_lost_again_20_times_of_20(when: str, shakeout: Bench):
    failed = until_it_fails(shakeout, when)

    words = ("--repeat", "20", "-n", "4", "--json", "--out", "again")
    ran = shakeout("run", "--replay", failed, *words)

    assert [trial["verdict"] for trial in ran.document["trials"]] == ["failed"] * 20
    assert ran.document["flaky"] == []
    for trial in ran.document["trials"]:
        assert trial["replay"] == {"of": str(failed), "differs": {}}
        folder = shakeout.folder / "again" / trial["dir"]
        assert hit(folder) == hit(failed)
        events = read_journal(folder / "journal.jsonl")
        places = {e["event"]: e["place"]["asked"]["upstream"] for e in events if "place" in e}
        assert places.keys() == {"scheduled", "came"}
        assert places["came"] - places["scheduled"] in (0, 1)  # 1: just before the next


RECORDED = """\
subject: {command: [/opt/tool]}
services: {http: {upstream: [{on: GET /, reply: {body: fine}}]}}
faults: [{id: bad, fault: upstream.status, WHEN, with: {service: upstream, status: 500}}]
workspace: {mount: {tool: /opt/tool}}
secrets: [TOKEN]
expect: [{exit: 0}]
"""
FILE = "when: {file: x}"
UNTIL = "times: always, until: {file: x}"
FIRST = "when: {service: upstream, request: 1}"
ASK = "curl -sf upstream:8080"
#: What the subject does, so that the fault hits and the case passes, whatever the machine's pace.
DOES = {
    FILE: f"{ASK}; touch x; while {ASK}; do sleep 0.02; done; {ASK}",
    UNTIL: f"{ASK}; touch x; until {ASK}; do sleep 0.02; done",
    FIRST: f"{ASK}; {ASK}",
}


def does(shakeout: Bench, commands: str) -> Path:
    """Let the tool that the case mounts do this."""
    tool = shakeout.folder / "tool"
    tool.write_text(f"#!/bin/sh\n{commands}\n")
    tool.chmod(0o755)
    return tool


def record(shakeout: Bench, when: str, *words: str) -> Path:
    """Run a case of one tool with one fault; gives the folder of the trial."""
    does(shakeout, DOES[when])
    case = shakeout.case("recorded", RECORDED.replace("WHEN", when))
    ran = shakeout("run", case, "--out", "first", "--json", *words)
    trial = ran.document["trials"][0]
    assert trial["verdict"] == "passed", trial
    folder: Path = shakeout.folder / "first" / trial["dir"]
    return folder


def replay(shakeout: Bench, folder: Path) -> tuple[Mapping[str, Any], Path]:
    """Run a trial again; gives its entry in run.json, and its folder."""
    ran = shakeout("run", "--replay", folder, "--json", "--out", "again")
    assert ran.out, ran.err
    (trial,) = ran.document["trials"]
    return trial, shakeout.folder / "again" / trial["dir"]


def test_another_subject_is_run_by_the_same_schedule_and_told(shakeout: Bench):
    first = record(shakeout, FILE)
    does(shakeout, f"{DOES[FILE]}; exit 0")

    ran = shakeout("run", "--replay", first, "--out", "again")
    (trial,) = json.loads((shakeout.folder / "again/run.json").read_text())["trials"]

    assert (ran.code, trial["verdict"]) == (0, "passed")
    assert list(trial["replay"]["differs"]) == ["subject"]
    assert "another subject than was recorded" in ran.out


def test_a_schedule_that_cannot_be_met_is_said_and_proves_nothing(shakeout: Bench):
    first = record(shakeout, FILE)
    does(shakeout, "exit 0")

    trial, folder = replay(shakeout, first)

    assert trial["verdict"] == "unavailable"
    assert trial["reasons"] == ["fault-not-delivered"]
    (missed,) = [e for e in read_journal(folder / "journal.jsonl") if e["event"] == "missed"]
    assert "bad was to begin in step 2 after the requests" in missed["scheduled"][0]


def test_an_end_that_does_not_come_is_a_schedule_that_was_not_met(shakeout: Bench):
    first = record(shakeout, UNTIL)
    does(shakeout, f"{ASK}; exit 0")

    trial, _ = replay(shakeout, first)

    assert trial["verdict"] == "unavailable", trial
    assert "schedule was not met: bad was to end" in trial["message"]


def test_everything_made_by_chance_is_made_again(shakeout: Bench):
    first = record(shakeout, FIRST)

    trial, again = replay(shakeout, first)

    assert (trial["id"], trial["verdict"]) == (first.name, "passed")
    before, after = (read_journal(folder / "journal.jsonl")[0] for folder in (first, again))
    assert (before["seed"], before["chance"]) == (after["seed"], after["chance"])
    assert (first / "case.yaml").read_text() == (again / "case.yaml").read_text()


def test_a_whole_run_is_replayed_controls_and_all(shakeout: Bench):
    record(shakeout, FIRST, "--control")

    ran = shakeout("run", "--replay", "first", "--json", "-k", "recorded")
    none = shakeout("run", "--replay", "first", "--json", "-k", "another")

    assert [trial["kind"] for trial in ran.document["trials"]] == ["trial", "control"]
    assert (none.code, none.document["trials"]) == (3, [])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["case.yaml"], "leave out PATH"),
        (["--seed", "3", "--control"], "leave out --seed, --control"),
        (["--no-inject"], "leave out --no-inject"),
        (["--subject", "nobody"], "unknown subject"),
    ],
)
def test_what_the_evidence_decides_is_not_asked_for(words, said, shakeout: Bench):
    first = record(shakeout, FIRST)

    ran = shakeout("run", *words, "--replay", first, "--out", "again")

    assert ran.code == 2
    assert said in ran.err
    assert not (shakeout.folder / "again").exists()


@pytest.mark.tampers
@pytest.mark.parametrize("gone", ["journal.jsonl", "case.yaml", "tool"])
def test_without_what_it_needs_nothing_is_replayed(gone: str, shakeout: Bench):
    first = record(shakeout, FIRST)
    (shakeout.folder / gone if gone == "tool" else first / gone).unlink()

    ran = shakeout("run", "--replay", first)

    assert ran.code == 2
    assert gone.partition(".")[0] in ran.err


def test_a_folder_without_evidence_is_bad_usage(shakeout: Bench):
    ran = shakeout("run", "--replay", shakeout.folder)

    assert ran.code == 2
    assert "holds no evidence" in ran.err


# -- flaky

WAVERS = """\
subject: {command: [sh, -c, "exit $(($(od -An -N1 -tu1 /dev/urandom) % 2))"]}
expect: [{exit: 0}]
"""


def test_repeats_that_waver_are_told_with_a_journal_of_each_verdict(shakeout: Bench):
    case = shakeout.case("wavers", WAVERS)
    told = shakeout("run", case, "--repeat", "12", "--out", "run")
    document = json.loads((shakeout.folder / "run/run.json").read_text())

    (flaky,) = document["flaky"]
    junit = (shakeout.folder / "run/junit.xml").read_text()
    assert told.code == 1
    assert document["counts"]["flaky"] == 1
    assert flaky["trial"].startswith("wavers.")
    assert flaky["journals"].keys() == {"passed", "failed"}
    for verdict, journal in flaky["journals"].items():
        assert read_journal(shakeout.folder / "run" / journal)[-1]["verdict"] == verdict
        assert journal in " ".join(told.out.split())
        assert junit.count(journal) >= document["counts"]["passed"]
    assert {trial["weighs"] for trial in document["trials"]} == {"failed"}
    assert "<failure" in junit
    assert 'skipped="0"' in junit
