"""What a case file means, once it is loaded."""

from __future__ import annotations

import dataclasses
import datetime
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from harness.case.errors import CaseErrors
from harness.case.load import load_case, load_cases, load_script
from harness.case.model import (
    Call,
    Case,
    Fault,
    HttpRule,
    Quarantine,
    ScriptStep,
    Step,
    SubjectRef,
    Trigger,
)
from sandboxes.base import Kind, Limits, Planted
from tests.unit.case.examples import EXAMPLE, TABLES, write_case


def loaded(folder: Path, more: str = "", head: str = "case: x\nsubject: codex\n") -> Case:
    return load_case(write_case(folder, head + more), TABLES)


def test_the_full_example_is_read_whole(tmp_path: Path):
    case = loaded(tmp_path, EXAMPLE, head="")

    assert case.id == "rate-limit-once"
    assert case.subjects == (SubjectRef("agentd", {"act": True, "attempts": 2}),)
    assert case.sandbox.written == {"memory", "pids", "disk", "seconds"}
    assert (
        case.sandbox.clock.at
        == datetime.datetime(2031, 2, 3, 4, 5, 6, tzinfo=datetime.UTC).timestamp()
    )
    assert case.home == (Planted(".config/app.toml", content=b"x = 1\n"),)
    assert case.workspace.mounts == {(tmp_path / "agent").resolve(): "/opt/subject"}
    assert case.script is not None
    assert case.script[0].calls == (Call("call", "http_get", {"url": "http://upstream/report"}),)
    assert case.script[1].calls == (Call("run", args={"command": "cat report.txt"}),)
    assert [(rule.status, rule.body, rule.times) for rule in case.services[0].params] == [
        (429, b"", 1),
        (200, b"42\n", None),
    ]
    assert case.faults == (
        Fault("cut", "model.truncate", Trigger("request", count=2), params={"after_events": 3}),
    )
    assert [expectation.id for expectation in case.expect] == ["home", "file", "asked-twice"]
    assert case.control is not None
    assert case.control.expect is not None
    assert case.control.script is None
    assert case.sabotage[0].params == {
        "patch": "runtime.recovery.guard:TABLE",
        "drop": "rate_limit",
    }
    assert case.sabotage[0].breaks == {"asked-twice", "file"}


def test_the_smallest_case_has_every_default(tmp_path: Path):
    case = loaded(tmp_path)

    assert case == Case(
        id="x",
        source=tmp_path / "case.yaml",
        where=case.where,
        document={"case": "x", "subject": "codex"},
        subjects=(SubjectRef("codex"),),
    )
    assert case.script is None
    assert case.sandbox.limits == Limits()
    assert case.steps == (Step("start"), Step("wait"))


def test_a_case_is_frozen_and_its_document_is_the_file(tmp_path: Path):
    case = loaded(tmp_path, "tags: [a]\n")

    assert case.document == {"case": "x", "subject": "codex", "tags": ["a"]}
    with pytest.raises(dataclasses.FrozenInstanceError):
        case.id = "y"  # type: ignore[misc]


def test_default_ids_count_on_and_leave_written_ones_alone(tmp_path: Path):
    case = loaded(
        tmp_path,
        "expect:\n"
        "- {home: untouched}\n- {home: untouched}\n"
        "- {id: home-2, secrets: absent}\n- {home: untouched}\n",
    )

    assert [one.id for one in case.expect] == ["home", "home-3", "home-2", "home-4"]


def test_ids_of_faults_default_to_their_names(tmp_path: Path):
    case = loaded(tmp_path, "faults: [{fault: process.kill}, {fault: process.kill}]\n")

    assert [fault.id for fault in case.faults] == ["process.kill", "process.kill-2"]


@pytest.mark.parametrize(
    ("written", "planted"),
    [
        ("hello", Planted("p", content=b"hello")),
        ('"#!/bin/sh\\n"', Planted("p", content=b"#!/bin/sh\n", mode=0o755)),
        ('{text: "#!x", mode: "0600"}', Planted("p", content=b"#!x", mode=0o600)),
        ("{base64: aGk=}", Planted("p", content=b"hi")),
        ('{base64: "IyEK"}', Planted("p", content=b"#!\n", mode=0o755)),
        ("{link: ../x}", Planted("p", Kind.LINK, target="../x")),
        ("{dir: true}", Planted("p", Kind.DIR, mode=0o755)),
        ('{dir: true, mode: "0700"}', Planted("p", Kind.DIR, mode=0o700)),
    ],
)
def test_a_planted_path_is_text_bytes_a_link_or_a_folder(
    written: str, planted: Planted, tmp_path: Path
):
    assert loaded(tmp_path, f"home: {{p: {written}}}\n").home == (planted,)


