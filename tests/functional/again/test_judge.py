"""``shakeout judge``: the verdicts on record, out of the files alone, and nothing forged passes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness import cli
from harness.evidence.store import EVIDENCE
from harness.oracles.registry import ORACLES
from tests.functional.run.conftest import Bench
from tests.unit.oracles.judging_alone import judged_in_two_processes
from verifiers.seals.state import State

Judge = Callable[..., tuple[int, Mapping[str, Any]]]

CASES = {
    "fine": """\
        subject: {command: [sh, -c, "curl -s model:8080/v1/models >/dev/null; echo out; echo 42 > report.txt"]}
        expect:
          - {exit: 0}
          - {file: {path: report.txt, equals: "42\\n"}}
          - {requests: {exactly: 1, kind: probe}}
          - {output: {matches: out}}
        """,
    "harmful": """\
        subject: {command: [sh, -c, "rm ~/dear.txt"]}
        home: {dear.txt: dear}
        expect: [{home: untouched}]
        """,
    "lacking": """\
        subject: {command: [nowhere]}
        expect: [{exit: 0}]
        """,
    "known": """\
        subject: {command: [sh, -c, "exit 3"]}
        expect: [{exit: 0}]
        known:
          - {subject: command, version: "==0", breaks: [exit], because: x, since: 2026-11-30}
        """,
    "controlled": """\
        subject: {command: [curl, -sf, "http://upstream/"]}
        services: {http: {upstream: [{on: GET /, reply: {body: fine}}]}}
        faults: [{id: bad, fault: upstream.status, with: {service: upstream, status: 500}}]
        expect: [{output: {matches: fine}}]
        """,
}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of all cases, made once; tests work on copies of it."""
    bench = Bench(tmp_path_factory.mktemp("judge"))
    cases = [bench.case(name, text) for name, text in CASES.items()]
    ran = bench("run", *cases, "--control", "--out", "run", "--json")
    assert ran.code == 1, ran.err
    return bench.folder / "run"


@pytest.fixture
def run(original: Path, shakeout: Bench) -> Path:
    """A copy of it."""
    return shutil.copytree(original, shakeout.folder / "copied")


@pytest.fixture
def judge(capsys, monkeypatch, tmp_path: Path) -> Judge:
    """Judge a folder again, in this process; gives the exit code and what it says as JSON."""
    monkeypatch.setenv("SHAKEOUT_STATE", str(tmp_path / "state"))

    def judge(folder: Path, *words: str) -> tuple[int, Mapping[str, Any]]:
        code = cli.main(["judge", str(folder), "--json", *words])
        return code, json.loads(capsys.readouterr().out)

    return judge


def test_a_copy_gives_the_verdicts_and_the_exit_code_of_the_run(run: Path, judge: Judge):
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    document = json.loads((run / "run.json").read_text())

    code, again = judge(run)

    assert (code, again["exit"]) == (document["exit"], document["exit"])
    assert again["verdict"] == document["verdict"]
    for then, now in zip(document["trials"], again["trials"], strict=True):
        assert now["same"], now
        for key in ("id", "kind", "verdict", "reasons", "weighs", "message"):
            assert now[key] == then[key]
        assert now["known"] == (then["known"] and then["known"]["mark"])
    kinds = {
        (trial["id"].split(".")[0], trial["kind"]): trial["verdict"] for trial in again["trials"]
    }
    assert kinds["controlled", "trial"] == "failed"
    assert kinds["controlled", "control"] == "passed"
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_the_folder_of_one_trial_is_judged_by_itself_under_any_name(run: Path, shakeout: Bench):
    (folder,) = run.glob("trials/fine.*bubblewrap")
    alone = shutil.copytree(folder, shakeout.folder / "alone")

    told = shakeout("judge", alone, PATH="/nowhere", DOCKER_HOST="unix:///nowhere.sock")

    assert told.code == 0, told.err
    assert "nothing shows that the evidence is what the run wrote" in told.out
    assert "1 of 1 verdicts are those on record" in told.out


def test_the_seal_is_checked_first_by_the_key_that_is_named(
    original: Path, run: Path, judge: Judge
):
    key = original.parent / "state/keys/key.pub"

    assert judge(run)[1]["seal"]["state"] == "unproven"
    assert judge(run, "--key", str(key))[1]["seal"]["state"] == "intact"


