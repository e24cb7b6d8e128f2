"""What holds of every oracle, whatever a case writes and whatever was seen."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from harness.evidence import store
from harness.evidence.model import Clocks, Evidence, Output, Processes
from harness.oracles.registry import ORACLES
from harness.screen.secrets import Screen
from harness.services.lines import request_line
from sandboxes.base import Root
from tests.unit.oracles.making import judge
from tests.unit.oracles.samples import EVIDENCES
from tests.unit.oracles.strategies import NO_ENDING, RAN, READS, WRITTEN, asked, evidence
from verifiers.verdicts import Reason, Verdict

FEW = settings(max_examples=15)
ENDING = {"ended_by", "exit_code"}


def test_every_oracle_has_its_strategies():
    assert WRITTEN.keys() == ORACLES.keys() == READS.keys()


@pytest.mark.parametrize("name", ORACLES)
def test_its_answer_follows_from_its_own_evidence_alone(name: str):
    """And what the strategies draw is what cases may write, and leads to every verdict."""
    validator = Draft202012Validator(dict(ORACLES[name].schema))
    mine = READS[name] | (set() if name in NO_ENDING else ENDING)
    others = [field.name for field in fields(Evidence) if field.name not in mine]
    seen = set()

    @settings(max_examples=100, derandomize=True, database=None)
    @given(asked(name), st.sampled_from(EVIDENCES), st.randoms(use_true_random=False))
    def ask(drawn: tuple[Any, Evidence], other: Evidence, dice: random.Random) -> None:
        written, found = drawn
        assert validator.is_valid(written)
        finding = judge(name, written, found)
        assert finding.reason is _REASONS[finding.verdict]
        assert finding.expected
        assert finding.seen
        seen.add(finding.verdict)

        changed = replace(found, **{field: getattr(other, field) for field in others})
        assert judge(name, written, changed) == finding

        again = judge(name, written, mixed(found, dice))
        assert (again.verdict, again.reason) == (finding.verdict, finding.reason)

    ask()
    assert seen == _REASONS.keys()


_REASONS = {
    Verdict.PASSED: None,
    Verdict.FAILED: None,
    Verdict.UNAVAILABLE: Reason.NOT_OBSERVED,
}


def mixed(found: Evidence, dice: random.Random) -> Evidence:
    """The same facts in another order, wherever order says nothing."""

    def mix(facts: Any) -> Any:
        if isinstance(facts, Mapping):
            return dict(dice.sample(list(facts.items()), len(facts)))
        return None if facts is None else dice.sample(list(facts), len(facts))

    names = ["changes", "requests", "secrets", "faults", "own", "sentinels", "paths", "contents"]
    names += ["prices", "attempts"]
    network = replace(found.network, names=mix(found.network.names))
    clocks = replace(found.clocks, reads=mix(found.clocks.reads))
    facts: dict[str, Any] = {name: mix(getattr(found, name)) for name in names}
    return replace(found, **facts, network=network, clocks=clocks)


# -- what was not seen is never held, and nobody is to blame for it


def nothing_ran(found: Evidence) -> Evidence:
    return replace(found, ended_by="exit", exit_code=None)


def unread(found: Evidence) -> Evidence:
    """The same where no file was looked at."""
    return replace(found, paths={}, contents={})


def cut(found: Evidence) -> Evidence:
    """The same where there was more to read than was kept."""

    def more(output: Output) -> Output:
        return replace(output, capped=True, total=output.total + 9)

    return replace(found, stdout=more(found.stdout), stderr=more(found.stderr))


def unpictured(found: Evidence) -> Iterator[Evidence]:
    pictures = found.notes.get("git")
    yield replace(found, notes={})
    if pictures:
        for when in ("before", "after"):
            unseen = {**pictures["workspace:."], when: {"why": "a link"}}
            yield replace(found, notes={"git": {"workspace:.": unseen}})


Blind = Callable[[Any, Evidence], Iterator[Evidence]]


def _home(_: Any, found: Evidence) -> Iterator[Evidence]:
    yield replace(found, listed=found.listed - {Root.HOME})
    yield replace(found, sentinels={})
    yield replace(found, sentinels={**found.sentinels, "y": (True, False)})
    yield replace(found, sentinels={**found.sentinels, "y": (False, True)})


def _files(written: Any, found: Evidence) -> Iterator[Evidence]:
    yield replace(found, listed=found.listed - {Root(written["root"])})


def _file(written: Any, found: Evidence) -> Iterator[Evidence]:
    yield unread(found)


def _git(_: Any, found: Evidence) -> Iterator[Evidence]:
    yield nothing_ran(found)
    yield from unpictured(found)


def _exit(_: Any, found: Evidence) -> Iterator[Evidence]:
    yield from (replace(found, ended_by=by, exit_code=None) for by in ("step", "deadline", "lost"))


def _output(written: Any, found: Evidence) -> Iterator[Evidence]:
    yield nothing_ran(found)
    if "lacks" in written:
        yield cut(found)


def _processes(_: Any, found: Evidence) -> Iterator[Evidence]:
    yield replace(found, processes=Processes(observed=False))
    yield replace(found, processes=Processes(observed=True))
    yield replace(found, processes=Processes(observed=True, after=[(99.0, [])]))


def _network(_: Any, found: Evidence) -> Iterator[Evidence]:
    yield replace(found, network=replace(found.network, packets=None))
    yield replace(found, network=replace(found.network, dropped=1))


def _nobody(_: Any, found: Evidence) -> Iterator[Evidence]:
    yield nothing_ran(found)


def _escalations(written: Any, found: Evidence) -> Iterator[Evidence]:
    yield nothing_ran(found)
    if any(sink.startswith("file:") for sink in written.get("sinks", ())):
        yield unread(found)


def _spend(written: Any, found: Evidence) -> Iterator[Evidence]:
    yield nothing_ran(found)
    unpriced = any(
        r.service == "model" and r.model in (None, "mine") and r.tokens_in for r in found.requests
    )
    if unpriced and "usd_at_most" in written:
        yield replace(found, prices={})


def _secrets(_: Any, found: Evidence) -> Iterator[Evidence]:
    yield nothing_ran(found)
    yield replace(found, secrets=None)
    yield replace(found, notes={"unscanned": ["file:workspace:x"]})


def _attempts(written: Any, found: Evidence) -> Iterator[Evidence]:
    yield nothing_ran(found)
    if "request" not in written:
        yield replace(found, attempts={})
        yield replace(found, attempts=dict.fromkeys(found.attempts))


def _clock(written: Any, found: Evidence) -> Iterator[Evidence]:
    yield nothing_ran(found)
    yield replace(found, clocks=Clocks())


def _events(_: Any, found: Evidence) -> Iterator[Evidence]:
    yield nothing_ran(found)
    yield unread(found)
    yield replace(found, contents={})


def _claims(written: Any, found: Evidence) -> Iterator[Evidence]:
    yield replace(found, final_text=None)
    if judge("output", {"matches": written["says"]}, said(found)).verdict is not Verdict.PASSED:
        yield cut(found)


def said(found: Evidence) -> Evidence:
    """The last message as if it had been printed."""
    data = (found.final_text or "").encode()
    return Evidence(stdout=Output(data, len(data)), exit_code=0)


BLIND: Mapping[str, Blind] = {
    "home": _home,
    "files": _files,
    "file": _file,
    "git": _git,
    "exit": _exit,
    "output": _output,
    "processes": _processes,
    "network": _network,
    "requests": _nobody,
    "escalations": _escalations,
    "spend": _spend,
    "secrets": _secrets,
    "order": _nobody,
    "attempts": _attempts,
    "clock": _clock,
    "events": _events,
    "claims": _claims,
}


@pytest.mark.parametrize("name", ORACLES)
def test_what_was_not_seen_never_holds(name: str):
    @FEW
    @given(asked(name, RAN))
    def ask(drawn: tuple[Any, Evidence]) -> None:
        written, found = drawn
        before = judge(name, written, found)
        for blinded in BLIND[name](written, found):
            verdict = judge(name, written, blinded).verdict
            assert verdict in {Verdict.UNAVAILABLE, Verdict.FAILED}
            # what can be broken with less in sight was broken before
            assert verdict is Verdict.UNAVAILABLE or before.verdict is not Verdict.PASSED

    ask()


# -- files


@settings(max_examples=10)
@given(st.data())
def test_what_was_stored_is_judged_as_what_was_seen(data: st.DataObject):
    found = data.draw(evidence())
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / store.REQUESTS).write_text("".join(map(request_line, found.requests)))
        store.write_evidence(folder, found, Screen({}))
        loaded = store.load_evidence(folder)

    for oracle in ORACLES:
        written = data.draw(WRITTEN[oracle])
        assert judge(oracle, written, loaded) == judge(oracle, written, found)