def test_planted_names_may_be_strange(tmp_path: Path):
    case = loaded(
        tmp_path, 'home: {"~": {dir: true}, "~/": {dir: true}}\n'.replace(', "~/": {dir: true}', "")
    )
    strange = loaded(tmp_path, r'home: {"a\\xffb": x, " ": y, "-rf": z}' + "\n")

    assert case.home[0].path == "~"
    assert [planted.path for planted in strange.home] == ["a\udcffb", " ", "-rf"]


def test_a_small_memory_makes_the_default_disk_small(tmp_path: Path):
    case = loaded(tmp_path, "sandbox: {limits: {memory: 64MiB}}\n")

    assert case.sandbox.limits == Limits(memory=64 << 20, disk=64 << 20)
    assert case.sandbox.written == {"memory"}


@pytest.mark.parametrize(
    ("written", "trigger"),
    [
        ("start", Trigger()),
        ("{request: 2}", Trigger("request", count=2)),
        ("{request: 1, service: up}", Trigger("request", service="up", count=1)),
        ("{after: 250ms}", Trigger("after", seconds=0.25)),
        ("{output: ^x}", Trigger("output", pattern="^x")),
        ("{file: ~/a}", Trigger("file", path="~/a")),
    ],
)
def test_a_trigger_is_when_something_happens(written: str, trigger: Trigger, tmp_path: Path):
    case = loaded(
        tmp_path,
        "services: {http: {up: []}}\n"
        f"faults: [{{fault: process.kill, when: {written}, until: {{output: over}}}}]\n",
    )

    assert case.faults[0].when == trigger


def test_an_end_is_a_trigger_too(tmp_path: Path):
    case = loaded(
        tmp_path,
        "faults: [{fault: process.kill, when: {output: begin}, until: {request: 2}}]\n",
    )

    assert case.faults[0].until == Trigger("request", count=2)


def test_defaults_of_parameters_are_filled_in(tmp_path: Path):
    case = loaded(
        tmp_path,
        "faults: [{fault: model.truncate, times: always}]\n",
        head="case: x\nsubject: agentd\n",
    )

    assert case.faults[0].params == {"after_events": 1}
    assert case.faults[0].times is None
    assert case.subjects[0].params == {"act": False}


def test_steps_are_read_in_order(tmp_path: Path):
    case = loaded(
        tmp_path,
        "steps: [{run: [ls, '{home}'], as: root}, start, {wait: exit, at_most: 20s, then: kill},\n"
        "  {kill: SIGHUP}, {kill: 9}, {restart: {}}, {wait: exit}]\n",
    )

    assert case.steps == (
        Step("run", argv=("ls", "{home}"), user="root"),
        Step("start"),
        Step("wait", at_most=20.0, then="kill"),
        Step("kill", signal=signal.SIGHUP),
        Step("kill", signal=signal.SIGKILL),
        Step("restart"),
        Step("wait"),
    )


@pytest.mark.parametrize(
    ("written", "step"),
    [
        ("{say: a}", ScriptStep("a")),
        ("{say: a, repeat: always}", ScriptStep("a", repeat=None)),
        ("{say: a, repeat: 3, if: ok}", ScriptStep("a", repeat=3, when="ok")),
        ("{raw: '{'}", ScriptStep(raw="{")),
        (
            "{call: {t: {}, u: {a: 1}}}",
            ScriptStep(calls=(Call("call", "t"), Call("call", "u", {"a": 1}))),
        ),
        ("{call: [{t: {}}, {t: {}}]}", ScriptStep(calls=(Call("call", "t"), Call("call", "t")))),
        (
            "{write: {path: p, text: t}}",
            ScriptStep(calls=(Call("write", args={"path": "p", "text": "t"}),)),
        ),
        ("{read: {path: p}}", ScriptStep(calls=(Call("read", args={"path": "p"}),))),
        (
            "{say: a, usage: {input: 1, output: 2}, stop: length}",
            ScriptStep("a", usage={"input": 1, "output": 2}, stop="length"),
        ),
    ],
)
def test_a_turn_says_calls_or_sends_something(written: str, step: ScriptStep, tmp_path: Path):
    assert loaded(tmp_path, f"script: [{written}]\n").script == (step,)


