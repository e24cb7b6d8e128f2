"""What the faults of the model make of a turn: to the byte, and what it means."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from harness.faults.base import Layer
from harness.services.model.protocols.registry import PROTOCOLS
from harness.services.reply import End, Turn, Wire
from tests.fixtures.faults.write import MODEL_FAULTS, TURN, hit, page, path, struck

protocols = pytest.mark.parametrize("protocol", PROTOCOLS)
streams = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
every_fault = pytest.mark.parametrize("name", MODEL_FAULTS)

TALK = Turn("Hé.", usage=(30, 7))
NEEDS_A_CALL = {
    "model.malformed-arguments",
    "model.unknown-tool",
    "model.duplicate-tool-id",
    "model.same-call",
}


def body(wire: Wire) -> bytes:
    return b"".join(part.data for part in wire.parts)


def made(name, protocol, stream, params=None, turn=TURN) -> Wire:
    wire, missed = struck(protocol, stream=stream, hits=[hit(name, params)], turn=turn)
    assert not missed
    return wire


def clean(protocol, stream, turn=TURN) -> Wire:
    return struck(protocol, stream=stream, hits=[], turn=turn)[0]


@pytest.mark.parametrize("name", [None, *MODEL_FAULTS])
def test_the_turn_is_what_the_file_shows(name):
    assert page(name) == path(name).read_text()


def test_every_file_shows_a_fault_that_there_is():
    shown = {found.stem for found in path(None).parent.glob("*.txt")}
    assert shown == {"clean", *(name.removeprefix("model.") for name in MODEL_FAULTS)}


@every_fault
def test_a_fault_says_what_it_is_and_what_it_takes(name):
    fault = MODEL_FAULTS[name]
    assert (fault.name, fault.layer, tuple(fault.needs)) == (name, Layer.MODEL, ())
    assert fault.summary.endswith(".")
    Draft202012Validator.check_schema(fault.schema)
    assert fault.schema["additionalProperties"] is False
    assert all("description" in each for each in fault.schema["properties"].values())


@every_fault
@protocols
@streams
def test_a_fault_changes_the_reply_or_says_that_it_missed(name, protocol, stream):
    for turn in (TURN, TALK):
        before = clean(protocol, stream, turn)
        after, missed = struck(protocol, stream=stream, hits=[hit(name)], turn=turn)
        if name == "model.same-call":  # what is wrong with it is that it comes again
            assert (after == before, bool(missed)) == (True, turn is TALK)
        else:
            assert (after == before) == bool(missed)
        needs_a_call = name in NEEDS_A_CALL or hit(name).fault.params.get("in_tool_call")
        assert bool(missed) == (bool(needs_a_call) and turn is TALK)


@every_fault
def test_a_fault_does_nothing_to_no_reply_and_breaks_on_none(name):
    MODEL_FAULTS[name].rewrite_wire(hit(name).fault.params, Wire())


@every_fault
@protocols
@streams
def test_a_fault_that_serves_sends_a_complete_reply(name, protocol, stream):
    wire = made(name, protocol, stream)
    if MODEL_FAULTS[name].serves:
        assert (wire.status, wire.head, wire.end) == (200, True, End.KEEP)
        assert not stream or wire.parts[-1].name == "terminator"
        assert not wire.headers.get("content-length")


@protocols
@streams
def test_malformed_arguments_are_no_json_in_a_reply_that_is(protocol, stream):
    wire = made("model.malformed-arguments", protocol, stream)
    if stream:
        pieces = [
            json.loads(p.data.partition(b"data: ")[2]) for p in wire.parts if p.name == "tool"
        ]
        if protocol == "anthropic":
            text = "".join(piece["delta"]["partial_json"] for piece in pieces)
        elif protocol == "chat":
            calls = [piece["choices"][0]["delta"]["tool_calls"][0] for piece in pieces]
            text = "".join(call["function"]["arguments"] for call in calls)
        else:
            text = pieces[-1]["arguments"]
    else:
        message = json.loads(body(wire))
        if protocol == "anthropic":
            text = message["content"][1]["input"]
        elif protocol == "chat":
            text = message["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
        else:
            text = message["output"][1]["arguments"]
    assert text == '{"command'


@protocols
@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_stream_is_cut_after_exactly_so_many_events(protocol, count):
    whole = clean(protocol, True)
    wire = made("model.truncate", protocol, True, {"after_events": count, "end": "close"})
    assert list(wire.parts) == list(whole.parts[:count])
    assert wire.end is End.CLOSE


@protocols
@streams
@pytest.mark.parametrize("count", [0, 1, 100, 200])
def test_a_body_is_cut_after_exactly_so_many_bytes(protocol, stream, count):
    whole = body(clean(protocol, stream))
    wire = made("model.truncate", protocol, stream, {"after_bytes": count})
    assert body(wire) == whole[:count]
    assert wire.end is End.RESET
    assert stream or wire.headers["content-length"] == str(len(whole))


@protocols
@streams
def test_a_cut_behind_the_end_has_missed(protocol, stream):
    size = len(body(clean(protocol, stream)))
    for params in ({"after_bytes": size}, {"after_events": 10**6}):
        if "after_bytes" in params or stream:
            wire, missed = struck(protocol, stream=stream, hits=[hit("model.truncate", params)])
            assert missed
            assert wire == clean(protocol, stream)


@protocols
def test_a_cut_in_a_tool_call_leaves_some_of_its_arguments(protocol):
    wire = made("model.truncate", protocol, True, {"in_tool_call": True})
    assert wire.parts[-1].name == "tool"
    assert b"ls -l" not in body(wire)
    whole = made("model.truncate", protocol, False, {"in_tool_call": True})
    assert body(whole).endswith(b":{" if protocol == "anthropic" else b'"arguments":"{')


def test_two_places_to_cut_at_are_refused():
    validator = Draft202012Validator(MODEL_FAULTS["model.truncate"].schema)
    assert validator.is_valid({"after_events": 1})
    assert not validator.is_valid({"after_events": 1, "in_tool_call": True})
    assert not validator.is_valid({"after_events": 1, "after_bytes": 1})


@pytest.mark.parametrize("value", ["1\r\nx: y", "1\n"])
def test_a_header_cannot_smuggle_in_another(value):
    validator = Draft202012Validator(MODEL_FAULTS["model.status"].schema)
    assert validator.is_valid({"headers": {"Retry-After": "1"}})
    assert not validator.is_valid({"headers": {"Retry-After": value}})


@protocols
@streams
def test_a_wrong_usage_that_never_shows_has_missed(protocol, stream):
    for name in ("model.wrong-usage", "model.missing-usage"):
        speaker = PROTOCOLS[protocol]
        heard = replace(speaker.hear(b"{}"), stream=stream, wants_usage=False)
        # The Chat protocol alone can leave usage out of a stream.
        _, missed = struck(protocol, stream=stream, hits=[hit(name)], heard=heard)
        assert bool(missed) == (protocol == "chat" and stream)


@protocols
@streams
def test_several_faults_hit_one_turn_in_their_order(protocol, stream):
    hits = [hit("model.unknown-tool"), hit("model.drip"), hit("model.slow-first-byte")]
    wire, missed = struck(protocol, stream=stream, hits=hits)
    assert not missed
    assert b"no_such_tool" in body(wire)
    assert wire.delay == 5.0
    assert wire.parts[1].delay == 0.5


def test_an_over_long_text_has_the_size_that_was_asked_for():
    wire = made("model.over-long", "chat", False, {"size": "1MiB"})
    text = json.loads(body(wire))["choices"][0]["message"]["content"]
    assert len(text.encode()) == 1 << 20


@protocols
@streams
def test_invalid_unicode_is_two_bytes_that_no_decoder_takes(protocol, stream):
    for turn in (TURN, replace(TURN, text=None)):
        data = body(made("model.invalid-unicode", protocol, stream, turn=turn))
        assert b"\xff\xfe" in data
        with pytest.raises(UnicodeDecodeError):
            data.decode()
        assert b'"command' in data or turn.text
