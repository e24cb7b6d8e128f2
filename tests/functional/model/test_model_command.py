"""``shakeout model SCRIPT``: started, asked, interrupted."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

Start = Callable[..., tuple[subprocess.Popen[str], str]]

SHAKEOUT = str(Path(sys.executable).with_name("shakeout"))
CASE = """\
case: alone
subject: {command: ["true"]}
task: x
script: [{say: one}, {say: two, usage: {input: 1000000, output: 0}}]
prices: {m: {input: 3, output: 15}}
faults:
  - {id: busy, fault: model.status, when: {request: 2}, with: {status: 429}}
  - {id: never, fault: model.empty, when: {request: 9}}
  - {id: cut-net, fault: network.cut}
expect: [{home: untouched}]
"""


@pytest.fixture
def start() -> Iterator[Start]:
    with ExitStack() as stack:

        def started(*words: object) -> tuple[subprocess.Popen[str], str]:
            argv = [SHAKEOUT, "model", *map(str, words)]
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
            process = stack.enter_context(subprocess.Popen(argv, text=True, **pipes))  # type: ignore[call-overload]
            stack.callback(process.kill)
            return process, json.loads(process.stdout.readline())["url"]

        yield started


def ask(url: str, **body: object) -> tuple[int, dict[str, object]]:
    data = json.dumps({"model": "m", "messages": [], **body}).encode()
    try:
        with urllib.request.urlopen(f"{url}/v1/chat/completions", data, timeout=10) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def ended(process: subprocess.Popen[str], signum: int) -> str:
    process.send_signal(signum)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, "")
    return err


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_list_of_turns_is_served_until_it_is_stopped(start: Start, tmp_path: Path, signum: int):
    script = tmp_path / "script.yaml"
    script.write_text("- {say: one}\n- {say: two}\n")
    journal = tmp_path / "journal.jsonl"
    process, url = start(script, "--journal", journal)
    status, reply = ask(url)
    assert (status, "one" in json.dumps(reply)) == (200, True)
    err = ended(process, signum)
    assert "1 turn asked for, 1 served, 0 requests beyond the script, 1 step left over" in err
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [(line["kind"], line["turn"], line["status"]) for line in lines] == [("turn", 0, 200)]


def test_a_tool_that_wants_absolute_paths_gets_them_below_the_workspace(
    start: Start, tmp_path: Path
):
    script = tmp_path / "script.yaml"
    script.write_text("- {write: {path: a/b, text: x}}\n")
    _, url = start(script, "--workspace", tmp_path)
    both = {"file_path": {"type": "string"}, "content": {"type": "string"}}
    write = {"name": "Write", "parameters": {"type": "object", "properties": both}}
    status, reply = ask(url, tools=[{"type": "function", "function": write}])
    assert status == 200
    assert str(tmp_path / "a" / "b") in json.dumps(reply)


def test_a_case_brings_its_faults_and_its_prices(start: Start, tmp_path: Path):
    case = tmp_path / "case.yaml"
    case.write_text(CASE)
    process, url = start(case)
    assert [ask(url)[0] for _ in range(4)] == [200, 429, 200, 400]
    err = ended(process, signal.SIGINT)
    assert "fault cut-net is left out: only faults of the model can happen" in err
    assert "fault busy: hit 1 time" in err
    assert "fault never: has not landed" in err
    assert "3 turns asked for, 2 served, 1 request beyond the script, 0 steps left over" in err
    assert "$3.0000" in err


@pytest.mark.parametrize(
    ("text", "said"),
    [("- {sya: one}\n", "script.yaml:1:4: "), ("case: [\n", "script.yaml:"), (None, "script.yaml")],
)
def test_a_file_that_is_no_script_is_refused_at_its_place(tmp_path: Path, text, said: str):
    script = tmp_path / "script.yaml"
    if text is not None:
        script.write_text(text)
    argv = [SHAKEOUT, "model", str(script)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_port_that_is_taken_is_refused(start: Start, tmp_path: Path):
    script = tmp_path / "script.yaml"
    script.write_text("- {say: one}\n")
    _, url = start(script)
    port = url.rpartition(":")[2]
    argv = [SHAKEOUT, "model", str(script), "--port", port]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert f"127.0.0.1:{port} cannot be bound" in done.stderr
    missing = [*argv[:-2], "--journal", str(tmp_path / "no" / "folder")]
    done = subprocess.run(missing, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
