"""Turns of real agents' recorded traffic, and of odd traffic that agents were seen to send."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.case.model import Call, Fault, ScriptStep
from harness.case.reading import with_defaults
from harness.faults.base import ReplyFault
from harness.faults.registry import FAULTS
from harness.services.base import Hit, Incoming
from harness.services.model.service import ModelService
from harness.subjects.base import Dialect
from harness.subjects.registry import SUBJECTS

TRAFFIC = Path(__file__).parents[2] / "fixtures" / "traffic"
AGENTS = {"claude-code": "claude-code-2.1.332", "codex": "codex-0.171.0"}
STEPS = [
    ScriptStep(say="one", calls=[Call("run", args={"command": "ls"})]),
    ScriptStep(say="two", calls=[Call("run", args={"command": "ls"})]),
    ScriptStep(say="three"),
]

agents = pytest.mark.parametrize("agent", AGENTS)


def recorded(agent, scenario):
    """One request on a line: ``{method, path, headers, body}``."""
    lines = (TRAFFIC / AGENTS[agent] / f"{scenario}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def hits(name, **params):
    if name is None:
        return []
    injector = FAULTS[name]
    assert isinstance(injector, ReplyFault)
    filled = with_defaults(injector.schema, params)
    return [Hit(Fault("f", name, params=filled), injector)]


class Trial:
    """A model, and requests that come one after the other."""

    def __init__(self, agent=None, script=STEPS, dialect=None):
        self.service = ModelService(script, SUBJECTS[agent].dialect if agent else dialect)

    def play(self, request, fault=None, **params):
        body = json.dumps(request["body"]).encode()
        incoming = Incoming(1, request["method"], request["path"], request["headers"], body)
        asked = self.service.classify(incoming)
        answer = self.service.answer(incoming, asked, hits(fault, **params) if asked.counts else ())
        self.service.ended(answer, "whole" if answer.serves else "cut")
        assert answer.kind == asked.kind
        return answer

    def chat(self, *messages, tools=True, **more):
        offered = [{"type": "function", "function": {"name": "bash", "parameters": {}}}]
        body = {"model": "m", "messages": list(messages), "tools": offered if tools else [], **more}
        return self.play(
            {"method": "POST", "path": "/v1/chat/completions", "headers": {}, "body": body}
        )


@agents
@pytest.mark.parametrize(
    ("scenario", "faults", "turns"),
    [
        ("three-turns", [None, None, None], [0, 1, 2]),
        ("overloaded-once", ["model.status", None, None], [0, 0, 1]),
        ("retry-after", ["model.status", None, None], [0, 0, 1]),
        ("cut-stream", ["model.truncate", None, None], [0, 0, 1]),
        ("no-terminator", ["model.truncate", None, None], [0, 0, 1]),
        ("unknown-tool", ["model.unknown-tool", None], [0, 1]),
        ("malformed-arguments", ["model.malformed-arguments", None], [0, 1]),
        ("duplicate-id", ["model.duplicate-tool-id", None], [0, 1]),
    ],
)
def test_an_agent_gets_each_turn_until_it_has_been_served(agent, scenario, faults, turns):
    trial = Trial(agent)
    requests = recorded(agent, scenario)
    assert len(requests) == len(faults)
    answers = [
        trial.play(request, fault, **({"in_tool_call": True} if fault == "model.truncate" else {}))
        for request, fault in zip(requests, faults, strict=True)
    ]
    assert [answer.turn for answer in answers] == turns
    assert {answer.kind for answer in answers} == {"turn"}
    assert not any(answer.missed for answer in answers)
    tally = trial.service.tally()
    assert (tally.turns, tally.served) == (len(turns), len(set(turns)))


@agents
def test_a_permanent_overload_is_one_turn_with_many_attempts(agent):
    trial = Trial(agent)
    requests = recorded(agent, "overloaded-always")
    answers = [trial.play(request, "model.status", status=529) for request in requests]
    assert [answer.turn for answer in answers] == [0] * len(requests)
    assert [answer.attempt for answer in answers] == list(range(1, len(requests) + 1))
    assert (trial.service.tally().served, trial.service.tally().left) == (0, 3)


@agents
def test_the_last_result_of_an_agents_shell_is_heard(agent):
    calls = [Call("run", args={"command": "x"})]
    script = [ScriptStep(calls=calls), ScriptStep(say="no", when="never"), ScriptStep(say="yes")]
    trial = Trial(agent, script)
    requests = recorded(agent, "three-turns")
    assert [trial.play(request).turn for request in requests[:2]] == [0, 2]
    assert trial.play(requests[2]).kind == "beyond"
    assert trial.play(requests[2]).tool_result


def calls_made(agent, *calls):
    answer = Trial(agent, [ScriptStep(calls=calls)]).play(recorded(agent, "three-turns")[0])
    sent = b"".join(part.data for part in answer.wire.parts).decode()
    events = [json.loads(line[6:]) for line in sent.splitlines() if line.startswith("data: ")]
    if agent == "codex":
        done = next(e for e in events if e["type"] == "response.completed")
        return [(i["name"], json.loads(i["arguments"])) for i in done["response"]["output"]]
    names = [e["content_block"]["name"] for e in events if e["type"] == "content_block_start"]
    texts = [""] * len(names)
    for event in events:
        if event["type"] == "content_block_delta":
            texts[event["index"]] += event["delta"]["partial_json"]
    return list(zip(names, map(json.loads, texts), strict=True))


CALLS = (
    Call("run", args={"command": "ls 'a b'"}),
    Call("write", args={"path": "a.txt", "text": "it's\n"}),
    Call("read", args={"path": "a.txt"}),
)


def test_claude_code_gets_its_own_tools():
    assert calls_made("claude-code", *CALLS) == [
        ("Bash", {"command": "ls 'a b'"}),
        ("Write", {"file_path": "/workspace/a.txt", "content": "it's\n"}),
        ("Read", {"file_path": "/workspace/a.txt"}),
    ]


def test_codex_gets_its_shell_for_all_three():
    assert calls_made("codex", *CALLS) == [
        ("exec_command", {"cmd": "ls 'a b'"}),
        ("exec_command", {"cmd": "printf %s 'it'\"'\"'s\n' > a.txt"}),
        ("exec_command", {"cmd": "cat -- a.txt"}),
    ]


@agents
def test_what_an_agent_offers_is_enough_without_its_dialect(agent):
    script = [ScriptStep(calls=[Call("run", args={"command": "ls"})])]
    answer = Trial(script=script).play(recorded(agent, "three-turns")[0])
    sent = b"".join(part.data for part in answer.wire.parts)
    assert (b'"name":"Bash"' if agent == "claude-code" else b'"name":"exec_command"') in sent


USER = {"role": "user", "content": "go"}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "bash", "arguments": "{"}}],
}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "Tool execution aborted"}


def test_an_aborted_call_in_the_history_skips_no_turn():
    trial = Trial()
    first = {"method": "POST", "path": "/chat/completions", "headers": {}}
    body = {"model": "m", "messages": [USER], "stream": True, "tools": [{"name": "bash"}]}
    assert trial.play({**first, "body": body}, "model.truncate", in_tool_call=True).turn == 0
    assert trial.chat(USER, CALL, RESULT).turn == 0
    assert trial.chat(USER, CALL, RESULT, CALL, RESULT).turn == 1


def test_results_flattened_into_the_users_text_skip_and_repeat_no_turn():
    trial = Trial()
    flat = {"role": "user", "content": [{"type": "text", "text": "Observation: 42"}]}
    turns = [trial.chat(USER, *[flat] * count).turn for count in range(3)]
    assert turns == [0, 1, 2]


def test_examples_of_an_assistant_in_the_prompt_skip_no_turn():
    trial = Trial(script=STEPS)
    example = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    assert trial.chat(*example * 3, USER, tools=False).turn == 0


def test_a_title_before_the_first_turn_and_a_summary_at_the_end_use_nothing_up():
    trial = Trial(dialect=Dialect(offers_tools=True))
    assert trial.chat({"role": "system", "content": "Write a title"}, tools=False).kind == "side"
    assert trial.chat(USER).turn == 0
    assert trial.chat(USER, tools=False).kind == "side"
    assert [trial.chat(USER, CALL).turn, trial.chat(USER, CALL, RESULT).turn] == [1, 2]
    assert trial.chat(USER, CALL, RESULT, tools=False).kind == "side"
    assert trial.chat(USER, CALL, CALL).kind == "beyond"


def test_a_history_that_was_compacted_goes_on_with_the_next_turn():
    trial = Trial()
    assert trial.chat(USER).turn == 0
    assert trial.chat(USER, CALL, RESULT).turn == 1
    assert trial.chat({"role": "user", "content": "Summary so far: nothing."}).turn == 2