def test_without_a_key_that_is_known_the_seal_shows_changes_and_no_origin(
    run: Path, shakeout: Bench
):
    whole = shakeout("judge", run)
    assert whole.code == 1
    assert "by whom is not proven" in " ".join(whole.out.split())

    (run / "junit.xml").write_bytes(b"")
    assert shakeout("judge", run, "--json").document["seal"]["state"] == "broken"
    (run / "key.pub").unlink()
    assert shakeout("judge", run).code == 4


def test_a_run_of_somebody_elses_key_is_said_to_be_that(run: Path, shakeout: Bench):
    State(shakeout.folder / "state").append("begun", {"run": "x"})

    judged = shakeout("judge", run, "--json")
    assert judged.code == 4
    assert judged.document["seal"]["told"].startswith("the run is signed by another key; use --key")
    assert len(judged.document["seal"]["problems"]) == 1
    verified = shakeout("evidence", "verify", run)
    assert (verified.code, verified.out.count("\n")) == (1, 1)
    assert "signed by another key" in verified.out
    assert shakeout("evidence", "verify", run, "--key", run / "key.pub").code == 0


@pytest.mark.tampers
@pytest.mark.parametrize("name", ["requests.jsonl", "journal.jsonl"])
@pytest.mark.parametrize("line", ["{}", "[]", '{"seq": "one", "t": 0, "at": 1, "event": []}'])
def test_a_line_in_another_form_is_named_with_its_number(
    name: str, line: str, run: Path, judge: Judge
):
    (folder,) = run.glob("trials/fine.*bubblewrap")
    text = (folder / name).read_text()
    (folder / name).write_text(f"{text}{line}\n")

    code, again = judge(folder)

    assert code == 4
    place = f"{name}, line {text.count(chr(10)) + 1} is not in its form"
    assert place in again["trials"][0]["message"]


@pytest.mark.tampers
def test_one_byte_that_changes_no_verdict_breaks_the_seal(original: Path, run: Path, judge: Judge):
    (stdout,) = run.glob("trials/fine.*bubblewrap/stdout")
    stdout.write_bytes(b"out!\n")

    code, again = judge(run, "--key", str(original.parent / "state/keys/key.pub"))

    assert all(trial["same"] for trial in again["trials"])
    assert (code, again["seal"]["state"]) == (4, "broken")
    assert "evidence-lost" in again["reasons"]
    assert any("fine" in problem and "stdout" in problem for problem in again["seal"]["problems"])


def test_a_key_that_is_not_there_is_bad_usage(run: Path, shakeout: Bench):
    assert shakeout("judge", run, "--key", "nowhere.pub").code == 2


def test_what_the_run_let_pass_is_weighed_as_in_the_run(run: Path, shakeout: Bench):
    (folder,) = run.glob("trials/known.*bubblewrap")

    assert shakeout("judge", folder).code == 0
    assert shakeout("judge", folder, "--no-known").code == 1
    assert shakeout("judge", folder, "--fail-on", "known").code == 1


def test_a_folder_without_evidence_is_bad_usage(shakeout: Bench):
    ran = shakeout("judge", shakeout.folder / "nothing")

    assert ran.code == 2
    assert "holds no evidence" in ran.err


Forge = Callable[[Path], object]


def edit(name: str, old: str, new: str) -> Forge:
    def forge(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))

    return forge


def remove(name: str) -> Forge:
    return lambda folder: (folder / name).unlink()


def put(name: str, make: Callable[[Path], object]) -> Forge:
    """Something else in a file's place."""

    def forge(folder: Path) -> None:
        (folder / name).unlink()
        make(folder / name)

    return forge


def endless(path: Path) -> None:
    """A file far larger than what is on the disk of it."""
    path.touch()
    os.truncate(path, 1 << 40)


def append(name: str, text: str) -> Forge:
    return lambda folder: (folder / name).write_text((folder / name).read_text() + text)


DEEP = "[" * 50_000 + "]" * 50_000


def shorten(name: str) -> Forge:
    def forge(folder: Path) -> None:
        lines = (folder / name).read_bytes().splitlines(keepends=True)
        (folder / name).write_bytes(b"".join(lines[:-1]))

    return forge


