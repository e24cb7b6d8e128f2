"""Where something did not happen, people are told of the subject's own trouble."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.evidence.model import FaultRecord, ModelRecord, Output
from harness.judge.facts import facts_of
from harness.judge.judging import Kind, judge_trial
from tests.unit.oracles.making import ran

CASE: Any = SimpleNamespace(faults=(), secrets=(), stimulus=(), expect=(), leftover=False)
MISSED = FaultRecord("cut", "network.cut", armed=True, landed=False, count=0, proof="nobody came")


@pytest.mark.parametrize(
    ("ended_by", "code", "stderr", "said"),
    [
        ("exit", 0, b"", "nobody came"),
        ("exit", 3, b"", "; the subject ended with exit code 3"),
        ("exit", 3, b"one\ntwo\n\n", "; the subject ended with exit code 3: two"),
        ("exit", 0, b"one\ntwo\n", "; the subject's last line on stderr: two"),
        ("deadline", None, b"waiting", "; the subject's last line on stderr: waiting"),
        ("step", None, b" \n", "nobody came"),
    ],
)
def test_a_fault_that_missed_is_told_with_the_last_word(ended_by, code, stderr, said):
    seen = ran(faults=[MISSED], ended_by=ended_by, exit_code=code, stderr=Output(data=stderr))

    message = judge_trial(facts_of(CASE, Kind.TRIAL, seen, [])).message

    assert "did not land: nobody came" in message
    assert message.endswith(said) or (said == "nobody came" and "subject" not in message)


def test_where_only_the_first_bytes_were_kept_no_line_is_the_last():
    seen = ran(faults=[MISSED], exit_code=3, stderr=Output(data=b"one\ntwo", capped=True))

    message = judge_trial(facts_of(CASE, Kind.TRIAL, seen, [])).message

    assert message.endswith("; the subject ended with exit code 3")


def test_a_script_that_had_run_out_is_told_where_a_trial_did_not_pass():
    seen = ran(faults=[MISSED], model=ModelRecord(turns=3, served=1, beyond=2))

    message = judge_trial(facts_of(CASE, Kind.TRIAL, seen, [])).message

    assert message.endswith("; the script had run out: 2 requests came beyond it")
