"""A run as its user has it: sealed, checked, tampered with, not sealable, and reset."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from jsonschema import Draft202012Validator

from harness.live.inside import MODEL_URL
from sandboxes import clock
from sandboxes.registry import BACKENDS
from verifiers.seals.state import State
from verifiers.seals.verify import verify

SCHEMA = Path(__file__).parents[3] / "cases/schema/attestation.schema.json"
PASSES = """\
subject: {command: ["true"]}
task: Nothing.
expect: [{exit: 0}]
"""
ASKS = f"""\
subject:
  command:
    - python3
    - -c
    - |
      import urllib.request
      body = b'{{"model": "m", "messages": [{{"role": "user", "content": "hello"}}]}}'
      head = {{"Content-Type": "application/json"}}
      url = "{MODEL_URL}/v1/chat/completions"
      urllib.request.urlopen(urllib.request.Request(url, body, head)).read()
      open("report.txt", "w").write("42")
task: Ask once.
expect: [{{exit: 0}}, {{file: {{path: report.txt, equals: "43"}}}}]
"""
SEARCHES = """\
subject: {command: [sh, -c, "env; find / -name seal.key -o -name breaker.json 2>/dev/null; true"]}
task: Find the key.
expect: [{output: {stream: stdout, lacks: "seal.key|breaker.json|SHAKEOUT_STATE"}}]
"""


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes() or b"x")
    data[len(data) // 3] ^= 0x20
    path.write_bytes(data)


def truncated(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] if len(data) > 1 else b"more")


CHANGES: dict[str, Callable[[Path], None]] = {
    "flipped": flipped,
    "truncated": truncated,
    "removed": Path.unlink,
}


def test_every_file_of_a_real_run_is_named_when_it_is_changed(shakeout, tmp_path):
    cases = [shakeout.case("passes", PASSES), shakeout.case("asks", ASKS)]
    assert shakeout("run", *cases, "--control", "--out", "run").code == 1
    run, key = tmp_path / "run", State(tmp_path / "state").public_key()
    assert key is not None
    assert verify(run, key).problems == []

    schema = Draft202012Validator(json.loads(SCHEMA.read_text()))
    for line in (run / "seals.jsonl").read_text().splitlines():
        schema.validate(json.loads(base64.b64decode(json.loads(line)["payload"])))
    files = [path for path in sorted(run.rglob("*")) if path.is_file()]
    names = {path.name for path in files}
    assert len([p for p in files if p.name == "attestation.json"]) == 5
    assert {"run.json", "log.jsonl", "junit.xml", "seals.jsonl", "key.pub", "1.body"} <= names
    for path in files:
        before = path.read_bytes()
        for what, change in CHANGES.items():
            change(path)
            found = {problem.file for problem in verify(run, key).problems}
            assert path.relative_to(run).as_posix() in found, (path, what)
            path.write_bytes(before)
    assert verify(run, key).problems == []


def test_a_copy_is_checked_on_a_machine_that_has_the_public_key_alone(shakeout, tmp_path):
    assert shakeout("run", shakeout.case("passes", PASSES), "--out", "run").code == 0
    shutil.move(tmp_path / "run", tmp_path / "copied")
    key = shutil.copy(tmp_path / "state" / "keys" / "key.pub", tmp_path / "theirs.pub")
    elsewhere = {"SHAKEOUT_STATE": str(tmp_path / "elsewhere")}

    without = shakeout("evidence", "verify", "copied", **elsewhere)
    assert (without.code, "--key FILE" in without.err) == (2, True)
    assert shakeout("evidence", "verify", "copied", "--key", key, **elsewhere).code == 0
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.tampers
def test_what_is_wrong_is_printed_for_people_and_for_machines(shakeout, tmp_path):
    assert shakeout("run", shakeout.case("passes", PASSES), "--out", "run").code == 0
    assert shakeout("evidence", "verify", "run").code == 0
    flipped(tmp_path / "run" / "run.json")

    for_people = shakeout("evidence", "verify", "run")
    assert for_people.code == 1
    assert for_people.out.startswith("run.json: expected ")
    document = shakeout("evidence", "verify", "run", "--json").document
    assert document["exit"] == 1
    assert [(item["file"], item["record"]) for item in document["items"]] == [("run.json", None)]


def test_what_is_no_run_or_no_key_is_a_wrong_command(shakeout):
    assert shakeout("run", shakeout.case("passes", PASSES), "--out", "run").code == 0

    for words in (["nowhere"], ["."], ["run", "--key", "nowhere"]):
        assert shakeout("evidence", "verify", *words).code == 2, words


def test_an_empty_run_is_sealed_too(shakeout, tmp_path):
    ran = shakeout("run", shakeout.case("passes", PASSES), "-k", "no-such", "--out", "run")

    assert ran.code == 3
    assert shakeout("evidence", "verify", "run").code == 0


def test_what_cannot_be_sealed_is_an_error_and_nothing_runs_until_the_reset(shakeout, tmp_path):
    case = shakeout.case("passes", PASSES)
    assert shakeout("run", case, "--out", "fine").code == 0
    (tmp_path / "state" / "keys" / "seal.key").chmod(0o644)

    unsealed = shakeout("run", case, "--out", "unsealed", "--json")
    assert (unsealed.code, unsealed.document["sealed"]) == (4, False)
    assert "not-sealed" in unsealed.document["reasons"]
    (trial,) = unsealed.document["trials"]
    assert (trial["verdict"], trial["reasons"]) == ("error", ["not-sealed"])
    assert "may be read by others" in trial["message"]
    assert shakeout("evidence", "verify", "unsealed").code == 1

    refused = shakeout("run", case, "--out", "refused", "--json")
    assert (refused.code, refused.document["sealed"]) == (3, False)
    (trial,) = refused.document["trials"]
    assert (trial["verdict"], trial["reasons"]) == ("unavailable", ["breaker-open"])
    assert "may be read by others" in trial["message"]
    assert "shakeout evidence reset" in trial["message"]
    assert not (tmp_path / "refused" / trial["dir"] / "stdout").exists()

    assert shakeout("evidence", "reset").code == 2
    assert shakeout("evidence", "reset", "--reason", " ").code == 2
    assert shakeout("evidence", "reset", "--reason", "a key of its own again").code == 0
    assert shakeout("run", case, "--out", "again").code == 0
    assert shakeout("evidence", "verify", "again").code == 0


def test_a_seal_that_fails_at_the_end_leaves_no_run_that_says_it_is_sealed(shakeout, tmp_path):
    text = PASSES.replace('["true"]', '[sh, -c, "sleep 2"]')
    child = shakeout.start("run", shakeout.case("slow", text), "--out", "run")
    log = tmp_path / "state" / "log.jsonl"
    deadline = clock.monotonic() + 60
    while not log.exists():
        assert clock.monotonic() < deadline
        clock.sleep(0.05)
    while not (tmp_path / "run" / "seals.jsonl").exists():
        assert clock.monotonic() < deadline
        clock.sleep(0.05)
    flipped(log)
    out, err = child.communicate(timeout=90)

    assert child.returncode == 4, out
    assert "not sealed" in err
    assert shakeout("evidence", "verify", "run").code == 1
    assert '"sealed": false' in (tmp_path / "run" / "run.json").read_text()


def test_a_run_that_was_killed_is_known_not_to_have_ended(shakeout, tmp_path):
    text = PASSES.replace('["true"]', "[sleep, '60']")
    child = shakeout.start("run", shakeout.case("slow", text), "--out", "run")
    deadline = clock.monotonic() + 60
    while not (tmp_path / "run" / "seals.jsonl").exists():
        assert clock.monotonic() < deadline
        clock.sleep(0.05)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate(timeout=60)

    checked = shakeout("evidence", "verify", "run")
    assert (checked.code, "the run did not end" in checked.out) == (1, True)
    (tmp_path / "run" / "seals.jsonl").write_bytes(b"")  # a kill just before its first record
    checked = shakeout("evidence", "verify", "run")
    assert (checked.code, "the run did not end" in checked.out) == (1, True)
    assert shakeout("run", shakeout.case("passes", PASSES), "--out", "next").code == 0


def spellings(key: Path) -> list[bytes]:
    loaded = load_pem_private_key(key.read_bytes(), None)
    assert isinstance(loaded, Ed25519PrivateKey)
    raw = loaded.private_bytes_raw()
    pem = key.read_bytes().splitlines()[1]
    return [raw, raw.hex().encode(), base64.b64encode(raw), pem]


def test_the_key_is_in_no_artefact(shakeout, tmp_path):
    assert shakeout("run", shakeout.case("asks", ASKS), "--out", "run").code == 1
    wanted = spellings(tmp_path / "state" / "keys" / "seal.key")

    for path in (tmp_path / "run").rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        assert not any(spelling in data for spelling in wanted), path


BY_BACKEND = [
    pytest.param(name, marks=[pytest.mark.engine] if name == "docker" else []) for name in BACKENDS
]


@pytest.mark.parametrize("backend", BY_BACKEND)
def test_a_subject_finds_no_key(shakeout, tmp_path, backend):
    if not BACKENDS[backend].probe().available:
        pytest.skip(f"{backend} is not available here; see shakeout doctor")
    host = {name: os.environ[name] for name in ("DOCKER_HOST",) if name in os.environ}
    case = shakeout.case("searches", SEARCHES)
    ran = shakeout("run", case, "--sandbox", backend, "--out", "run", **host)

    assert ran.code == 0, ran.out
    assert (tmp_path / "state" / "keys" / "seal.key").exists()


@pytest.mark.parametrize("source", ["project", "project/state", "project/state/keys"])
def test_a_case_that_would_show_the_key_is_refused(shakeout, tmp_path, source):
    (tmp_path / "project" / "state" / "keys").mkdir(parents=True)
    text = PASSES + f"workspace: {{mount: {{./{source}: /opt/m}}}}\n"
    state = {"SHAKEOUT_STATE": str(tmp_path / "project" / "state")}
    ran = shakeout("run", shakeout.case("mounts", text), "--out", "run", **state)

    assert ran.code == 2
    assert "the key that seals lies in it" in ran.err
    assert not (tmp_path / "run").exists()


def test_a_state_folder_where_every_sandbox_looks_is_refused(shakeout):
    ran = shakeout("run", shakeout.case("passes", PASSES), SHAKEOUT_STATE="/usr/share/shakeout")

    assert ran.code == 2
    assert not Path("/usr/share/shakeout").exists()
