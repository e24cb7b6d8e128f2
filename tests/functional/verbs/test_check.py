"""``shakeout check``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.case.errors import CaseErrors
from harness.case.load import load_case
from harness.commands.check import checked
from tests.functional.verbs.shakeout import shakeout

GOOD = (
    "case: {id}\nsubject: codex\nfaults: [{{fault: model.reset}}]\nexpect: [{{home: untouched}}]\n"
)


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_valid_case_is_exit_0(tmp_path: Path):
    write(tmp_path, "a.yaml", GOOD.format(id="a"))
    ended = shakeout("check", "a.yaml", cwd=tmp_path)

    assert (ended.code, ended.out, ended.err) == (0, "a.yaml: valid\n", "")


def test_every_error_of_every_file_is_told_with_its_place(tmp_path: Path):
    write(tmp_path, "a.yaml", GOOD.format(id="a") + "tytle: x\nenv: {HOME: x}\n")
    write(tmp_path, "b/b.yaml", GOOD.format(id="b").replace("model.reset", "model.rest"))
    ended = shakeout("check", ".", cwd=tmp_path)

    assert ended.code == 2
    assert ended.out == ""
    assert [line.partition(";")[0] for line in ended.err.splitlines()] == [
        "a.yaml:5:1: unknown key 'tytle'",
        "a.yaml:6:7: HOME is set by the harness",
        "b/b.yaml:3:18: unknown fault 'model.rest'",
    ]
    assert "did you mean model.reset?" in ended.err


def test_errors_as_json_are_the_same_errors(tmp_path: Path):
    write(tmp_path, "a.yaml", GOOD.format(id="a") + "tytle: x\n")

    ended = shakeout("check", "a.yaml", "--json", cwd=tmp_path)

    assert (ended.code, ended.err) == (2, "")
    assert ended.json == {
        "schema": 1,
        "exit": 2,
        "errors": [
            {
                "file": "a.yaml",
                "line": 5,
                "column": 1,
                "message": "unknown key 'tytle'",
                "hint": "did you mean title?",
            }
        ],
    }


def test_what_is_valid_as_json_is_a_list_of_items(tmp_path: Path):
    write(tmp_path, "a.yaml", GOOD.format(id="a"))

    ended = shakeout("check", "a.yaml", "--json", cwd=tmp_path)

    assert ended.json == {"schema": 1, "exit": 0, "items": [{"id": "a", "file": "a.yaml"}]}


@pytest.mark.parametrize("expect", ["", "expect: []\n", "control: {expect: [{exit: 0}]}\n"])
def test_a_case_that_expects_nothing_is_valid_and_told_of(expect: str, tmp_path: Path):
    write(tmp_path, "a.yaml", f"case: a\nsubject: codex\n{expect}")

    ended = shakeout("check", "a.yaml", cwd=tmp_path)

    assert ended.code == 0
    assert ended.out == "a.yaml: valid; expects nothing, so it can only be unavailable\n"


@pytest.mark.parametrize(
    ("fault", "was", "valid"),
    [
        ("network.cut", "landed", False),
        ("network.cut", "armed", True),
        ("model.reset", "landed", True),
    ],
)
@pytest.mark.parametrize(
    "order",
    [
        "[{{process: started}}, {{fault: {{id: f, was: {was}}}}}]",
        "{{of: [{{process: started}}], never_after: {{fault: {{id: f, was: {was}}}}}}}",
    ],
)
def test_when_a_fault_landed_is_asked_only_where_it_is_on_record(
    fault: str, was: str, valid: bool, order: str, tmp_path: Path
):
    text = f"case: a\nsubject: codex\nfaults: [{{id: f, fault: {fault}}}]\n"
    write(tmp_path, "a.yaml", f"{text}expect:\n- order: {order.format(was=was)}\n")

    ended = shakeout("check", "a.yaml", cwd=tmp_path)

    assert ended.code == (0 if valid else 2), ended.err
    if not valid:
        assert ended.err.startswith("a.yaml:5:")
        assert "'network.cut' landed is never on record; write was: armed" in ended.err


def test_nothing_to_check_is_exit_3(tmp_path: Path):
    (tmp_path / "empty").mkdir()

    ended = shakeout("check", "empty", cwd=tmp_path)
    as_json = shakeout("check", "empty", "--json", cwd=tmp_path)

    assert (ended.code, ended.out) == (3, "")
    assert "nothing is selected" in ended.err
    assert as_json.json == {"schema": 1, "exit": 3, "items": []}


def test_an_absent_path_is_exit_2(tmp_path: Path):
    ended = shakeout("check", "nope.yaml", cwd=tmp_path)

    assert ended.code == 2
    assert ended.err.startswith("nope.yaml:1:1: there is no such file")


@pytest.mark.parametrize(
    ("control", "faults", "sabotage", "says"),
    [
        (True, True, True, None),
        (True, False, True, None),
        (False, True, True, None),
        (False, True, False, "no sabotage"),
        (False, False, True, "clean control"),
    ],
)
def test_a_case_of_the_suite_shows_that_it_can_fail(
    control: bool, faults: bool, sabotage: bool, says: str | None, tmp_path: Path
):
    text = GOOD.format(id="a")
    text = text if faults else text.replace("faults: [{fault: model.reset}]\n", "")
    text += "control: {script: [{say: hi}]}\n" if control else ""
    text += "workspace: {files: {a: a}}\n"
    text += (
        "sabotage: [{name: s, breaks: [home], change: {path: a, content: b}}]\n" if sabotage else ""
    )
    write(tmp_path, "a.yaml", text)
    write(tmp_path, "suite.yaml", "suite: s\nchecks: [{id: C01, title: a, case: a.yaml}]\n")

    for paths in ("suite.yaml", "."):
        ended = shakeout("check", paths, cwd=tmp_path)
        assert ended.code == (2 if says else 0), ended.err
        assert (
            says is None
            or f"a.yaml:1:7: a case {'of the suite has ' if says == 'no sabotage' else 'without faults'}"
            in ended.err
        )


def test_a_case_of_agents_without_faults_needs_a_control(tmp_path: Path):
    text = "case: a\nsubject: codex\nexpect: [{home: untouched}]\n"
    write(tmp_path, "agents/a.yaml", text)
    write(tmp_path, "mine/b.yaml", text.replace("case: a", "case: b"))

    assert shakeout("check", "mine", cwd=tmp_path).code == 0
    assert "clean control" in shakeout("check", "agents", cwd=tmp_path).err


def test_a_case_of_agents_needs_a_sabotage(tmp_path: Path):
    write(tmp_path, "agents/a.yaml", GOOD.format(id="a"))

    ended = shakeout("check", "agents", cwd=tmp_path)

    assert ended.code == 2
    assert "a case of a pack has no sabotage" in ended.err


def test_the_cases_that_are_shipped_are_valid(tmp_path: Path):
    ended = shakeout("check", cwd=tmp_path)

    assert ended.code == 0, ended.err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            "expect: [{claims: {says: x, yet: {requests: {service: up, exactly: 1}}}}]",
            "2:55: unknown service 'up'",
        ),
        ("expect: [{claims: {says: x, yet: {hom: untouched}}}]", "2:35: unknown .*'hom'"),
        ("expect: [{output: {stream: stdot, matches: x}}]", "2:28: .*stdout"),
        ("expect: [{processes: non-left}]", "2:22: .*did you mean none-left"),
        ("expect: [{exit: zero}]", "2:17: expected a whole number or a list or nonzero"),
        ("expect: [{file: {path: a}}]", "2:17: expected at least 2 keys"),
        (
            "secrets: [A]\nexpect: [{secrets: {absent: true, except: [mdel]}}]",
            "3:44: .*did you mean model",
        ),
        ("expect: [{files: {root: home, changed-only: [a]}}]", "2:31: .*mean changed_only[?]$"),
        ("expect: [{requests: {exatly: 2}}]", "2:22: .*did you mean exactly[?]$"),
        ("expect: [{file: {paht: a, equals: x}}]", "2:18: .*did you mean path[?]$"),
        ('expect: [{exit: "0"}]', "2:17: .*write 0 without quotes, or nonzero$"),
        ('expect: [{exit: ["0"]}]', "2:18: .*write 0 without quotes$"),
        ("expect: [{processes: 0}]", "2:22: .*write {left: 0}$"),
        ("expect: [{processes: {left: 0, after: 1}}]", "2:39: .*a duration such as 1s$"),
        ("expect: [{secrets: {absent: yes}}]", "2:29: .*write true$"),
        ("faults: [{fault: filesystem.full, with: {free: lots}}]", "2:48: 'lots' is no size"),
        ("faults: [{fault: clock.set, with: {at: soon}}]", "2:40: 'soon' is no point in time"),
        ("services: {http: {up: [{on: GET /, reply: {body: a, json: 1}}]}}", "2:5[0-9]: "),
    ],
)
def test_what_the_extensions_refuse_is_told_at_its_place(more: str, says: str, tmp_path: Path):
    path = write(tmp_path, "a.yaml", f"case: a\n{more}\nsubject: codex\n")

    with pytest.raises(CaseErrors) as caught:
        load_case(path)

    (error,) = caught.value.errors
    assert re.search(says, str(error))


HELD = "workspace: {files: {agent: '#!/bin/sh', notes: x, bin/tool: '#!/bin/sh'}, mount: {m: /opt/m}}\n"
THERE = [
    "subject: {command: [./agent]}\n",
    "subject: {command: [bin/tool, a]}\n",
    "subject: {command: [./mounted]}\n",
    "subject: {command: [sub/deep]}\n",
    "subject: {command: [/opt/m/mounted]}\n",
    'subject: {command: ["{workspace}/agent"]}\n',
    "subject: {command: [agnet]}\n",
    "subject: {command: [/usr/bin/agnet]}\n",
    "steps: [{run: [./agent]}, {run: [./made]}, start]\nsubject: {command: [sh]}\n",
    'steps: [{run: [sh]}, start]\nsubject: {command: ["{workspace}/made"]}\n',
    "steps: [start, {run: [./made]}]\nsubject: {command: [sh]}\n",
]
ABSENT = [
    ("subject: {command: [./agnet]}\n", "3:21: .*no mount and not in.*; did you mean ./agent[?]"),
    ("subject: {command: [bin/tol]}\n", "3:21: .*did you mean ./bin/tool[?]"),
    ("subject: {command: [./montd]}\n", "3:21: .*did you mean ./mounted[?]"),
    ("subject: {command: [/opt/m/montd]}\n", "3:21: .*did you mean /opt/m/mounted[?]"),
    ("subject: {command: [/opt/m/sub]}\n", "3:21: .*no mount"),
    ('subject: {command: ["{workspace}/agnet"]}\n', "3:21: .*mean /workspace/agent[?]"),
    ("subject: {command: [../zzzz]}\n", "3:21: .*; name a file of workspace.files"),
    ("subject: {command: [./notes]}\n", "3:21: .*not executable; begin it with #!"),
    ("subject: {command: [./plain]}\n", "3:21: .*not executable"),
    ("subjects: [codex, {command: [./agnet]}]\n", "3:30: .*did you mean"),
    ("steps: [{run: [./agnet]}, start]\nsubject: codex\n", "3:16: .*did you mean ./agent[?]"),
    (
        (
            "expect: [{exit: 0}]\nsubject: codex\nsabotage:\n"
            "- {name: a, breaks: [exit], replace_subject: {command: [./agnet]}}\n"
        ),
        "6:57: .*did you mean ./agent[?]",
    ),
]


@pytest.fixture
def mounted(tmp_path: Path) -> Path:
    for name, mode in (("mounted", 0o755), ("sub/deep", 0o755), ("plain", 0o644)):
        write(tmp_path / "m", name, "#!/bin/sh\n").chmod(mode)
    return tmp_path


@pytest.mark.parametrize("more", THERE)
def test_a_program_that_is_or_may_be_there_is_valid(more: str, mounted: Path):
    path = write(mounted, "a.yaml", f"case: a\n{HELD}{more}")

    assert [case.id for case in checked([path])] == ["a"]


@pytest.mark.parametrize(("more", "says"), ABSENT)
def test_a_program_that_cannot_be_there_is_told_at_its_place(more: str, says: str, mounted: Path):
    path = write(mounted, "a.yaml", f"case: a\n{HELD}{more}")

    with pytest.raises(CaseErrors) as caught:
        checked([path])

    (error,) = caught.value.errors
    assert re.search(says, str(error))


def test_podman_is_told_where_it_is_reached(tmp_path):
    ended = shakeout("run", "--sandbox", "podman", cwd=tmp_path)

    assert ended.code == 2
    assert "write docker, with DOCKER_HOST=unix:///run/podman/podman.sock" in ended.err


def test_a_service_that_the_case_does_not_declare_is_told_to_be_added(tmp_path):
    fault = "{fault: upstream.status, with: {service: nobody, status: 500}}"
    text = f"case: x\nsubject: codex\nfaults: [{fault}]\nexpect: [{{exit: 0}}]\n"
    (tmp_path / "x.yaml").write_text(text)

    ended = shakeout("check", "x.yaml", cwd=tmp_path)

    assert "declares no service of that kind; add one under services" in ended.out + ended.err
