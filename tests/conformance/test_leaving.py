"""Containers that nobody removes in good order: what goes by itself, and what a sweep takes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sandboxes.backends.docker import container, engine
from tests.conformance.containers import found, of_run
from tests.conformance.room import eventually

pytestmark = [
    pytest.mark.engine,
    pytest.mark.xdist_group("docker"),
    pytest.mark.usefixtures("docker"),
]
TOP = Path(__file__).parents[2]


HARNESS = """
import os, signal, sys, threading
import docker
from sandboxes.backends.docker import Docker
from sandboxes.base import SandboxSpec
run, moment = sys.argv[1:]

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def asked(*words, **options):
    threading.Timer(0.005, die).start()
    return make(*words, **options)

if moment == "asked":
    make = docker.APIClient.create_container_from_config
    docker.APIClient.create_container_from_config = asked
else:
    docker.APIClient.start = {"made": die, "stays": lambda *_: signal.pause()}[moment]
with Docker().site(run) as site:
    print("up", flush=True)
    site.create(SandboxSpec("one"))
"""


def harness(run: str, moment: str) -> subprocess.Popen[str]:
    """A harness that is killed, or stays, where its container was made or is being made."""
    argv = [sys.executable, "-c", HARNESS, run, moment]
    return subprocess.Popen(argv, cwd=TOP, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("moment", ["made", "asked"])
def test_a_container_that_nobody_lived_to_start_goes_without_a_sweep(moment):
    run = f"unborn-{moment}-{os.getpid()}"
    child = harness(run, moment)
    assert child.communicate(timeout=60)[0] == "up\n"
    assert child.returncode == -signal.SIGKILL

    eventually(lambda: not helpers(run), 30)
    assert of_run(run) == []


def helpers(run: str) -> list[int]:
    """The processes of a run's helper that live."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if run.encode() in words and b"-I" in words:
                found.append(int(entry.name))
    return found


def test_what_a_killed_helper_could_not_remove_is_taken_by_the_next_sweep(docker):
    run = f"orphan-{os.getpid()}"
    child = harness(run, "stays")
    try:
        eventually(lambda: of_run(run), 30)
        for pid in helpers(run):
            with contextlib.suppress(ProcessLookupError):  # one dies with another
                os.kill(pid, signal.SIGKILL)
        docker.sweep()
        assert len(of_run(run)) == 1, "its owner lives"
    finally:
        child.kill()
        child.communicate()

    docker.sweep()
    assert of_run(run) == []


def test_the_sweep_removes_a_container_whose_owner_is_dead_and_no_other(docker, client):
    code = "import os; from sandboxes.backends.docker.container import Owner; o = Owner.of_run('swept'); print(o.name)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    one = found()
    assert one is not None
    image = engine.image(one).id
    mine = container.Owner.of_run(f"mine-{os.getpid()}")
    dead = container.Owner(f"dead-{os.getpid()}", said.stdout.strip(), mine.boot)
    strange = {"com.example.owner": dead.name, "com.example.run": dead.run}
    made = [
        client.create_container(image, "true", labels=labels)["Id"]
        for labels in (mine.labels("box"), strange, {}, dead.labels("box"))
    ]
    try:
        swept = docker.sweep()
        assert of_run(mine.run) == made[:1]
        assert of_run(dead.run) == []
        assert any(dead.run in words for words in swept) or not swept, "or somebody else was first"
        there = {each["Id"] for each in client.containers(all=True)}
        assert set(made[:3]) <= there, "nor what is another project's"
    finally:
        for identity in made[:3]:
            container.remove(client, identity)
