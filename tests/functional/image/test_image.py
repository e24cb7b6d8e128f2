"""The project's image, as its user would use it: in a container, and as a subject's sandbox.

``ci/engine image`` builds it; where another one is to be tried, ``SHAKEOUT_IMAGE`` names it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import docker.models.containers
import pytest
from docker.errors import ImageNotFound
from docker.types import HostConfig

from harness import cli
from harness.code import code_digest
from tests.conformance.conftest import ENGINE_WANTED
from tests.conformance.containers import found
from tests.conformance.gaps import GAPS
from tests.house.checkout import ROOT

pytestmark = [pytest.mark.engine, pytest.mark.timeout(240), pytest.mark.xdist_group("image")]

PROFILE = ROOT / "sandboxes/nest.json"
DIGEST = "from harness.code import code_digest; print(code_digest())"


@pytest.fixture(scope="module")
def image() -> str:
    """The image, which must have been built from this very code."""
    name = os.environ.get("SHAKEOUT_IMAGE", "shakeout")
    give_up = pytest.fail if ENGINE_WANTED in os.environ else pytest.skip
    if (engine := found()) is None:
        give_up("no engine answers")
    with engine.client() as client:
        try:
            client.inspect_image(name)
        except ImageNotFound:
            give_up(f"there is no image {name}: ci/engine image builds it")
    said = command_line("run", "--rm", name, "/opt/shakeout/bin/python", "-c", DIGEST).stdout
    if said.strip() != code_digest():
        give_up(f"the image {name} is of other code: ci/engine image builds it")
    return name


def command_line(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """The engine's own command."""
    engine = found()
    assert engine is not None
    return subprocess.run(
        ["docker", "-H", engine.host, *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def identity(image: str) -> str:
    return command_line("image", "inspect", "--format", "{{.Id}}", image).stdout.strip()


class Unmasked(HostConfig):  # type: ignore[misc]
    """What the command line makes of ``systempaths=unconfined``, which the SDK does not know."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self["MaskedPaths"], self["ReadonlyPaths"] = [], []


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def container(image, monkeypatch) -> Iterator[Run]:
    """A container with the documented options and no way out; gives how to run things in it."""
    from testcontainers.core.config import testcontainers_config
    from testcontainers.core.container import DockerContainer

    engine = found()
    assert engine is not None
    monkeypatch.setattr(testcontainers_config, "ryuk_disabled", True)  # its image would be pulled
    monkeypatch.setattr(docker.models.containers, "HostConfig", Unmasked)
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    options = [f"seccomp={PROFILE.read_text()}", "no-new-privileges"]
    made = DockerContainer(image).with_command("sleep 600")
    made.with_kwargs(security_opt=options, network_mode="none", cap_drop=["ALL"])
    with made:

        def run(*words: str) -> tuple[int, str]:
            ended = made.get_wrapped_container().exec_run(list(words))
            return ended.exit_code, ended.output.decode()

        yield run


def test_in_a_container_a_first_case_is_written_run_and_leaves_its_evidence(container):
    assert container("id", "-u") == (0, "61000\n")
    assert container("shakeout", "new", "first")[0] == 0

    code, said = container("shakeout", "run", "first.yaml", "--out", "evidence")

    assert code == 0, said
    _, text = container("cat", "evidence/run.json")
    run = json.loads(text)
    (trial,) = run["trials"]
    assert (run["exit"], trial["verdict"]) == (0, "passed")
    assert trial["sandbox"] == {"backend": "bubblewrap", "grade": "user", "image": None}
    assert run["harness"]["digest"] == code_digest()
    _, text = container("cat", f"evidence/{trial['dir']}/verdict.json")
    verdict = json.loads(text)
    assert [fault["landed"] for fault in verdict["faults"]] == [True]
    assert {found["verdict"] for found in verdict["expect"]} == {"passed"}
    _, listed = container("ls", f"evidence/{trial['dir']}")
    assert {"journal.jsonl", "requests.jsonl", "files.json", "stdout"} <= set(listed.split())


def test_in_a_container_every_capability_of_its_grade_is_there(container):
    code, said = container("shakeout", "doctor", "--json")

    backends = {each["name"]: each for each in json.loads(said)["items"]["backends"]}
    assert (code, backends["bubblewrap"]["grade"]) == (0, "user"), said
    capabilities = backends["bubblewrap"]["capabilities"]
    assert {c["name"] for c in capabilities if not c["available"]} == GAPS["bubblewrap", "user"]
    assert not backends["docker"]["available"]


@pytest.mark.parametrize("option", ["seccomp", "systempaths"])
def test_without_one_of_the_options_a_case_is_unavailable_and_says_so(image, option):
    options = {"seccomp": f"seccomp={PROFILE}", "systempaths": "systempaths=unconfined"}
    del options[option]
    words = [word for each in options.values() for word in ("--security-opt", each)]
    script = "shakeout new first && shakeout run first.yaml"

    ended = command_line("run", "--rm", "--network", "none", *words, image, "sh", "-c", script)

    assert ended.returncode == 3, ended.stdout
    assert "Operation not permitted" in ended.stdout


@pytest.mark.parametrize("owner", [0, 1000])
def test_the_commands_of_the_readme_work_whoever_owns_the_repository(image, tmp_path, owner):
    (block,) = re.findall(
        r"^```sh\n(docker run .*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S
    )
    assert block in (ROOT / "docs/nesting.md").read_text()
    assert cli.main(["new", "first", "--dir", str(tmp_path)]) == 0
    tmp_path.chmod(0o755)
    os.chown(tmp_path, owner, owner)
    name = f"rehearsal-{os.getpid()}"
    script = block.replace("rehearsal", name).replace(" shakeout ", f" {image} ", 1)
    script = script.replace(" shakeout shakeout ", f" {image} shakeout ")

    engine = found()
    assert engine is not None
    ended = subprocess.run(
        ["sh", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "DOCKER_HOST": engine.host},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert "verdict passed" in ended.stdout, ended.stdout + ended.stderr
    assert json.loads((tmp_path / "out/latest/run.json").read_text())["verdict"] == "passed"


NESTED = """
case: nested
title: Shakeout runs a case in the image, in a sandbox made of it
proves: the image is a sandbox in which sandboxes can be made
subject: {command: [sh, -c, "shakeout new first && shakeout run first.yaml"]}
task: none
sandbox: {needs: [nest]}
env: {PATH: "/opt/shakeout/bin:/usr/bin:/bin"}
expect:
  - {exit: 0}
  - {output: {matches: "verdict passed"}}
  - {home: {untouched: true, allow: [".local/**"]}}
"""


def test_shakeout_runs_in_a_sandbox_made_of_the_image(image, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SHAKEOUT_IMAGE", image)
    monkeypatch.setenv("SHAKEOUT_STATE", str(tmp_path / "state"))
    (tmp_path / "nested.yaml").write_text(NESTED)

    code = cli.main(
        ["run", str(tmp_path), "--sandbox", "docker", "--out", str(tmp_path / "out"), "--json"]
    )

    run = json.loads(capsys.readouterr().out)
    assert code == 0, run["trials"][0]["message"]
    sandbox = run["trials"][0]["sandbox"]
    assert (sandbox["backend"], sandbox["image"]) == ("docker", identity(image))
