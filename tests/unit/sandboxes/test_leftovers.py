"""Which containers are abandoned: nobody's but those of owners that are surely gone."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from sandboxes.backends.docker.container import BOOT, DEADLINE, OWNER, Owner, boot_id
from sandboxes.backends.docker.leftovers import is_abandoned
from sandboxes.helper import owners

NOW, BOOTED = 1_900_000_000.0, "this-boot"


def labels(owner: str, boot: str = BOOTED, left: int = 100) -> dict[str, str]:
    return {OWNER: owner, BOOT: boot, DEADLINE: str(int(NOW) + left)}


def living() -> str:
    return owners.name("run", os.getpid())


def dead() -> str:
    """The name of an owner that has ended, and was reaped."""
    code = "import os; from sandboxes.helper import owners; print(owners.name('run', os.getpid()))"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_the_labels_name_the_run_the_process_and_the_boot():
    found = Owner.of_run("some-run").labels("box")

    assert found["shakeout.run"] == "some-run"
    assert found["shakeout.sandbox"] == "box"
    assert found[OWNER] == owners.name("some-run", os.getpid())
    assert found[BOOT] == boot_id()
    assert not is_abandoned(found, "running", boot_id(), NOW - 10**9)


@pytest.mark.parametrize("state", ["created", "running", "exited"])
def test_what_a_living_owner_has_is_left_alone(state):
    assert not is_abandoned(labels(living()), state, BOOTED, NOW)


@pytest.mark.parametrize("state", ["created", "running", "exited"])
def test_what_a_dead_owner_left_is_abandoned(state):
    assert is_abandoned(labels(dead()), state, BOOTED, NOW)


def test_a_process_of_another_pid_namespace_may_live():
    name, _, namespace = living().rpartition(".")
    stranger = f"{name}.{int(namespace) + 1}"

    assert not is_abandoned(labels(stranger), "running", BOOTED, NOW)
    assert is_abandoned(labels(stranger, left=-1), "running", BOOTED, NOW)


def test_an_owner_of_another_boot_may_be_on_another_machine():
    elsewhere = labels(dead(), boot="another-boot")

    assert not is_abandoned(elsewhere, "running", BOOTED, NOW)
    assert is_abandoned(elsewhere, "exited", BOOTED, NOW)
    assert is_abandoned(elsewhere | {DEADLINE: str(int(NOW) - 1)}, "running", BOOTED, NOW)


@pytest.mark.parametrize("owner", ["", "somebody", "shakeout-run.1.2", "shakeout-run.x.y.z"])
def test_a_label_that_proves_nothing_is_nobodys_to_remove(owner):
    assert not is_abandoned(labels(owner), "running", BOOTED, NOW)
    assert not is_abandoned({OWNER: owner, BOOT: BOOTED}, "running", BOOTED, NOW)
    assert not is_abandoned({OWNER: owner, BOOT: BOOTED, DEADLINE: "soon"}, "running", BOOTED, NOW)
