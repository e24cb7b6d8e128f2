"""What the protocols make of a turn and of a request."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.case.model import Call, ScriptStep
from harness.services.base import Incoming
from harness.services.model.heard import Heard, NotHeard
from harness.services.model.ids import Ids
from harness.services.model.press import Press
from harness.services.model.protocols.base import Stamp, Trouble, encode
from harness.services.model.protocols.registry import PROTOCOLS, below_root, protocol_for
from harness.services.model.service import ModelService
from harness.services.reply import ToolCall, Turn
from tests.fixtures.faults.write import hit

protocols = pytest.mark.parametrize("protocol", PROTOCOLS)
streams = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
STAMP = Stamp("0001", 1700000000)
TEXT = st.text(st.characters(codec="utf-8"), max_size=100)
ARGUMENTS = st.dictionaries(TEXT, st.one_of(TEXT, st.integers(), st.booleans()), max_size=4)


def body(wire) -> bytes:
    return b"".join(part.data for part in wire.parts)


def events(wire):
    """Data of the events, each checked for its frame."""
    found = []
    for part in wire.parts:
        text = part.data.decode()
        assert text.endswith("\n\n")
        assert text.count("\n") == (3 if text.startswith("event: ") else 2)
        data = text.rpartition("data: ")[2]
        if not data.startswith("[DONE]"):
            found.append(json.loads(data))
    return found


def told(protocol, wire, stream):
    """Text, and names and arguments of the calls, put together from a reply."""
    if not stream:
        return whole(protocol, json.loads(body(wire)))
    found = events(wire)
    if protocol == "responses":
        deltas = [e["delta"] for e in found if e["type"].endswith("text.delta")]
        final = whole(protocol, found[-1]["response"])
        assert "".join(deltas) == final[0]
        return final
    text, calls = "", {}
    for data in found:
        if protocol == "anthropic":
            if data["type"] == "content_block_start" and "name" in data["content_block"]:
                calls[data["index"]] = [data["content_block"]["name"], ""]
            delta = data.get("delta", {})
            text += delta.get("text", "")
            if "partial_json" in delta:
                calls[data["index"]][1] += delta["partial_json"]
        else:
            delta = data["choices"][0]["delta"]
            text += delta.get("content") or ""
            for call in delta.get("tool_calls", ()):
                made = calls.setdefault(call["index"], ["", ""])
                made[0] += call["function"].get("name", "")
                made[1] += call["function"]["arguments"]
    return text, [(name, json.loads(arguments)) for name, arguments in calls.values()]


def whole(protocol, reply):
    if protocol == "anthropic":
        text = "".join(b["text"] for b in reply["content"] if b["type"] == "text")
        return text, [(b["name"], b["input"]) for b in reply["content"] if b["type"] == "tool_use"]
    if protocol == "chat":
        message = reply["choices"][0]["message"]
        calls = [call["function"] for call in message.get("tool_calls", ())]
        return message["content"] or "", [(c["name"], json.loads(c["arguments"])) for c in calls]
    items = reply["output"]
    text = "".join(i["content"][0]["text"] for i in items if i["type"] == "message")
    calls = [i for i in items if i["type"] == "function_call"]
    return text, [(c["name"], json.loads(c["arguments"])) for c in calls]


@protocols
@streams
@given(text=st.none() | TEXT, calls=st.lists(ARGUMENTS, max_size=3))
def test_any_turn_can_be_put_together_again(protocol, stream, text, calls):
    made = tuple(
        ToolCall(f"id{at}", f"tool{at}", json.dumps(each)) for at, each in enumerate(calls)
    )
    heard = Heard(protocol, stream=stream, wants_usage=False)
    wire = PROTOCOLS[protocol].render(heard, Turn(text, made, "tools"), STAMP)
    expected = [(f"tool{at}", each) for at, each in enumerate(calls)]
    assert told(protocol, wire, stream) == (text or "", expected)


@protocols
@streams
@given(text=TEXT, arguments=ARGUMENTS)
def test_a_reply_from_the_press_is_the_reply_rendered_anew(protocol, stream, text, arguments):
    ids, speaker = Ids(), PROTOCOLS[protocol]
    press, heard = Press(ids), Heard(protocol, stream=stream)
    calls = tuple(
        ToolCall(ids.token(speaker.call_prefix, at), "bash", json.dumps(arguments))
        for at in range(2)
    )
    turn = Turn(text, calls, usage=(1, 2))
    replies = [press.wire(speaker, heard, turn) for _ in range(3)]
    for number, wire in enumerate(replies):
        message, *made = [f"{number * 3 + at:024d}" for at in (1, 2, 3)]
        fresh = replace(
            turn,
            calls=tuple(
                replace(call, id=speaker.call_prefix + new)
                for call, new in zip(calls, made, strict=True)
            ),
        )
        anew = speaker.render(heard, fresh, Stamp(message, ids.created))
        assert list(wire.parts) == list(anew.parts)
        assert wire.headers == anew.headers
    assert ids.template.id.encode() not in b"".join(map(body, replies))


def test_the_press_forgets_what_is_old():
    ids = Ids()
    press = Press(ids)
    for at in range(1000):
        press.wire(PROTOCOLS["chat"], Heard("chat"), Turn(str(at)))
    assert len(press._plates) <= 256


@protocols
def test_every_id_of_a_stream_belongs_together(protocol):
    turn = Turn("x", (ToolCall("call_7", "t", "{}"),))
    wire = PROTOCOLS[protocol].render(Heard(protocol, stream=True), turn, STAMP)
    found = events(wire)
    if protocol == "responses":
        assert [e["sequence_number"] for e in found] == list(range(len(found)))
        items = {e["item_id"] for e in found if "item_id" in e}
        assert items == {i["id"] for i in found[-1]["response"]["output"]}
    elif protocol == "chat":
        assert {e["id"] for e in found} == {"chatcmpl-0001"}


@protocols
@pytest.mark.parametrize(
    ("neutral", "words"),
    [
        ("end", ("end_turn", "stop", "completed")),
        ("tools", ("tool_use", "tool_calls", "completed")),
        ("length", ("max_tokens", "length", "incomplete")),
        ("refusal", ("refusal", "stop", "completed")),
        ("pause_turn", ("pause_turn", "pause_turn", "completed")),
    ],
)
def test_a_stop_is_said_in_the_protocols_own_word(protocol, neutral, words):
    turn = Turn("x", stop=neutral)
    reply = json.loads(body(PROTOCOLS[protocol].render(Heard(protocol), turn, STAMP)))
    expected = dict(zip(("anthropic", "chat", "responses"), words, strict=True))[protocol]
    if protocol == "anthropic":
        assert reply["stop_reason"] == expected
    elif protocol == "chat":
        assert reply["choices"][0]["finish_reason"] == expected
    else:
        assert reply["status"] == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
NAMES = st.sampled_from(
    ["messages", "input", "tools", "stream", "stream_options", "response_format", "text", "system",
     "output_config", "functions", "instructions", "model"]
)  # fmt: skip


@protocols
@given(asked=st.dictionaries(NAMES, JSON))
def test_any_object_can_be_heard(protocol, asked):
    sent = json.dumps(asked).encode()
    heard = PROTOCOLS[protocol].hear(sent)
    assert heard.size == len(sent)
    assert isinstance(PROTOCOLS[protocol].prompt(sent), str)
    PROTOCOLS[protocol].render(heard, Turn("x"), STAMP)


@protocols
@given(sent=st.binary(max_size=20) | JSON.map(lambda each: json.dumps([each]).encode()))
def test_anything_else_is_not_heard(protocol, sent):
    try:
        fine = isinstance(json.loads(sent.decode()), dict)
    except ValueError:
        fine = False
    if not fine:
        with pytest.raises(NotHeard):
            PROTOCOLS[protocol].hear(sent)


def test_results_are_heard_in_every_protocol():
    said = {
        "anthropic": {
            "messages": [
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1",
                 "content": [{"type": "text", "text": "a"}, {"type": "image"}]}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "2",
                 "content": "b"}, {"type": "text", "text": "and?"}]},
            ]
        },
        "chat": {
            "messages": [
                {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "a"}]},
                {"role": "function", "name": "2", "content": "b"},
            ]
        },
        "responses": {
            "input": [
                {"type": "function_call_output", "call_id": "1",
                 "output": [{"type": "input_text", "text": "a"}]},
                {"type": "custom_tool_call_output", "call_id": "2", "output": "b"},
            ]
        },
    }  # fmt: skip
    for protocol, asked in said.items():
        heard = PROTOCOLS[protocol].hear(json.dumps(asked).encode())
        assert [(r.call_id, r.text) for r in heard.results] == [("1", "a"), ("2", "b")]
        assert heard.last_result == "b"


def test_what_is_unknown_is_noted():
    asked = {"messages": [{"role": "ghost", "content": [{"type": "smell"}]}],
             "input": [{"type": "smell"}]}  # fmt: skip
    sent = json.dumps(asked).encode()
    assert PROTOCOLS["anthropic"].hear(sent).unknown == ("content 'smell'", "role 'ghost'")
    assert PROTOCOLS["chat"].hear(sent).unknown == ("role 'ghost'",)
    assert PROTOCOLS["responses"].hear(sent).unknown == ("item 'smell'",)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/messages", "anthropic"),
        ("/v1/messages/?x=/responses", "anthropic"),
        ("/messages", "anthropic"),
        ("/anthropic/v1/messages", "anthropic"),
        ("/v1/chat/completions", "chat"),
        ("/openai/chat/completions", "chat"),
        ("/api/v1/responses", "responses"),
        ("/v1/messages/count_tokens", None),
        ("/v1/threads/7/messages", None),
        ("/v1/responses/resp_1", None),
        ("/v1/completions", None),
        ("//messages", None),
        ("/", None),
    ],
)
def test_a_path_is_that_of_one_protocol_or_of_none(path, name):
    found = protocol_for(path)
    assert (found.name if found else None) == name


def test_what_is_below_a_clients_base_is_found():
    assert below_root("/v1/models?limit=1") == "/models"
    assert below_root("/openai/v1/models/x") == "/models/x"
    assert below_root("/models") == "/models"
    assert below_root("/api/hello") == "/hello"


@pytest.mark.parametrize(
    ("status", "text"), [(429, "Too Many Requests"), (529, "Overloaded"), (599, "Status 599")]
)
def test_an_error_without_a_message_says_its_status(status, text):
    assert Trouble(status).text == text


def test_stray_bytes_and_lone_surrogates_can_be_sent():
    assert encode("\udcff\udcfeé") == b"\xff\xfe\xc3\xa9"
    assert encode("\ud800x") == b"?x"


def ask(service, *hits, **more):
    sent = json.dumps({"model": "m", "messages": [], **more}).encode()
    incoming = Incoming(1, "POST", "/v1/chat/completions", {}, sent)
    answer = service.answer(incoming, service.classify(incoming), hits)
    service.ended(answer, "whole")
    return answer, len(sent)


def test_tokens_are_the_steps_usage_or_one_for_every_four_bytes():
    service = ModelService(
        [
            ScriptStep(say="1234é", calls=[Call("call", "t", {"a": 1})]),
            ScriptStep(say="x", usage={"input": 7, "output": 8}),
        ]
    )
    answer, size = ask(service)
    assert (answer.tokens_in, answer.tokens_out) == (-(-size // 4), 4)  # 6 and 7 bytes
    answer, size = ask(service)
    assert (answer.tokens_in, answer.tokens_out) == (7, 8)
    assert service.spent() == {"m": (7 - (-size // 4), 12)}


@pytest.mark.parametrize(
    ("name", "params", "counted"),
    [
        ("model.wrong-usage", None, 25),  # what is reported does not matter
        ("model.over-long", {"size": 1000}, 250),
        ("model.false-done", {"text": "Done"}, 1),
        ("model.clean-end", None, 25),
    ],
)
def test_tokens_are_counted_of_what_was_said_in_the_end(name, params, counted):
    service = ModelService([ScriptStep(say="x" * 100)])
    assert ask(service, hit(name, params))[0].tokens_out == counted


@pytest.mark.parametrize("name", ["model.status", "model.hang", "model.reset"])
def test_what_was_never_answered_costs_nothing(name):
    service = ModelService([ScriptStep(say="x" * 100)])
    answer, _ = ask(service, hit(name))
    assert (answer.tokens_in, answer.tokens_out, service.spent()) == (0, 0, {"m": (0, 0)})


def test_a_hit_on_a_request_that_turns_out_to_be_no_turn_has_missed():
    service = ModelService([ScriptStep(say="x")])
    waiting = [Incoming(1, "POST", "/messages", {}, b'{"n": %d}' % at) for at in range(2)]
    first, second = [service.classify(incoming) for incoming in waiting]
    service.answer(waiting[0], first, ())
    answer = service.answer(waiting[1], second, [hit("model.status")])
    assert (answer.kind, answer.missed) == ("beyond", frozenset({"model.status"}))


def test_classifying_changes_nothing():
    service = ModelService([ScriptStep(say="x")])
    incoming = Incoming(1, "POST", "/messages", {}, b'{"tools": [{"name": "t"}]}')
    before = service.tally()
    kinds = [service.classify(incoming).kind for _ in range(3)]
    assert kinds == ["turn"] * 3
    assert service.tally() == before


def test_a_request_that_waited_gets_what_is_left_when_it_is_answered():
    service = ModelService([ScriptStep(say="x"), ScriptStep(say="y")])
    waiting = [Incoming(1, "POST", "/messages", {}, b'{"n": %d}' % at) for at in range(3)]
    asked = [service.classify(incoming) for incoming in waiting]
    answers = [service.answer(i, a, ()) for i, a in zip(waiting, asked, strict=True)]
    assert [(answer.kind, answer.turn) for answer in answers] == [
        ("turn", 0),
        ("turn", 1),
        ("beyond", None),
    ]