def test_an_empty_script_is_not_an_absent_one(tmp_path: Path):
    assert loaded(tmp_path, "script: []\n").script == ()


def test_an_implied_expectation_can_be_known_to_break(tmp_path: Path):
    case = loaded(
        tmp_path,
        "secrets: [A]\nknown:\n"
        "- {subject: codex, version: '>=0', breaks: [secrets], because: b, since: s}\n"
        "quarantine: {owner: o, reason: r, until: 2031-12-31}\n"
        "prices: {m: {input: 1, output: 2.5}}\nleftover: allowed\n",
    )

    assert case.known[0].breaks == {"secrets"}
    assert case.quarantine == Quarantine("o", "r", datetime.date(2031, 12, 31))
    assert case.prices == {"m": (1.0, 2.5)}
    assert case.leftover


def test_paths_are_relative_to_the_case_and_not_to_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "cases"
    folder.mkdir()
    write_case(folder, "case: x\nsubject: codex\nworkspace: {mount: {./agent: /opt/a}}\n")
    monkeypatch.chdir(tmp_path)

    case = load_case(Path("cases/case.yaml"), TABLES)

    assert list(case.workspace.mounts) == [(folder / "agent").resolve()]
    assert str(case.where) == "cases/case.yaml:1:7"


def test_a_mount_that_leads_home_by_a_link_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    (tmp_path / "innocent").symlink_to(home)

    with pytest.raises(CaseErrors, match="is or holds your home"):
        loaded(tmp_path, "workspace: {mount: {./innocent: /opt/a}}\n")


def test_a_socket_is_no_mount(tmp_path: Path):
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "s"))

        with pytest.raises(CaseErrors, match="neither a folder nor a file"):
            loaded(tmp_path, "workspace: {mount: {./s: /opt/a}}\n")


def test_the_same_file_twice_is_one_case(tmp_path: Path):
    path = write_case(tmp_path, EXAMPLE)

    assert len(load_cases([path, path], TABLES)) == 1


def test_a_script_stands_alone_or_in_a_case(tmp_path: Path):
    alone = write_case(tmp_path, "- {say: hi}\n- {run: ls}\n", "script.yaml")
    within = write_case(tmp_path, "case: x\nsubject: codex\nscript: [{say: hi}, {run: ls}]\n")
    without = write_case(tmp_path, "case: x\nsubject: codex\n", "none.yaml")

    assert load_script(alone) == load_script(within, TABLES)
    with pytest.raises(CaseErrors, match="the case has no script"):
        load_script(without, TABLES)


@pytest.mark.parametrize("text", ["- {sya: hi}\n", "hello\n", "[{say: [}]\n", "- {}\n"])
def test_a_bad_script_is_refused_at_its_place(text: str, tmp_path: Path):
    with pytest.raises(CaseErrors, match=r"script.yaml:1:\d+: "):
        load_script(write_case(tmp_path, text, "script.yaml"), TABLES)


def test_five_hundred_cases_load_in_a_moment(tmp_path: Path):
    small: dict[str, Any] = {}
    for number in range(500):
        text = (
            f"case: c{number}\ntitle: A case\ntags: [a, b]\nsubject: codex\ntask: Do it\n"
            "script: [{run: ls}, {say: Done.}]\n"
            "faults: [{fault: model.truncate, when: {request: 2}}]\n"
            "expect: [{home: untouched}, {file: {path: a, equals: b}}]\n"
        )
        small[f"c{number}"] = write_case(tmp_path, text, f"c{number}.yaml")
    load_case(small["c0"], TABLES)
    started = time.process_time()

    assert [case.id for case in load_cases(small.values(), TABLES)] == list(small)
    assert time.process_time() - started < 1.5


def test_a_rule_of_an_upstream_is_read_by_its_service(tmp_path: Path):
    case = loaded(
        tmp_path,
        "services: {http: {up: [{on: POST /a, reply: {status: 201, json: [1]}, times: 2}]}}\n",
    )

    assert case.services[0].params == (
        HttpRule("POST", "/a", 201, {"content-type": "application/json"}, b"[1]", 2),
    )
