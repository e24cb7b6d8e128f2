"""Where requests were beyond what is put down, no oracle takes the record for the whole of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.evidence.model import Evidence, Request
from harness.oracles.registry import ORACLES
from harness.oracles.seen import UNRECORDED
from verifiers.verdicts import Reason, Verdict

_ASKED = Request(
    seq=1, t=1.0, service="model", conn=1, kind="turn", method="POST", path="/v1", headers={},
    body_sha256="", turn=0, attempt=1, fault=None, status=200, bytes_sent=1, ended="whole",
    tokens_in=5, tokens_out=5, model="shakeout", message="help me",
)  # fmt: skip
WHOLE = Evidence(exit_code=0, requests=[_ASKED, replace(_ASKED, seq=2, t=2.0)])
CUT = replace(WHOLE, notes={UNRECORDED: 3})

HELD = [
    ("requests", {"at_most": 2}),
    ("requests", {"at_least": 1}),
    ("requests", {"exactly": 2}),
    ("requests", {"service": "upstream", "exactly": 0}),
    ("attempts", {"request": {}, "at_most": 2}),
    ("escalations", {"at_most": 2}),
    ("spend", {"tokens_at_most": 20}),
    ("order", [{"request": {}}, {"request": {}}]),
]
BROKEN_FOR_GOOD = [
    ("requests", {"at_most": 1}),
    ("attempts", {"request": {}, "at_most": 1}),
    ("escalations", {"exactly": 0}),
    ("spend", {"tokens_at_most": 19}),
]
MENDABLE = [
    ("requests", {"at_least": 3}),
    ("attempts", {"request": {}, "exactly": 3}),
    ("order", [{"request": {"service": "upstream"}}, {"request": {}}]),
]


def finding(name, written, evidence):
    oracle = ORACLES[name]
    return oracle.judge(oracle.parse(written), evidence)


@pytest.mark.parametrize(("name", "written"), HELD)
def test_what_holds_of_a_part_is_not_observed(name, written):
    assert finding(name, written, WHOLE).verdict is Verdict.PASSED

    found = finding(name, written, CUT)

    assert (found.verdict, found.reason) == (Verdict.UNAVAILABLE, Reason.NOT_OBSERVED)
    assert found.seen == "3 more requests came than are put down"


@pytest.mark.parametrize(("name", "written"), BROKEN_FOR_GOOD)
def test_what_a_part_breaks_already_is_broken(name, written):
    assert finding(name, written, CUT).verdict is Verdict.FAILED


@pytest.mark.parametrize(("name", "written"), MENDABLE)
def test_what_the_rest_could_mend_is_not_observed(name, written):
    assert finding(name, written, WHOLE).verdict is Verdict.FAILED

    assert finding(name, written, CUT).verdict is Verdict.UNAVAILABLE
