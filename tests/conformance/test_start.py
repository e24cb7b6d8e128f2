"""Starting programs: what they are given, and how their end is told."""

from __future__ import annotations

import os
import signal

import pytest

from sandboxes.base import AGENT_HOME, ROOT, Planted, Root
from sandboxes.errors import CommandNotFound, SandboxError
from tests.conformance.room import ENV, PATIENCE


def test_the_exit_code_is_told(room):
    assert room.shell("exit 42").code == 42


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_death_by_signal_is_no_exit_code(room, signum):
    outcome = room.shell(f"kill -{int(signum)} $$")

    assert (outcome.code, outcome.signal) == (None, signum)


def test_an_exit_code_above_128_is_not_taken_for_a_signal(room):
    outcome = room.shell("exit 137")

    assert (outcome.code, outcome.signal) == (137, None)


def test_programs_are_numbered_from_one_and_each_end_is_told_once(room):
    first = room.start("sh", "-c", "exit 1")
    second = room.start("sh", "-c", "exit 2")
    ended = [room.sandbox.wait(PATIENCE), room.sandbox.wait(PATIENCE)]

    assert (first.number, second.number) == (1, 2)
    assert {(e.process, e.exit_code) for e in ended} == {(1, 1), (2, 2)}
    assert room.sandbox.wait(0.05) is None


def test_wait_returns_at_its_time_and_when_it_is_woken(room):
    room.start("sleep", "60")
    reading, writing = os.pipe()
    try:
        assert room.sandbox.wait(0.02) is None
        os.write(writing, b".")
        assert room.sandbox.wait(30, wake=reading) is None
    finally:
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize(
    "name", ["no-such-program", "/usr/bin/no-such-program", "/etc", "./plain", ""]
)
def test_what_cannot_be_run_is_told_apart_from_what_failed(make, name):
    room = make(workspace=[Planted("plain", content=b"just text\n")])

    with pytest.raises(CommandNotFound, match="cannot be run"):
        room.start(name)
    assert room.sandbox.processes() == []


def test_a_script_whose_interpreter_is_missing_is_not_found(make):
    room = make(workspace=[Planted("script", content=b"#!/no/such/thing\n", mode=0o755)])

    with pytest.raises(CommandNotFound):
        room.start("./script")


def test_programs_are_looked_up_in_the_path_they_are_given(make):
    room = make(home=[Planted("bin/tool", content=b"#!/bin/sh\necho mine\n", mode=0o755)])

    assert room.run("tool", env=ENV | {"PATH": f"{AGENT_HOME}/bin:/usr/bin"}).text == "mine"
    with pytest.raises(CommandNotFound, match="tool"):
        room.start("tool")


def test_the_environment_is_what_was_given_and_nothing_else(room, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_HOST", "canary")

    assert (
        room.run("env", env={"PATH": "/usr/bin", "ONLY": "this"}).text == "PATH=/usr/bin\nONLY=this"
    )


def test_arguments_arrive_byte_for_byte(room):
    words = ["", "two words", "line\nbreak", "$HOME", "*", "\udcff\udcfe", "a" * 100_000]

    outcome = room.run("printf", "%s\\0", *words)

    assert outcome.out == b"".join(os.fsencode(word) + b"\0" for word in words)


def test_a_program_sees_its_three_streams_and_no_other_descriptor(room):
    shown = room.ok("exec ls /proc/self/fd").split()

    assert shown == ["0", "1", "2", "3"], "3 is the folder that ls itself reads"


def test_standard_input_is_empty_by_default(room):
    assert room.run("cat").out == b""


def test_standard_input_can_be_given(room):
    reading, writing = os.pipe()
    running = room.start("cat", stdin=reading)
    os.close(reading)
    os.write(writing, b"hello")
    os.close(writing)

    assert running.finish().out == b"hello"


def test_the_folder_to_start_in_is_the_workspace_or_the_one_named(room):
    assert room.run("pwd").text == "/workspace"
    assert room.start("pwd", cwd=AGENT_HOME).finish().text == AGENT_HOME
    with pytest.raises(SandboxError, match="/nowhere"):
        room.start("pwd", cwd="/nowhere")


def test_the_agent_is_an_ordinary_user_with_a_name_and_a_home_of_its_own(room):
    assert room.ok("id -un; id -gn; echo ~agent") == f"agent\nagent\n{AGENT_HOME}"
    assert room.ok("id -u") != "0"
    room.ok("test -O ~ && test -w ~ && test -O /workspace && test -w /workspace && test -w /tmp")


def test_a_program_has_no_capability_and_can_gain_none(room):
    status = room.ok("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status")
    values = dict(line.split(":\t") for line in status.splitlines())

    assert {
        name: value for name, value in values.items() if name.startswith("Cap")
    } == dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), "0" * 16)
    assert values["NoNewPrivs"] == "1"
    assert values["Seccomp"] == "2"


def test_signals_have_their_default_meaning(room):
    ignored = room.ok("grep -E '^Sig(Ign|Blk)' /proc/self/status | cut -f2")

    assert ignored.split() == ["0" * 16] * 2


@pytest.mark.needs("user.root")
def test_a_step_can_run_as_root_of_the_sandbox(room):
    assert room.ok("id -u; touch /etc/by-root; cat /etc/by-root", user=ROOT) == "0"
    assert room.shell("touch /etc/by-agent").code != 0


@pytest.mark.needs("user.root")
def test_root_of_the_sandbox_has_no_power_over_the_machine(room):
    attempts = [
        "mount -t tmpfs none /mnt",
        "echo 1 > /proc/sys/vm/drop_caches",
        "echo h > /proc/sysrq-trigger",
        "mknod /tmp/disk b 254 0",
        "chown 0:0 /workspace",
        "hostname other",
        "ip link add dummy0 type dummy",
        "unshare -r true",
        "cat /proc/1/environ",
    ]

    assert [a for a in attempts if room.shell(a, user=ROOT).code == 0] == []
    room.shell("kill -KILL 1; kill -STOP 1; kill -TERM 1", user=ROOT)
    assert room.ok("echo still here") == "still here"


def test_there_is_no_step_as_root_where_there_is_one_user_only(place, room):
    if "user.root" not in place.gaps:
        pytest.skip("there is")
    with pytest.raises(SandboxError, match="root"):
        room.start("id", user=ROOT)


def test_signals_reach_the_program_and_not_one_that_has_ended(room):
    running = room.start(
        "sh", "-c", "trap 'echo caught; exit 7' TERM; echo up; while :; do sleep 0.01; done"
    )
    running.line()

    assert room.sandbox.signal(running.number, signal.SIGTERM)
    outcome = running.finish()
    assert (outcome.code, outcome.text) == (7, "caught")
    assert not room.sandbox.signal(running.number, signal.SIGTERM)
    assert not room.sandbox.signal(99, signal.SIGTERM)


def test_a_file_of_the_workspace_can_be_run_by_its_relative_name(make):
    room = make(workspace=[Planted("bin/run", content=b"#!/bin/sh\necho ran\n", mode=0o755)])

    assert room.run("bin/run").text == "ran"
    assert room.sandbox.exists(Root.WORKSPACE, "bin/run")