FORGED = {
    "another exit code": edit("evidence.json", '"exit_code": 0', '"exit_code": 9'),
    "no request": shorten("requests.jsonl"),
    "no requests": remove("requests.jsonl"),
    "no case": remove("case.yaml"),
    "another case": edit("case.yaml", "exit: 0", "exit: 1"),
    "an expectation less": edit("case.yaml", "- exit: 0\n", ""),
    "no case any more": edit("case.yaml", "exit: 0", "exits: 0"),
    "no evidence": remove("evidence.json"),
    "no output": remove("stdout"),
    "no verdict": remove("verdict.json"),
    "another verdict": edit("verdict.json", '"verdict": "passed"', '"verdict": "error"'),
    "no journal": remove("journal.jsonl"),
    "a journal cut short": shorten("journal.jsonl"),
    "a journal of another trial": edit("journal.jsonl", '"trial": "fine', '"trial": "else'),
    "a trouble more": edit("journal.jsonl", '"frozen"', '"trouble"'),
    "a number for a name": edit("evidence.json", '"left": 0', '"left": "none"'),
    "a form to come": edit("evidence.json", '"schema": 1', '"schema": 2'),
    "no form at all": edit("verdict.json", '"schema": 1', '"schema": true'),
    "no changes": remove("files.json"),
    "a pipe for a journal": put("journal.jsonl", os.mkfifo),
    "a pipe for output": put("stdout", os.mkfifo),
    "a device for output": put("stdout", lambda path: path.symlink_to("/dev/zero")),
    "a file without end": put("stdout", endless),
    "a deep journal": edit("journal.jsonl", '"event": "frozen"', f'"event": "x", "a": {DEEP}'),
    "a deep request": put("requests.jsonl", lambda path: path.write_text(f"{DEEP}\n")),
    "a group that is none": edit(
        "journal.jsonl", '"group": "fine.command.bubblewrap"', '"group": []'
    ),
    "breaks that are none": edit("journal.jsonl", '"breaks": []', '"breaks": 5'),
    "a version that is none": edit("journal.jsonl", '"version": "0"', '"version": [1]'),
}


@pytest.mark.tampers
@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_what_does_not_fit_together_is_said_and_never_passes(forge: Forge, run: Path, judge: Judge):
    (folder,) = run.glob("trials/fine.*bubblewrap")
    forge(folder)

    for named in (run, folder):
        code, again = judge(named)
        trial = next(t for t in again["trials"] if t["dir"] in (".", f"trials/{folder.name}"))
        assert code == 4, again
        assert trial["verdict"] != "passed"
        assert "evidence-lost" in trial["reasons"]


@pytest.mark.tampers
def test_a_form_that_is_to_come_is_told_as_such(run: Path, shakeout: Bench):
    (folder,) = run.glob("trials/fine.*bubblewrap")
    edit("evidence.json", '"schema": 1', '"schema": 2')(folder)

    assert "evidence.json has schema 2, this Shakeout reads 1" in shakeout("judge", folder).out


@pytest.mark.tampers
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"dir": "trials/harmful.command.bubblewrap"', '"dir": ""'),
        ('"dir": "trials/harmful.command.bubblewrap"', '"dir": "trials/fine.command.bubblewrap"'),
        ('"id": "harmful.command.bubblewrap"', '"id": "fine.command.bubblewrap"'),
        ('"verdict": "failed"', '"verdict": "passed"'),
        ('"schema": 1', '"schema": 7'),
    ],
)
def test_a_forged_record_of_the_run_hides_no_trial(old: str, new: str, run: Path, judge: Judge):
    edit("run.json", old, new)(run)

    code, again = judge(run)

    assert code == 4
    assert again["problems"] or not all(trial["same"] for trial in again["trials"])
    assert any("broke:home" in trial["reasons"] for trial in again["trials"])


@pytest.mark.tampers
@pytest.mark.parametrize("name", ["run.json", "log.jsonl"])
def test_a_run_whose_record_is_gone_is_no_whole_run(name: str, run: Path, judge: Judge):
    (run / name).unlink()

    code, again = judge(run)

    assert code == 4
    assert name in " ".join(again["problems"])
    assert len(again["trials"]) == 2 * len(CASES)


LET_PASS = {
    "quarantine": append("case.yaml", "quarantine: {owner: o, reason: r, until: '2099-01-01'}\n"),
    "a known defect": append(
        "case.yaml",
        "known: [{subject: command, version: '>=0', breaks: [home], because: b, since: '2026-01-01'}]\n",
    ),
    "a trial that decides nothing": edit("journal.jsonl", '"decides": true', '"decides": false'),
    "a sabotage": edit("journal.jsonl", '"kind": "trial"', '"kind": "sabotage"'),
    "a control": edit("journal.jsonl", '"kind": "trial"', '"kind": "control"'),
}


