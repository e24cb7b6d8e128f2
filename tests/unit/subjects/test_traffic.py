"""The recorded traffic of real agents: whole, and free of anybody's words but ours."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TRAFFIC = Path(__file__).parents[2] / "fixtures" / "traffic"
AGENTS = {"claude-code": "/v1/messages?beta=true", "codex": "/v1/responses"}
SCENARIOS = {
    "cut-stream": 3,
    "duplicate-id": 2,
    "empty": None,
    "malformed-arguments": 2,
    "no-terminator": 3,
    "overloaded-always": None,
    "overloaded-once": 3,
    "refusal": None,
    "retry-after": 3,
    "three-turns": 3,
    "unknown-tool": 2,
}
RECORDINGS = sorted(TRAFFIC.glob("*/*.jsonl"))


def requests(recording: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in recording.read_text().splitlines()]


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def texts(value: Any) -> Iterator[str]:
    """Everything that a model would read as text."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in {"text", "content", "instructions"} and isinstance(inner, str):
                yield inner
            else:
                yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


@pytest.mark.parametrize("agent", AGENTS)
def test_every_scenario_is_recorded_for_every_agent(agent: str):
    recorded = {path.stem for path in RECORDINGS if path.parent.name.rpartition("-")[0] == agent}
    assert recorded == set(SCENARIOS)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_a_recording_holds_requests_of_its_agent(recording: Path):
    found = requests(recording)
    agent = recording.parent.name.rpartition("-")[0]
    assert {request["path"] for request in found} == {AGENTS[agent]}
    assert all(request["method"] == "POST" and request["body"]["tools"] for request in found)
    expected = SCENARIOS[recording.stem]
    assert expected is None or len(found) == expected


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_a_recording_holds_no_long_text_and_no_description(recording: Path):
    for request in requests(recording):
        tools = request["body"]["tools"]
        assert not [tool["name"] for tool in tools if isinstance(tool.get("description"), str)]
        long = [s for s in strings(request) if len(s) > 200 and not s.startswith("claude-code-2")]
        assert not [text[:60] for text in long]


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_texts_are_ours_or_counted(recording: Path):
    ours = re.compile(
        r"\[\d+ characters\]|do the task|Writing\.|Done\.|hello\s*|x|"
        r"I'm sorry, but I can't help with that\.|"
        r"\(Bash completed with no output\)|<tool_use_error>.*",
        re.DOTALL,
    )
    found = [text for request in requests(recording) for text in texts(request["body"])]
    assert found
    assert not [text for text in found if not ours.fullmatch(text)]


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_a_recording_holds_no_key_and_no_real_identifier(recording: Path):
    whole = recording.read_text()
    assert not re.search(r"sk-|Bearer|x-api-key|authorization", whole)
    assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{32}", whole)
