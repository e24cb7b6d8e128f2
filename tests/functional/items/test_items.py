"""Cases as items of pytest: collected, selected, tried in parallel, judged as ``run`` judges."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from sandboxes import clock
from tests.functional.items.sessions import CASES, GOOD, Session, case

pytest_plugins = ["pytester"]

#: What pytest says of each, and what ``run.json`` says.
OUTCOMES = {
    "good": ("passed", "passed"),
    "bad": ("failed", "failed"),
    "lacks": ("error", "unavailable"),
    "hangs": ("failed", "timed_out"),
    "known": ("xfailed", "failed"),
    "fixed": ("failed", "passed"),
    "aside": ("xfailed", "failed"),
}


def outcomes(session: Session, *words: str) -> tuple[pytest.RunResult, Mapping[str, str]]:
    """What pytest's own report says of each case."""
    result = session(*words, "--junitxml=pytest.xml")
    found = {}
    for item in ET.parse(session.pytester.path / "pytest.xml").iter("testcase"):
        kinds = {"failure": "failed", "error": "error", "skipped": "xfailed"}
        found[item.attrib["name"].partition("[")[0]] = next(
            (kinds[child.tag] for child in item if child.tag in kinds), "passed"
        )
    return result, found


@pytest.mark.parametrize("parallel", [(), ("-n", "2")], ids=["one", "xdist"])
def test_each_trial_is_an_item_that_is_judged_as_run_judges(
    session: Session, parallel: tuple[str, ...]
):
    session.write(**CASES)
    result, found = outcomes(session, "-v", "--shakeout-seed", "7", *parallel)

    assert found == {name: told for name, (told, _) in OUTCOMES.items()}
    run = session.run
    assert {trial["case"]: trial["verdict"] for trial in run["trials"]} == {
        name: verdict for name, (_, verdict) in OUTCOMES.items()
    }
    assert (run["exit"], run["seed"], run["selected"]) == (1, 7, len(CASES))
    assert run["counts"]["known"] == run["counts"]["quarantined"] == 1
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    for trial in run["trials"]:
        assert (session.pytester.path / "out" / "latest" / trial["dir"] / "verdict.json").is_file()
    shown = result.stdout.str()
    result.stdout.fnmatch_lines_random(["*UNAVAILABLE*lacks*", "*TIMED OUT*hangs*"])
    result.stdout.fnmatch_lines(["*  output", "    expected  stdout lacks /well/"])
    result.stdout.fnmatch_lines(["evidence: *trials/bad.command.*"])
    result.stdout.fnmatch_lines(["*known: theirs*"])
    result.stdout.fnmatch_lines(["*in quarantine until 2999-01-01: it races*"])
    assert "\x1b[31mis" not in shown
    assert "\u202e" not in shown


def collected(session: Session, *words: str) -> set[str]:
    loaded_already = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
    arguments = ("-p", "harness.pytest_plugin", "--collect-only", "-q", *loaded_already)
    result = session.pytester.runpytest_inprocess(*arguments, *words, "cases")
    assert not (session.pytester.path / "out").exists()
    return {line.rpartition("::")[2] for line in result.outlines if "::" in line}


def test_collecting_needs_no_backend_and_takes_cases_alone(session: Session):
    folder = session.pytester.path / "cases"
    session.write(good=GOOD, compose="services: {web: {}}\nsecrets: {}\n")
    (folder / "suite.yaml").write_text("suite: s\nchecks: [{id: c1, title: t}]\n")
    (folder / "schema").mkdir()
    (folder / "schema" / "case.schema.json").write_text("{}")
    of_a_run = folder / "kept" / "trials" / "good"
    of_a_run.mkdir(parents=True)
    (of_a_run.parents[1] / "run.json").write_text("{}")
    (of_a_run / "case.yaml").write_text(GOOD)

    assert collected(session, "--shakeout-sandbox", "docker") == {"good[command]"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("-k", "good"), {"good[command]"}),
        (("-k", "recovery"), {"good[command]"}),
        (("-k", "report and not good"), {"bad[command]"}),
        (("-m", "recovery"), {"good[command]"}),
        (("-m", "not recovery"), {"bad[command]"}),
        (("--shakeout-repeat", "2", "-k", "good"), {"good[command-r1]", "good[command-r2]"}),
        (("--shakeout-control", "-k", "good"), {"good[command]", "good[command-control]"}),
        (("-k", "nothing"), set()),
    ],
)
def test_words_and_tags_select(session: Session, words: tuple[str, ...], expected: set[str]):
    session.write(good=GOOD, bad=CASES["bad"])

    assert collected(session, *words) == expected


