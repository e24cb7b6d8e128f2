"""Arithmetic that every oracle with bounds keeps, and what more of the same can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.evidence.model import Clocks, Evidence, Lingering, Network, Processes
from sandboxes.base import Root
from tests.unit.oracles.making import judge, ran, request, state
from tests.unit.oracles.strategies import COUNT, RAN, numbered
from verifiers.verdicts import Verdict

FEW = settings(max_examples=25)
#: From worst to best.
RANK = [Verdict.FAILED, Verdict.UNAVAILABLE, Verdict.PASSED]
Bounds = Mapping[str, int]


def requests(count: int, **facts: Any) -> Evidence:
    return ran(requests=[numbered(request(**facts), n + 1) for n in range(count)])


def record(count: int) -> Evidence:
    key, data = (Root.WORKSPACE, "x"), '{"a": 1}\n' * count
    return ran(paths={key: state(data)}, contents={key: data.encode()})


def commits(count: int) -> Evidence:
    names = [str(n) * 40 for n in range(count + 1)]
    made = {
        name: {"parents": names[n - 1 : n], "subject": "x", "author": "Kim"}
        for n, name in enumerate(names)
    }
    objects = dict.fromkeys(names, f"commit 1 {'0' * 64}")
    head = {"why": None, "there": True, "head": "refs/heads/main"}
    first = names[:1]
    before = {**head, "refs": {"refs/heads/main": names[0]}, "commits": {n: made[n] for n in first}}
    after = {**head, "refs": {"refs/heads/main": names[-1]}, "commits": made, "objects": objects}
    return ran(notes={"git": {"workspace:.": {"before": before, "after": after}}})


#: By what is counted: the oracle, what a case writes for some bounds, and so many of it.
COUNTED: Mapping[str, tuple[str, Callable[[Bounds], Any], Callable[[int], Evidence]]] = {
    "requests": ("requests", dict, requests),
    "repeats": ("attempts", lambda bounds: {"request": {}, **bounds}, requests),
    "tries": (
        "attempts",
        lambda bounds: {"path": "x", **bounds},
        lambda n: ran(attempts={"/workspace/x": {"on.read": n}}),
    ),
    "messages": (
        "escalations",
        lambda bounds: {"count" if name == "exactly" else name: n for name, n in bounds.items()},
        lambda n: requests(n, service="tg", message="help"),
    ),
    "reads of the clock": (
        "clock",
        lambda bounds: {"read": dict(bounds)},
        lambda n: ran(clocks=Clocks({"date": n}, 0.0)),
    ),
    "events": (
        "events",
        lambda bounds: {"file": "x", "beside": {"requests": {"at_most": 0}}, **bounds},
        record,
    ),
    "commits": ("git", lambda bounds: {"commits": dict(bounds)}, commits),
}
ALL = pytest.mark.parametrize("what", COUNTED)


def found(what: str, bounds: Bounds, count: int, **ending: Any) -> Verdict:
    """The verdict on so many, under bounds, of a run that ended so."""
    oracle, written, evidence = COUNTED[what]
    return judge(oracle, written(bounds), replace(evidence(count), **ending)).verdict


@ALL
def test_exactly_is_at_least_and_at_most(what: str):
    @FEW
    @given(COUNT, COUNT)
    def ask(count: int, bound: int) -> None:
        both = found(what, {"at_least": bound, "at_most": bound}, count)
        assert found(what, {"exactly": bound}, count) is both
        assert (both is Verdict.PASSED) is (count == bound)
        parts = [found(what, {"at_most": bound}, count)]
        if bound:  # every count is at least 0, and no case may write that alone
            parts.append(found(what, {"at_least": bound}, count))
        assert both is min(parts, key=RANK.index)

    ask()


@ALL
def test_a_bound_that_is_drawn_wider_breaks_nothing(what: str):
    @FEW
    @given(COUNT, COUNT, st.integers(2, 4))
    def ask(count: int, bound: int, least: int) -> None:
        ranks = [
            (RANK.index(found(what, narrow, count)), RANK.index(found(what, wide, count)))
            for narrow, wide in (
                ({"at_most": bound}, {"at_most": bound + 1}),
                ({"at_least": least}, {"at_least": least - 1}),
            )
        ]
        assert all(narrow <= wide for narrow, wide in ranks)

    ask()


@ALL
def test_one_more_mends_no_excess_and_makes_no_want(what: str):
    @FEW
    @given(COUNT, st.integers(1, 4))
    def ask(count: int, bound: int) -> None:
        less, more = (found(what, {"at_most": bound}, n) for n in (count, count + 1))
        assert RANK.index(more) <= RANK.index(less)
        less, more = (found(what, {"at_least": bound}, n) for n in (count, count + 1))
        assert RANK.index(less) <= RANK.index(more)

    ask()


@ALL
def test_where_nothing_ran_nothing_holds_and_nobody_did_too_little(what: str):
    @FEW
    @given(COUNT, st.integers(1, 4))
    def ask(count: int, bound: int) -> None:
        nobody = {"ended_by": "exit", "exit_code": None}
        assert found(what, {"at_least": bound}, count, **nobody) is Verdict.UNAVAILABLE
        most = found(what, {"at_most": bound}, count, **nobody)
        assert most is not Verdict.PASSED
        assert most is Verdict.UNAVAILABLE or count > bound

    ask()


# -- the oracles that have one bound of their own

LIMITED: Mapping[str, tuple[str, Callable[[int], Any], Callable[[int], Evidence]]] = {
    "dollars": (
        "spend",
        lambda n: {"usd_at_most": n},
        lambda n: replace(requests(n, model="m", tokens_in=1), prices={"m": (1e6, 0.0)}),
    ),
    "tokens": ("spend", lambda n: {"tokens_at_most": n}, lambda n: requests(n, tokens_out=1)),
    "packets": (
        "network",
        lambda n: {"beyond_services": n},
        lambda n: ran(network=Network(packets=n)),
    ),
    "names": (
        "network",
        lambda n: {"beyond_services": n},
        lambda n: ran(network=Network({f"{at}.test": 9 for at in range(n)}, 0)),
    ),
    "processes": (
        "processes",
        lambda n: {"at_most": n},
        lambda n: ran(processes=Processes(True, [(0.0, [lingering(at) for at in range(n)])])),
    ),
}


def lingering(pid: int) -> Lingering:
    return Lingering(pid, 1, "S", ("sleep",))


@pytest.mark.parametrize("what", LIMITED)
@FEW
@given(count=COUNT, limit=COUNT, ending=RAN)
def test_a_limit_is_kept_up_to_itself(what: str, count: int, limit: int, ending: Any):
    oracle, written, evidence = LIMITED[what]
    ended = replace(evidence(count), ended_by=ending[0], exit_code=ending[1])
    within = judge(oracle, written(limit), ended).verdict

    assert within is (Verdict.PASSED if count <= limit else Verdict.FAILED)
