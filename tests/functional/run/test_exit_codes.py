"""What is not a pass never exits 0, and says why."""

from __future__ import annotations

import json
import re

import pytest

TRUE = 'subject: {command: ["true"]}\n'

NOT_A_PASS = {
    "expects-nothing": (
        TRUE + "expect: []\n",
        "nothing-expected",
    ),
    "expects-nothing-at-all": (
        TRUE,
        "nothing-expected",
    ),
    "fault-never-fires": (
        TRUE
        + "faults: [{id: f, fault: model.status, with: {status: 500}, when: {request: 1}}]\n"
        + "expect: [{exit: 0}]\n",
        "fault-not-delivered",
    ),
    "faults-of-a-network-that-is-not-there": (
        TRUE
        + """sandbox: {network: none}
faults:
  - {fault: network.cut}
  - {fault: network.refuse}
  - {fault: network.latency, with: {delay: 1s}}
  - {fault: network.loss, with: {service: model, percent: 50}}
  - {fault: network.name-not-found, with: {name: model}}
expect: [{exit: 0}]
""",
        "fault-not-delivered",
    ),
    "fault-in-the-place-never-fires": (
        TRUE
        + "faults: [{id: f, fault: process.kill, when: {file: never}}]\n"
        + "expect: [{exit: 0}]\n",
        "fault-not-delivered",
    ),
    "script-left-over": (
        TRUE + "script: [{say: one}]\nexpect: [{exit: 0}]\n",
        "script-not-finished",
    ),
    "stimulus-unmet": (
        TRUE + "stimulus: [{requests: {at_least: 1}}]\nexpect: [{exit: 0}]\n",
        "not-provoked",
    ),
    "program-missing": (
        "subject: {command: [no-such-program]}\nexpect: [{exit: 0}]\n",
        "tool-missing",
    ),
    "capability-missing": (
        TRUE
        + "sandbox: {needs: [nest]}\nsteps: [start, {wait: exit}, {run: [id], as: root}]\n"
        + "expect: [{exit: 0}]\n",
        "capability-missing",
    ),
}


def test_what_could_not_be_tried_is_unavailable_and_exits_3(shakeout):
    cases = [shakeout.case(name, text) for name, (text, _) in NOT_A_PASS.items()]

    ran = shakeout("run", *cases, "--json")

    assert ran.code == 3
    trials = {trial["case"]: trial for trial in ran.document["trials"]}
    assert trials.keys() == NOT_A_PASS.keys()
    for name, (_, reason) in NOT_A_PASS.items():
        assert trials[name]["verdict"] == "unavailable", name
        assert reason in trials[name]["reasons"], name
        assert trials[name]["message"], name


def test_an_agent_that_is_not_installed_exits_3_and_says_what_installs_it(shakeout, tmp_path):
    case = shakeout.case("agent", "subject: claude-code\ntask: hi\nexpect: [{home: untouched}]\n")

    ran = shakeout("run", case, "--json", SHAKEOUT_AGENTS=str(tmp_path / "nowhere"))

    (trial,) = ran.document["trials"]
    assert ran.code == 3
    assert trial["reasons"] == ["subject-missing"]
    assert "ci/setup" in trial["message"]


def test_an_empty_selection_exits_3(shakeout):
    case = shakeout.case("one", TRUE + "expect: [{exit: 0}]\n")

    told = shakeout("run", case, "-k", "nothing-like-it")
    assert "-k 'nothing-like-it' matches no id, tag or title" in told.out
    ran = shakeout("run", case, "-k", "nothing-like-it", "--json")

    assert ran.code == 3
    assert ran.document["verdict"] == "unavailable"
    assert ran.document["reasons"] == ["nothing-ran"]
    assert ran.document["trials"] == []


