"""A turn whose end was missing, and whose calls the agent ran all the same.

Both recorded agents run a call as soon as it has come in whole. Where the stream then ends
without its terminator, they ask again with the call and its result in their history.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.case.model import Call, Fault, ScriptStep
from harness.faults.registry import FAULTS
from harness.services.base import Answer, Hit, Incoming
from harness.services.model.service import ModelService
from harness.subjects.registry import SUBJECTS

TRAFFIC = Path(__file__).parents[2] / "fixtures" / "traffic"
AGENTS = {"claude-code": "claude-code-2.1.332", "codex": "codex-0.171.0"}
SCRIPT = [ScriptStep(calls=[Call("run", args={"command": "date"})]), ScriptStep(say="Done.")]

agents = pytest.mark.parametrize("agent", AGENTS)


def recorded(agent: str) -> Mapping[str, Any]:
    first = (TRAFFIC / AGENTS[agent] / "three-turns.jsonl").read_text().splitlines()[0]
    request: Mapping[str, Any] = json.loads(first)
    return request


def ask(service: ModelService, agent: str, ids: Sequence[str] = (), fault: str = "") -> Answer:
    """Send the recorded first request, with the results of calls as that agent adds them."""
    request = recorded(agent)
    body = json.loads(json.dumps(request["body"]))
    for each in ids:
        if agent == "codex":
            result = {"type": "function_call_output", "call_id": each, "output": "today"}
            body["input"] += [result]
        else:
            result = {"type": "tool_result", "tool_use_id": each, "content": "today"}
            body["messages"] += [{"role": "user", "content": [result]}]
    incoming = Incoming(
        1, request["method"], request["path"], request["headers"], json.dumps(body).encode()
    )
    injector: Any = FAULTS[fault] if fault else None
    params = {"end": "reset", "in_tool_call": True} if fault == "model.truncate" else {}
    hits = [Hit(Fault("f", fault, params=params), injector)] if fault else []
    answer = service.answer(incoming, service.classify(incoming), hits)
    service.ended(answer, "whole")
    return answer


def call_ids(answer: Answer) -> list[str]:
    sent = b"".join(part.data for part in answer.wire.parts).decode()
    return sorted(set(re.findall(r'"(?:call_id|id)":\s*"((?:toolu|call)_[^"]+)"', sent)))


def model(agent: str) -> ModelService:
    return ModelService(SCRIPT, SUBJECTS[agent].dialect)


@agents
def test_a_call_that_was_run_is_not_said_again(agent: str):
    service = model(agent)
    ids = call_ids(ask(service, agent, fault="model.clean-end"))
    assert len(ids) == 1
    assert ask(service, agent, ids).turn == 1
    assert (service.tally().served, service.tally().left) == (2, 0)


@agents
def test_a_call_that_was_not_run_is_said_again(agent: str):
    service = model(agent)
    ask(service, agent, fault="model.clean-end")
    again = ask(service, agent)
    assert (again.turn, again.attempt) == (0, 2)
    assert ask(service, agent, call_ids(again)).turn == 1


@agents
def test_a_call_that_was_cut_off_is_said_again_whatever_the_agent_shows(agent: str):
    service = model(agent)
    ids = call_ids(ask(service, agent, fault="model.truncate"))
    assert ask(service, agent, ids).turn == 0


@agents
def test_a_call_that_the_model_repeats_on_purpose_is_said_again(agent: str):
    service = model(agent)
    ids = call_ids(ask(service, agent, fault="model.same-call"))
    assert len(ids) == 1
    assert ask(service, agent, ids).turn == 0


@agents
def test_the_result_of_an_earlier_attempt_counts_too(agent: str):
    service = model(agent)
    first = call_ids(ask(service, agent, fault="model.clean-end"))
    ask(service, agent, fault="model.clean-end")
    assert ask(service, agent, first).turn == 1
