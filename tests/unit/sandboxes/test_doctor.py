"""What is missing is told in words that need no other page: what, why, the cost, the cure."""

from __future__ import annotations

import argparse

import pytest

from harness.commands import doctor
from harness.commands.without import without
from harness.faults.registry import FAULTS
from sandboxes import probing
from sandboxes.base import Probe
from sandboxes.capabilities import CAPABILITIES, Capability
from sandboxes.registry import BACKENDS


class _Backend:
    def probe(self) -> Probe:
        capabilities = {
            name: Capability(name, name != "oom", "no \x1b[2Jcounter", "a cure")
            for name in CAPABILITIES
        }
        return Probe("bubblewrap", True, "user", capabilities=capabilities)


def test_what_is_missing_is_told_with_what_it_costs_and_what_mends_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for name in BACKENDS:
        monkeypatch.setitem(BACKENDS, name, _Backend())
    monkeypatch.setenv("COLUMNS", "120")

    code = doctor.run(argparse.Namespace(json=False))

    assert code == 0
    out = capsys.readouterr().out
    told = out[out.index("no  oom") :].split("\n    yes")[0]
    words = " ".join(told.split())
    assert f"no oom {CAPABILITIES['oom']} why not: no \ufffd[2Jcounter" in words
    assert "not possible: 1 fault: process.out-of-memory to get it: a cure" in words
    assert out.count("to get it: a cure") == len(BACKENDS)


@pytest.mark.parametrize("name", CAPABILITIES)
def test_every_capability_says_what_is_not_possible_without_it(name: str):
    asking = [fault.name for fault in FAULTS.values() if name in fault.needs]
    said = without(name)

    assert said
    assert all(fault in said for fault in asking[:3])
    assert not asking or f"{len(asking)} fault" in said


def test_every_cure_is_of_a_capability():
    assert set(probing._REMEDIES) <= set(CAPABILITIES)