@pytest.mark.tampers
@pytest.mark.parametrize("forge", LET_PASS.values(), ids=LET_PASS)
def test_a_folder_by_which_a_trial_weighs_less_than_in_the_run_is_said(
    forge: Forge, run: Path, judge: Judge
):
    forge(run / "trials/harmful.command.bubblewrap")

    code, again = judge(run)

    assert code == 4
    trial = next(t for t in again["trials"] if t["id"] == "harmful.command.bubblewrap")
    assert any("run.json says" in difference for difference in trial["differences"])


def _without_the_harmful(run: Path) -> Mapping[str, Any]:
    """Take a trial out of the run, its folder and its record."""
    shutil.rmtree(run / "trials/harmful.command.bubblewrap")
    document = json.loads((run / "run.json").read_text())
    kept = [t for t in document["trials"] if t["id"] != "harmful.command.bubblewrap"]
    return {**document, "trials": kept}


@pytest.mark.tampers
def test_a_trial_that_the_log_tells_of_cannot_be_taken_out(run: Path, judge: Judge):
    (run / "run.json").write_text(json.dumps(_without_the_harmful(run)))

    code, again = judge(run)

    assert code == 4
    assert "log.jsonl tells of the trial harmful" in " ".join(again["problems"])


@pytest.mark.tampers
def test_an_exit_code_that_the_trials_do_not_make_is_said(run: Path, judge: Judge):
    edit("run.json", '"exit": 1', '"exit": 0')(run)
    edit("log.jsonl", '"exit": 1', '"exit": 0')(run)

    code, again = judge(run)

    assert code == 4
    assert again["problems"] == ["run.json says exit code 0, its trials make 1"]


@pytest.mark.tampers
def test_a_trial_told_twice_or_kept_elsewhere_is_said(run: Path, judge: Judge):
    document = json.loads((run / "run.json").read_text())
    document["trials"].append(document["trials"][0])
    (run / "run.json").write_text(json.dumps(document))
    (run / "trials/harmful.command.bubblewrap").rename(run / "elsewhere")
    (run / "trials/harmful.command.bubblewrap").symlink_to("../elsewhere")

    code, again = judge(run)

    assert code == 4
    assert "more than once" in " ".join(again["problems"])
    assert "is a link, and no folder of the run" in " ".join(again["problems"])
    (linked,) = [t for t in again["trials"] if t["id"] == "harmful.command.bubblewrap"]
    assert (linked["verdict"], linked["reasons"]) == ("error", ["evidence-lost"])


@pytest.mark.tampers
def test_trials_behind_a_link_are_not_judged(run: Path, judge: Judge):
    (run / "trials").rename(run / "elsewhere")
    (run / "trials").symlink_to("elsewhere")

    code, again = judge(run)

    assert code == 4
    assert {trial["verdict"] for trial in again["trials"]} == {"error"}


@pytest.mark.tampers
def test_a_trial_on_top_of_a_run_does_not_stand_for_it(run: Path, judge: Judge):
    (fine,) = run.glob("trials/fine.*bubblewrap")
    shutil.copytree(fine, run, dirs_exist_ok=True)

    code, again = judge(run)

    assert code == 4
    assert len(again["trials"]) == 2 * len(CASES)


@pytest.mark.tampers
def test_a_folder_that_is_gone_is_told_in_a_line(run: Path, judge: Judge):
    shutil.rmtree(run / "trials/harmful.command.bubblewrap")

    code, again = judge(run)

    assert code == 4
    (problem,) = again["seal"]["problems"]
    assert problem.startswith("trials/harmful.command.bubblewrap: expected a folder of ")


def test_the_oracles_do_nothing_but_judge_what_was_really_seen(original: Path):
    """See ``tests/unit/oracles/test_pure.py``, which shows that the watch sees what there is."""
    folders = sorted(str(path.parent) for path in original.glob(f"trials/*/{EVIDENCE}"))
    assert len(folders) > len(CASES)

    here, elsewhere = judged_in_two_processes(folders)

    for name in ORACLES:
        assert (name, here[name]["offences"]) == (name, [])
        assert here[name] == elsewhere[name]