def test_subjects_and_combinations_are_items_of_their_own(session: Session):
    several = """\
        case: several
        subjects: [codex, {command: ["true"]}]
        faults:
          - {id: cut, fault: model.truncate, each: {after_events: [1, 2]}}
        expect: [{exit: 0}]
        """
    session.write(several=textwrap.dedent(several))

    assert collected(session) == {
        f"several[{subject}-m{number}]" for subject in ("codex", "command") for number in (1, 2)
    }


def test_an_invalid_case_is_an_error_with_its_place(session: Session):
    session.write(good=GOOD, wrong=GOOD.replace("good", "wrong").replace("expect:", "expct:"))
    session.write(broken="case: broken\nsubject: [\n", twice=GOOD)

    result = session()

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*cases/wrong.yaml:4:1: *expct*expect*"])
    result.stdout.fnmatch_lines(["*cases/broken.yaml:*:*: is no YAML*"])
    result.stdout.fnmatch_lines(["*cases/twice.yaml:1:7: the case id good is in use already*"])
    assert not (session.pytester.path / "out").exists()


@pytest.mark.parametrize(
    ("name", "words", "green"),
    [
        ("known", (), True),
        ("known", ("--shakeout-no-known",), False),
        ("known", ("--shakeout-fail-on", "known"), False),
        ("aside", (), False),
    ],
)
def test_a_session_is_no_better_than_its_run(
    session: Session, name: str, words: tuple[str, ...], green: bool
):
    session.write(**{name: CASES[name]})

    result = session(*words)

    assert (result.ret == pytest.ExitCode.OK) is green
    assert (session.run["exit"] == 0) is green


def test_nothing_selected_is_no_pass(session: Session):
    session.write(good=GOOD)

    result = session("-k", "nothing")

    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    why = "pytest ends with 5: 1 trial was found and left out by -k, -m or --deselect"
    result.stdout.fnmatch_lines([f"no case was tried, which shows nothing, so {why}"])


def test_the_first_failure_can_end_a_session_and_the_last_ones_be_repeated(session: Session):
    session.write(a=CASES["bad"], b=GOOD)
    pytester = session.pytester

    first = session("-x", "--shakeout-out", "one")
    again = session("--lf", "--shakeout-out", "two")

    first.assert_outcomes(failed=1)
    again.assert_outcomes(failed=1)
    assert json.loads((pytester.path / "one" / "run.json").read_text())["exit"] == 1
    refused = session("--shakeout-out", "one")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["*--shakeout-out one is not empty*"])


def until(true: Callable[[], bool]) -> None:
    end = clock.monotonic() + 60
    while not true():
        assert clock.monotonic() < end
        clock.sleep(0.05)


@pytest.mark.parametrize("parallel", [(), ("-n", "1")], ids=["one", "xdist"])
def test_an_interrupted_session_says_so_and_leaves_nothing_running(
    session: Session, parallel: tuple[str, ...]
):
    session.write(stays=case("stays", "touch begun; sleep 61.25"))
    log = "log.gw0.jsonl" if parallel else "log.jsonl"
    place = session.pytester.path / "here"
    words = ("-p", "harness.pytest_plugin", "--shakeout-out", "here", *parallel, "cases")
    popen = subprocess.Popen([sys.executable, "-m", "pytest", *words], start_new_session=True)
    until(lambda: (place / log).exists() and '"begins"' in (place / log).read_text())

    os.killpg(popen.pid, signal.SIGINT)
    popen.wait(timeout=60)

    assert popen.returncode == pytest.ExitCode.INTERRUPTED
    if not parallel:
        run = json.loads((place / "run.json").read_text())
        assert run["exit"] == 130
        assert "interrupted" in run["trials"][0]["reasons"]
    until(lambda: not sleeping("61.25"))


def sleeping(seconds: str) -> bool:
    wanted = f"sleep\0{seconds}\0".encode()
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if entry.read_bytes() == wanted:
                return True
        except OSError:
            continue
    return False
