"""When faults begin and end, whatever the two threads of a trial do at the same time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.live.stage import DeadlineReached
from sandboxes.errors import SandboxError, SandboxLost
from tests.unit.faults.fakes import FakeInjection, Stand, after, file, output, request


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    stand = Stand(tmp_path)
    yield stand
    stand.inbox.close()


def fail(error: BaseException):
    def raise_it() -> None:
        raise error

    return raise_it


# -- requests


def test_a_request_waits_until_its_fault_is_in_force(stand):
    stand.place("a", request(2))

    assert stand.arming.gate("model", 1) is None
    assert stand.arming.gate("upstream", 2) is None
    waiting = stand.arming.gate("model", 2)
    assert waiting is not None
    assert not waiting.done()
    assert stand.log == []
    stand.arming.tick()

    assert waiting.done()
    assert stand.log == ["inject a", "in force a"]
    assert stand.arming.gate("model", 3) is None


def test_requests_that_come_meanwhile_wait_too_and_it_begins_once(stand):
    stand.place("a", request(1))
    waiting = [stand.arming.gate("model", number) for number in (1, 2, 3)]
    other = stand.arming.gate("upstream", 1)
    stand.arming.tick()

    assert all(gate is not None and gate.done() for gate in [*waiting, other])
    assert stand.log == ["inject a", "in force a"]


def test_an_end_that_is_due_before_the_beginning_was_done_comes_right_after_it(stand):
    stand.place("a", request(1), request(2))
    stand.arming.gate("model", 1)
    second = stand.arming.gate("model", 2)
    stand.arming.tick()

    assert second is not None
    assert second.done()
    assert stand.log == ["inject a", "in force a", "prove a", "heal a"]
    stand.arming.tick()
    stand.arming.settle()
    stand.arming.heal()
    assert stand.log.count("heal a") == 1


def test_a_fault_in_replies_is_armed_before_the_gate_opens(stand):
    stand.reply("r", request(2), request(4))

    assert [stand.arming.gate("model", n) for n in (1, 2, 3)] == [None, None, None]
    assert stand.services.armed == {"r"}
    assert stand.arming.gate("model", 4) is None
    assert stand.services.armed == set()


def test_a_request_after_the_end_of_the_trial_waits_for_nothing(stand):
    stand.place("a", request(1))
    stand.inbox.close()
    gate = stand.arming.gate("model", 1)

    assert gate is None or gate.done()
    assert stand.log == []


def test_requests_that_wait_at_the_end_of_the_trial_go_on(stand):
    stand.place("a", request(1))
    gate = stand.arming.gate("model", 1)
    stand.inbox.close()

    assert gate is not None
    assert gate.result(1) is None
    assert not stand.arming.records()[0].armed


# -- what goes wrong


def test_a_fault_that_cannot_be_injected_is_not_armed_and_holds_nobody_up(stand):
    stand.place("a", request(1), injecting=fail(SandboxError("no room")))
    gate = stand.arming.gate("model", 1)
    stand.arming.tick()
    stand.arming.settle()
    stand.arming.heal()

    record = stand.arming.records()[0]
    assert gate is not None
    assert gate.done()
    assert (record.armed, record.landed) == (False, False)
    assert record.proof == "could not be injected: no room"
    assert stand.log == ["inject a"]
    assert stand.events() == ["came", "not-armed", "proof"]


@pytest.mark.parametrize("error", [KeyError("bug"), SandboxLost("gone"), DeadlineReached()])
def test_a_job_that_raises_holds_nobody_up_and_is_told(stand, error):
    stand.place("a", request(1), injecting=fail(error))
    stand.place("b", request(1))
    gate = stand.arming.gate("model", 1)
    with pytest.raises(type(error)):
        stand.arming.tick()
    stand.arming.tick()

    assert gate is not None
    assert gate.done()
    assert [record.armed for record in stand.arming.records()] == [False, True]
    assert stand.log == ["inject a", "inject b", "in force b"]


def test_what_cannot_be_healed_is_told_and_everything_else_is_healed(stand):
    for name, error in (("a", SandboxError("stuck")), ("b", SandboxError("too")), ("c", None)):
        stand.place(name, healing=fail(error) if error else lambda: None)
    stand.arming.start(live=False)

    with pytest.raises(SandboxError, match="stuck"):
        stand.arming.heal()
    assert [line for line in stand.log if line.startswith("heal")] == ["heal a", "heal b", "heal c"]
    stand.arming.heal()


def test_nothing_is_healed_where_the_sandbox_is_lost(stand):
    stand.place("a", healing=fail(SandboxLost("gone")))
    stand.place("b")
    stand.arming.start(live=False)

    with pytest.raises(SandboxLost):
        stand.arming.heal()
    assert "heal b" not in stand.log


# -- one after the other


def test_nothing_begins_or_ends_in_the_middle_of_an_injection(stand):
    def canary() -> None:
        stand.arming.gate("model", 2)
        stand.arming.heard("stdout", b"over\n")
        stand.arming.tick()

    stand.place("a", request(1), output("over"), injecting=canary)
    stand.place("b", request(2))
    stand.arming.clock_starts()
    stand.arming.gate("model", 1)
    stand.arming.tick()

    assert stand.log == [
        "inject a", "in force a", "inject b", "in force b", "prove a", "heal a",
    ]  # fmt: skip


def test_faults_that_are_due_together_begin_in_the_order_of_declaration(stand):
    for name in ("b", "a", "c"):
        stand.place(name, request(1))
    stand.arming.gate("model", 1)
    stand.arming.tick()

    assert [line for line in stand.log if line.startswith("inject")] == [
        "inject b", "inject a", "inject c",
    ]  # fmt: skip


def test_a_fault_in_replies_that_two_threads_begin_and_end_is_never_left_armed(tmp_path):
    for number in range(30):
        folder = tmp_path / str(number)
        folder.mkdir()
        stand = Stand(folder)
        stand.reply("r", after(0), request(1))
        stand.arming.clock_starts()
        barrier = threading.Barrier(2)

        def asks(stand: Stand = stand, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            for n in range(1, 20):
                stand.arming.gate("model", n)

        thread = threading.Thread(target=asks)
        thread.start()
        barrier.wait()
        stand.arming.tick()
        thread.join(20)
        stand.arming.gate("model", 99)
        assert stand.log == ["arm r", "disarm r"]
        stand.inbox.close()


# -- the other triggers


def test_faults_of_the_start_begin_before_or_right_after_the_main_process(stand):
    stand.place("early")
    stand.place("late", live=True)
    stand.reply("r")
    stand.arming.start(live=False)
    assert stand.log == ["arm r", "inject early", "in force early"]
    stand.arming.start(live=True)
    assert stand.log[-1] == "in force late"


def test_output_is_recognised_across_pieces_and_on_either_stream(stand):
    stand.place("a", output(r"^two\b"), output("three"))
    for stream, piece in (("stdout", b"one two\nt"), ("stderr", b"wo\n")):
        stand.arming.heard(stream, piece)
        stand.arming.tick()
    assert stand.log == []
    stand.arming.heard("stdout", b"wo\n")
    stand.arming.tick()
    assert stand.log == ["inject a", "in force a"]
    stand.arming.heard("stderr", b"three")
    stand.arming.tick()
    assert stand.log[-1] == "heal a"


def test_the_end_looks_only_at_output_that_came_after_the_beginning(stand):
    stand.place("a", request(1), output("ready"))
    stand.arming.heard("stdout", b"ready\n")
    stand.arming.gate("model", 1)
    stand.arming.tick()
    stand.arming.heard("stdout", b"more\n")
    stand.arming.tick()
    assert stand.log == ["inject a", "in force a"]
    stand.arming.heard("stdout", b"ready\n")
    stand.arming.tick()
    assert stand.log[-1] == "heal a"


def test_output_may_come_in_any_amount(stand):
    stand.place("a", output("needle"))
    for _ in range(20):
        stand.arming.heard("stdout", b"x" * 300_000)
    stand.arming.heard("stdout", b"need")
    stand.arming.heard("stdout", b"le" + b"y" * 300_000)
    stand.arming.tick()

    assert stand.log == ["inject a", "in force a"]


def test_a_file_is_looked_for_where_the_trigger_says(stand):
    stand.place("a", file("~/x"), file("y"))
    stand.arming.clock_starts()
    stand.sandbox.files = {"workspace:x", "home:y"}
    stand.arming.tick()
    assert stand.log == []
    assert stand.arming.patience() <= 0.05
    stand.sandbox.files |= {"home:x"}
    stand.arming.tick()
    stand.sandbox.files |= {"workspace:y"}
    stand.arming.tick()
    assert stand.log == ["inject a", "in force a", "prove a", "heal a"]
    assert stand.arming.patience() == 0.25


def test_nobody_sleeps_past_a_time_that_is_waited_for(stand):
    stand.place("a", after(0.1), after(600))
    assert stand.arming.patience() == 0.25
    stand.arming.clock_starts()
    assert stand.arming.patience() <= 0.1
    while not stand.log:
        stand.arming.tick()
    assert stand.arming.patience() == 0.25


# -- proofs


class Sampling(FakeInjection):
    def sample(self, place) -> None:
        self.log.append("sample")


def test_a_proof_that_may_pass_is_looked_for_while_the_fault_is_in_force(stand):
    fault = stand.place("a", request(1), request(2))
    fault.inject = lambda *_: Sampling(stand.log, "a", lambda: None)
    stand.arming.clock_starts()
    stand.arming.tick()
    stand.arming.gate("model", 1)
    stand.arming.tick()
    stand.arming.tick()
    assert stand.log == ["sample", "sample"]
    assert stand.arming.patience() <= 0.05
    stand.arming.gate("model", 2)
    stand.arming.tick()
    assert stand.log == ["sample", "sample", "prove a", "heal a"]


def test_a_reply_that_was_on_its_way_when_its_fault_ended_counts(stand):
    stand.reply("r", request(1), request(2))
    stand.arming.gate("model", 1)
    stand.arming.gate("model", 2)
    assert not stand.arming.records()[0].landed
    stand.services.counted["r"] = 1
    stand.arming.settle()

    assert stand.arming.records()[0].count == 1


def test_what_was_never_due_says_so(stand):
    stand.place("a", request(9))
    stand.reply("r", request(9))
    stand.arming.settle()
    stand.arming.heal()

    assert [(r.armed, r.landed, r.proof) for r in stand.arming.records()] == [
        (False, False, "waited for request 9 of model, in vain; 0 came"),
        (False, False, "waited for request 9 of model, in vain; 0 came"),
    ]
