"""`requests` with `tool_result`: proof that a call of the script was done or refused."""

from __future__ import annotations

import pytest

from harness.case.grammar import GrammarError
from harness.evidence.model import Evidence, Request
from harness.oracles.requests import Requests
from verifiers.verdicts import Verdict


def evidence(*results: str | None, service: str = "model") -> Evidence:
    def asked(seq: int, result: str | None) -> Request:
        return Request(
            seq=seq, t=0.0, service=service, conn=1, kind="turn", method="POST",
            path="/v1/messages", headers={}, body_sha256="", turn=0, attempt=1, fault=None,
            status=200, bytes_sent=10, ended="whole", tool_result=result,
        )  # fmt: skip

    return Evidence(
        requests=[asked(seq, result) for seq, result in enumerate(results, 1)], exit_code=0
    )


def verdict(pattern: str, seen: Evidence, **count: int) -> Verdict:
    oracle = Requests()
    return oracle.judge(oracle.parse({"tool_result": pattern, **count}), seen).verdict


def test_only_requests_whose_last_tool_result_matches_are_counted():
    seen = evidence(None, "Rejected: rm", "ok", "rejected again")
    assert verdict("(?i)rejected", seen, exactly=2) is Verdict.PASSED
    assert verdict("Rejected", seen, exactly=2) is Verdict.FAILED
    assert verdict("^ok$", seen, at_least=1) is Verdict.PASSED
    assert verdict("gone", seen, at_least=1) is Verdict.FAILED


def test_a_request_without_a_tool_result_matches_nothing_not_even_everything():
    assert verdict("", evidence(None, None), at_most=0) is Verdict.PASSED
    assert verdict("", evidence(None, ""), exactly=1) is Verdict.PASSED


def test_a_pattern_that_is_none_is_refused_when_the_case_is_read():
    with pytest.raises(GrammarError):
        Requests().parse({"tool_result": "(", "at_least": 1})


def test_what_was_expected_is_said_with_the_pattern():
    oracle = Requests()
    finding = oracle.judge(oracle.parse({"tool_result": "no", "exactly": 1}), evidence("yes"))
    assert "'no'" in finding.expected
