"""What is stored is what was seen: writing evidence and reading it is the identity."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.again.kept import read_case
from harness.case import yaml
from harness.case.expand import expand
from harness.case.load import load_case
from harness.case.model import Case
from harness.evidence import store
from harness.evidence.model import (
    Clocks,
    Evidence,
    FaultRecord,
    FileChange,
    Happening,
    Lingering,
    ModelRecord,
    Network,
    Output,
    PathState,
    Processes,
    Request,
    SecretHit,
)
from harness.evidence.screened import screened
from harness.screen.secrets import Screen, plant
from harness.services.lines import request_line
from sandboxes.base import Root
from tests.house.checkout import ROOT

CANARIES = plant(["TOKEN"], Random(7))
SCREEN = Screen(CANARIES)
NONE = Screen({})

#: Half a surrogate pair is no text: paths write it out, and what is decoded has none.
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
TEXT = WORDS | st.builds("{}{}".format, WORDS, st.just(CANARIES["TOKEN"]))
BYTES = st.binary(max_size=8) | st.just(CANARIES["TOKEN"].encode())
COUNT = st.integers(1, 2**40)
SECONDS = st.floats(0, 1e6, allow_nan=False).map(lambda t: round(t, 6))
KEYS = st.tuples(st.sampled_from(Root), TEXT)
STATES = st.builds(
    PathState,
    st.sampled_from(["file", "dir", "link", "other"]),
    st.integers(0, 0o7777).map("{:04o}".format),
    COUNT,
    st.none() | TEXT,
    st.none() | TEXT,
    TEXT,
)
CHANGES = st.builds(
    FileChange,
    st.sampled_from(Root),
    TEXT,
    st.sampled_from(["added", "changed", "removed", "retyped", "meta"]),
    st.none() | STATES,
    st.none() | STATES,
    st.sampled_from(["planted", "own", "other"]),
)
REQUESTS = st.builds(
    Request,
    seq=COUNT,
    t=SECONDS,
    service=TEXT,
    conn=COUNT,
    kind=st.sampled_from(["turn", "side", "probe", "beyond"]),
    method=TEXT,
    path=TEXT,
    headers=st.dictionaries(TEXT, TEXT, max_size=2),
    body_sha256=st.just("0" * 64),
    turn=st.none() | COUNT,
    attempt=COUNT,
    fault=st.none() | TEXT,
    status=COUNT,
    bytes_sent=COUNT,
    ended=st.sampled_from(["whole", "cut", "reset", "refused"]),
    tokens_in=COUNT,
    tokens_out=COUNT,
    model=st.none() | TEXT,
    secrets=st.lists(TEXT, max_size=2).map(tuple),
    tool_result=st.none() | TEXT,
    message=st.none() | TEXT,
)
ACTS = st.sampled_from(["on.run", "in.read", "below.write"])
NOTES = st.recursive(
    st.none() | st.booleans() | COUNT | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)


def rows(one: st.SearchStrategy[Any], size: int = 2) -> st.SearchStrategy[Any]:
    return st.lists(one, max_size=size).map(tuple)


@st.composite
def outputs(draw: st.DrawFn) -> Output:
    data, more = draw(BYTES), draw(st.integers(0, 9))
    return Output(data, len(data) + more, capped=more > 0)


FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "changes": rows(CHANGES),
    "paths": st.dictionaries(KEYS, st.none() | STATES, max_size=2),
    "contents": st.dictionaries(KEYS, BYTES, max_size=2),
    "sentinels": st.dictionaries(TEXT, st.tuples(st.booleans(), st.booleans()), max_size=2),
    "listed": st.frozensets(st.sampled_from(Root)),
    "requests": st.lists(REQUESTS, max_size=2, unique_by=lambda r: r.seq).map(
        lambda found: tuple(sorted(found, key=lambda r: r.seq))
    ),
    "stdout": outputs(),
    "stderr": outputs(),
    "processes": st.builds(
        Processes,
        st.booleans(),
        rows(st.tuples(SECONDS, rows(st.builds(Lingering, COUNT, COUNT, TEXT, rows(TEXT))))),
    ),
    "network": st.builds(
        Network,
        st.dictionaries(TEXT, COUNT, max_size=2),
        st.none() | COUNT,
        st.dictionaries(TEXT, COUNT, max_size=2),
        st.dictionaries(TEXT, COUNT, max_size=2),
        COUNT,
    ),
    "faults": rows(st.builds(FaultRecord, TEXT, TEXT, st.booleans(), st.booleans(), COUNT, TEXT)),
    "model": st.builds(ModelRecord, COUNT, COUNT, COUNT, COUNT),
    "ended_by": st.sampled_from(["exit", "signal", "deadline", "step", "oom", "lost"]),
    "exit_code": st.none() | st.integers(0, 255),
    "final_text": st.none() | TEXT,
    "secrets": st.none() | rows(st.builds(SecretHit, TEXT, TEXT, TEXT)),
    "own": rows(TEXT),
    "prices": st.dictionaries(TEXT, st.tuples(SECONDS, SECONDS), max_size=2),
    "timeline": rows(
        st.builds(
            Happening,
            SECONDS,
            st.sampled_from(["armed", "healed", "step", "started", "ended"]),
            TEXT,
            COUNT,
        )
    ),
    "attempts": st.dictionaries(
        TEXT, st.none() | st.dictionaries(ACTS, COUNT, max_size=2), max_size=2
    ),
    "clocks": st.builds(
        Clocks, st.none() | st.dictionaries(TEXT, COUNT, max_size=2), st.none() | SECONDS
    ),
    "notes": st.dictionaries(WORDS.map("x{}".format), NOTES, max_size=2),
}
EVIDENCE = st.fixed_dictionaries({}, optional=FIELDS).map(lambda drawn: Evidence(**drawn))


def test_every_field_is_drawn():
    assert FIELDS.keys() == {field.name for field in dataclasses.fields(Evidence)}


@settings(max_examples=25)
@given(EVIDENCE, st.sampled_from([NONE, SCREEN]))
def test_whatever_was_seen_is_read_back(evidence: Evidence, screen: Screen):
    seen = screened(evidence, screen)
    with TemporaryDirectory() as name:
        folder = Path(name)
        lines = "".join(map(request_line, reversed(seen.requests)))
        (folder / store.REQUESTS).write_text(lines)

        assert store.write_evidence(folder, seen, screen) == []
        assert store.load_evidence(folder) == seen


# -- the case that it is judged by

#: What a case can hold: no half of a surrogate pair, and in keys no NUL.
KEY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
SCALARS = WORDS | st.from_regex(r"[-+]?[0-9a-fox_.:eE+-]{1,6}", fullmatch=True)
PLAIN = st.recursive(
    SCALARS
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.booleans()
    | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEY.filter(lambda key: key != "<<"), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=60)
@given(PLAIN)
def test_a_case_means_what_it_meant(value: Any):
    """Two versions of YAML read the same text, and what looks like a number stays text."""
    with TemporaryDirectory() as name:
        store.write_case(Path(name), {"task": value}, NONE)

        assert yaml.read(Path(name) / store.CASE).data == {"task": value}


CASES = sorted(
    path
    for folder in ("cases", "tests/functional")
    for path in (ROOT / folder).rglob("*.yaml")
    if path.name != "suite.yaml" and path.read_text().startswith("case:")
)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_of_the_evidence_is_the_case_that_ran(path: Path, tmp_path: Path):
    for number, (variant, _) in enumerate(expand(load_case(path))):
        folder = tmp_path / str(number)
        store.write_case(folder, variant.document, NONE)

        again = read_case(folder, path, lambda data: data)

        ((alone, _),) = expand(again)
        assert meaning(alone) == meaning(variant)


def meaning(case: Case) -> Any:
    """All that a case says, but for where it says it."""

    def placeless(expected: Any) -> Any:
        return [dataclasses.replace(one, where=None) for one in expected]

    control = case.control and dataclasses.replace(
        case.control,
        expect=case.control.expect and placeless(case.control.expect),
        stimulus=case.control.stimulus and placeless(case.control.stimulus),
    )
    return dataclasses.replace(
        case,
        where=None,  # type: ignore[arg-type]
        document={},
        expect=placeless(case.expect),
        stimulus=placeless(case.stimulus),
        control=control,
    )