def test_checks_of_a_suite_without_cases_are_not_written_and_exit_3(shakeout, tmp_path):
    shakeout.case("good", TRUE + "expect: [{exit: 0}]\n")
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        "schema: 1\nsuite: own\ntitle: Ours\nchecks:\n"
        "  - {id: A1, title: Written, case: good.yaml}\n"
        "  - {id: A2, title: Not yet}\n"
        "  - {id: A3, title: Nor this}\n"
    )

    ran = shakeout("run", suite, "--json")

    assert ran.code == 3
    verdicts = {trial["case"]: trial["verdict"] for trial in ran.document["trials"]}
    assert verdicts == {"good": "passed", "A2": "unavailable", "A3": "unavailable"}
    assert ran.document["reasons"] == ["not-written"]


def test_injection_switched_off_is_never_a_pass(shakeout):
    with_fault = shakeout.case(
        "with-fault",
        """\
        subject: {command: [curl, -s, "http://model:8080/v1/models"]}
        faults: [{id: late, fault: network.latency, with: {delay: 10ms}}]
        expect: [{home: untouched}]
        """,
    )
    without = shakeout.case("without", TRUE + "expect: [{exit: 0}]\n")

    ran = shakeout("run", with_fault, without, "--no-inject", "--json")

    assert ran.code == 3
    reasons = {trial["case"]: trial["reasons"] for trial in ran.document["trials"]}
    assert reasons == {"with-fault": ["fault-not-delivered"], "without": ["not-provoked"]}


BAD = {
    "oracle": ("expect:\n  - {hom: untouched}\n", 3, "home"),
    "fault": ("faults:\n  - {id: f, fault: model.statuss}\n", 3, "model.status"),
    "key": ("expext: []\n", 2, "expect"),
}


@pytest.mark.parametrize("name", BAD)
def test_an_unknown_name_exits_2_with_its_place_and_starts_nothing(shakeout, tmp_path, name):
    text, line, hint = BAD[name]
    case = shakeout.case("bad", text + TRUE)

    ran = shakeout("run", case, "--out", "made", "--json")

    assert ran.code == 2
    places = [(e["file"], e["line"]) for e in ran.document["errors"]]
    assert (str(case), line) in places
    assert any(hint in e["hint"] + e["message"] for e in ran.document["errors"])
    assert all(e["column"] >= 1 for e in ran.document["errors"])
    assert not (tmp_path / "made").exists()


def test_an_unknown_placeholder_exits_2_with_line_and_column(shakeout):
    case = shakeout.case("bad", 'subject: {command: [echo, "{tsk}"]}\nexpect: [{exit: 0}]\n')

    ran = shakeout("run", case)

    assert ran.code == 2
    assert re.match(rf"{case}:2:\d+: .*tsk", ran.err)
    assert "task" in ran.err


def test_a_folder_that_is_not_empty_is_refused(shakeout, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "precious").write_text("x")
    case = shakeout.case("one", TRUE + "expect: [{exit: 0}]\n")

    ran = shakeout("run", case, "--out", "full")

    assert ran.code == 2
    assert "not empty" in ran.err
    assert [p.name for p in (tmp_path / "full").iterdir()] == ["precious"]


def test_json_on_stdout_is_run_json_and_nothing_else(shakeout, tmp_path):
    case = shakeout.case("one", TRUE + "expect: [{exit: 0}]\n")

    ran = shakeout("run", case, "--out", "here", "--json")

    assert ran.code == 0
    assert ran.document == json.loads((tmp_path / "here" / "run.json").read_text())
    assert ran.document["exit"] == 0
    assert ran.document["sealed"] is True


def test_a_run_without_out_goes_to_out_and_is_linked_as_latest(shakeout, tmp_path):
    case = shakeout.case("one", TRUE + "expect: [{exit: 0}]\n")

    ran = shakeout("run", case)

    assert ran.code == 0
    assert (tmp_path / "out" / "latest" / "run.json").is_file()
    assert (tmp_path / "out" / "latest" / "junit.xml").is_file()
    assert "1 passed" in ran.out
