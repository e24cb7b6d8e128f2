"""Whatever a case file says, it is a case or it is refused; nothing else happens."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.case.errors import CaseErrors
from harness.case.load import case_of
from harness.case.model import Case
from harness.case.tables import Tables, installed
from harness.case.yaml import Document, parse
from tests.unit.case.bad import BAD
from tests.unit.case.examples import EXAMPLE, TABLES

HERE = Path(__file__)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "start", "always", "codex", "command", "1s", "a", "~", "\0", "{x}", "("])
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "home", "path", "a", "with", "each", ""]), inner)
    ),
    max_leaves=6,
)
WHOLE: dict[str, Any] = {
    **parse(EXAMPLE, "x").data,
    "known": [
        {"subject": "codex", "version": ">=1", "breaks": ["home"], "because": "b", "since": "s"}
    ],
    "quarantine": {"owner": "o", "reason": "r", "until": "2031-12-31"},
    "prices": {"m": {"input": 1, "output": 2}},
    "workspace": {"files": {"a": {"text": "x", "mode": "0644"}}, "mount": {"./x": "/opt/x"}},
    "faults": [
        {"fault": "model.status", "each": {"status": [1, 2]}, "until": {"after": "1s"}},
        {"fault": "model.truncate", "with": {"after_events": 1}, "when": {"request": 1}},
    ],
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner: list[tuple[Any, Any]] = list(value.items()) if isinstance(value, dict) else []
    inner = list(enumerate(value)) if isinstance(value, list) else inner
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy


REAL: dict[str, Any] = {
    "case": "x",
    "subject": {"claude-code": {}},
    "services": {"http": {"up": [{"on": "GET /", "reply": {"json": [1]}, "times": 1}]}},
    "secrets": ["A"],
    "expect": [
        {"home": {"untouched": True, "allow": ["**"]}},
        {"files": {"root": "home", "changed_only": ["a"]}},
        {"file": {"path": "~/a", "matches": "x", "mode": "0644"}},
        {"exit": [0, 1]},
        {"output": {"stream": "stderr", "lacks": "x"}},
        {"processes": {"left": 0, "after": "1s"}},
        {"network": {"beyond_services": 0, "names": ["*.x"]}},
        {"requests": {"service": "up", "exactly": 1, "path": "/**", "kind": "all"}},
        {"spend": {"usd_at_most": 1}},
        {"secrets": {"absent": True, "except": ["model"]}},
        {"claims": {"says": "done", "yet": {"file": {"path": "a", "equals": "b"}}}},
    ],
    "faults": [
        {"fault": "model.status", "with": {"status": 429, "headers": {"a": "b"}}},
        {"fault": "network.latency", "with": {"service": "up", "delay": "1s"}},
        {"fault": "filesystem.full", "with": {"free": "64KiB"}},
        {"fault": "clock.set", "with": {"at": "2031-01-01T00:00:00Z"}},
    ],
}


def load(data: Any, tables: Tables = TABLES) -> Case:
    return case_of(Document("x.yaml", data, {}, {}), HERE, tables)


@given(st.sampled_from(places(WHOLE)), VALUES)
@settings(max_examples=600, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_a_case_with_anything_anywhere_is_a_case_or_refused(place: tuple[Any, ...], value: Any):
    with contextlib.suppress(CaseErrors):
        assert isinstance(load(changed(WHOLE, place, value)), Case)


@given(st.sampled_from(places(REAL)), VALUES | st.sampled_from(["..", "/", "a//b", "[", "a["]))
@settings(max_examples=600, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_no_extension_breaks_on_anything_its_schema_lets_pass(place: tuple[Any, ...], value: Any):
    assert load(REAL, installed()).expect
    with contextlib.suppress(CaseErrors):
        assert isinstance(load(changed(REAL, place, value), installed()), Case)


@given(st.dictionaries(st.sampled_from([*WHOLE, "schema", "nope"]), VALUES))
@settings(max_examples=300, deadline=None)
def test_any_map_is_a_case_or_refused(data: dict[str, Any]):
    with contextlib.suppress(CaseErrors):
        assert isinstance(load({"case": "x", "subject": "codex", **data}), Case)


@given(st.sampled_from([EXAMPLE, *(bad.clean for bad in BAD)]), st.data())
@settings(max_examples=400, deadline=None)
def test_a_file_with_some_characters_gone_is_a_case_or_refused(text: str, data: st.DataObject):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 12)))
    with contextlib.suppress(CaseErrors):
        case_of(parse(text[:start] + text[end:], "x.yaml"), HERE, TABLES)
