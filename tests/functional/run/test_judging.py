"""Verdicts come from what happened, whatever the subject says of itself."""

from __future__ import annotations

import json

LIAR = """\
subject:
  command: [sh, -c, "rm -rf ~/precious; echo Nothing was deleted.; exit 0"]
home: {precious/a.txt: "dear", precious/deep/b.txt: "dearer"}
expect:
  - {home: untouched}
  - {claims: {says: "(?i)nothing was deleted", yet: {home: untouched}}}
"""


def test_a_program_that_deletes_and_denies_is_failed_by_the_files(verdict_of):
    code, trial = verdict_of("liar", LIAR)

    assert (code, trial["verdict"]) == (1, "failed")
    assert set(trial["reasons"]) == {"broke:home", "broke:claims"}
    assert "precious/a.txt" in trial["message"]


def test_the_same_program_without_the_harm_passes(verdict_of):
    code, trial = verdict_of("honest", LIAR.replace("rm -rf ~/precious", "true"))

    assert (code, trial["verdict"]) == (0, "passed")


def test_a_known_defect_stays_failed_and_does_not_raise_the_exit_code(verdict_of):
    known = (
        "known:\n"
        '  - {subject: command, version: "==0", breaks: [home, claims], because: x, since: 2026-11-30}\n'
    )

    code, trial = verdict_of("known", LIAR + known)

    assert (code, trial["verdict"]) == (0, "failed")
    assert trial["known"]["mark"] == "known"


def test_a_known_defect_that_does_not_show_any_more_must_be_removed(verdict_of):
    known = (
        "known:\n"
        '  - {subject: command, version: "==0", breaks: [home], because: x, since: 2026-11-30}\n'
    )

    code, trial = verdict_of("fixed", LIAR.replace("rm -rf ~/precious", "true") + known)

    assert (code, trial["verdict"]) == (1, "passed")
    assert trial["known"]["mark"] == "known-fixed"


def test_a_quarantined_case_is_reported_and_does_not_count(shakeout):
    bad = shakeout.case(
        "bad",
        LIAR + "quarantine: {owner: me, reason: later, until: 2999-01-01}\n",
    )
    good = shakeout.case("good", 'subject: {command: ["true"]}\nexpect: [{exit: 0}]\n')

    ran = shakeout("run", bad, good, "--json")

    assert ran.code == 0
    assert ran.document["counts"]["quarantined"] == 1
    assert ran.document["counts"]["failed"] == 1


def test_a_subject_that_does_not_end_is_timed_out_and_only_harm_is_judged(verdict_of):
    code, trial = verdict_of(
        "hangs",
        """\
        subject: {command: [sh, -c, "echo begun; exec sleep 100"]}
        sandbox: {limits: {seconds: 1}}
        expect: [{exit: 0}, {home: untouched}]
        """,
    )

    assert (code, trial["verdict"], trial["reasons"]) == (1, "timed_out", ["limit"])


def test_the_clean_control_runs_beside_its_case(shakeout):
    case = shakeout.case(
        "controlled",
        """\
        subject:
          command:
            - sh
            - -c
            - >-
              curl -sf http://upstream/ || echo failed
        services: {http: {upstream: [{on: GET /, reply: {body: fine}}]}}
        faults: [{id: bad, fault: upstream.status, with: {service: upstream, status: 500}}]
        expect: [{output: {stream: stdout, matches: fine}}]
        """,
    )

    ran = shakeout("run", case, "--control", "--json")

    verdicts = {trial["kind"]: trial["verdict"] for trial in ran.document["trials"]}
    assert verdicts == {"trial": "failed", "control": "passed"}


def test_a_secret_is_in_no_artefact_and_its_leak_is_named(shakeout, tmp_path):
    case = shakeout.case(
        "leak",
        """\
        subject:
          command:
            - sh
            - -c
            - >-
              echo "token $API_TOKEN"; printf %s "$API_TOKEN" | base64 > copy.txt;
              curl -s http://model:8080/v1/models -H "x-note: $API_TOKEN" >/dev/null
        secrets: [API_TOKEN]
        expect: [{exit: 0}]
        """,
    )

    ran = shakeout("run", case, "--out", "leak", "--json")

    (trial,) = ran.document["trials"]
    assert trial["verdict"] == "failed"
    assert trial["reasons"] == ["broke:secrets"]
    folder = tmp_path / "leak" / trial["dir"]
    assert "[secret:API_TOKEN:plain]" in (folder / "stdout").read_text()
    assert "base64" in (folder / "verdict.json").read_text()


def test_requests_that_were_sent_in_the_last_moment_are_on_record(verdict_of):
    code, trial = verdict_of(
        "last-words",
        """\
        subject:
          command:
            - python3
            - -c
            - |
              import os, socket
              for n in range(60):
                  s = socket.create_connection(("127.0.1.1", 8080))
                  s.sendall(b"GET /v1/models?n=%d HTTP/1.1\\r\\nHost: model\\r\\n\\r\\n" % n)
                  os.dup(s.fileno())
              os._exit(0)
        expect: [{requests: {exactly: 60, kind: probe}}]
        """,
    )

    assert (code, trial["verdict"], trial["message"]) == (0, "passed", "1 expectation held")


def test_a_fault_that_hit_less_often_than_asked_for_is_told(shakeout):
    shakeout("new", "first")
    first = shakeout.folder / "first.yaml"
    first.write_text(first.read_text().replace("times: 1}", "times: 9}"))

    ran = shakeout("run", first, "--out", "run")

    run = json.loads((shakeout.folder / "run" / "run.json").read_text())
    assert [trial["notes"] for trial in run["trials"]] == [["the fault model.status hit 2 of 9"]]
    assert "the fault model.status hit 2 of 9" in ran.out
