"""What no client library shows: probes, odd requests, and faults to the byte on a socket."""

from __future__ import annotations

import json
import struct

import pytest

from harness.case.model import Call, ScriptStep
from harness.subjects.base import Dialect
from sandboxes import clock

TOOLS = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]
CHAT = {"model": "m", "messages": [{"role": "user", "content": "go"}], "tools": TOOLS}
SCRIPT = [ScriptStep(say="one", calls=[Call("call", "bash", {"command": "x"})])]
PATHS = {
    "/v1/messages?beta=true": "anthropic",
    "/messages": "anthropic",
    "/v1/chat/completions": "chat",
    "/chat/completions?api-version=1": "chat",
    "/openai/v1/responses": "responses",
    "/responses": "responses",
}


@pytest.mark.parametrize("path", PATHS)
def test_a_completion_is_found_with_and_without_a_version_and_a_query(serve, path):
    served = serve([ScriptStep(say="one")])
    status, _, body = served.ask("POST", path, CHAT)
    assert status == 200
    assert '"one"' in body.decode()
    assert served.kinds(1) == ["turn"]


def test_probes_are_answered_and_use_nothing_up(serve):
    served = serve(SCRIPT)
    served.fault("model.status")
    assert served.ask("HEAD", "/")[0] == 200
    assert served.ask("HEAD", "/api/hello")[0] == 200
    status, _, body = served.ask("GET", "/nothing/here?x=1")
    assert (status, json.loads(body)["error"]["message"]) == (
        404,
        "Nothing is served at /nothing/here.",
    )
    assert served.ask("POST", "/v1/embeddings", {})[0] == 404
    assert served.ask("GET", "/v1/chat/completions")[0] == 405
    listing = json.loads(served.ask("GET", "/models")[2])
    assert (listing["object"], listing["data"][0]["id"]) == ("list", "shakeout")
    listing = json.loads(served.ask("GET", "/v1/models", headers={"anthropic-version": "1"})[2])
    assert (listing["has_more"], listing["data"][0]["type"]) == (False, "model")
    assert served.kinds(7) == ["probe"] * 7
    assert served.live.hits("model.status") == 0
    assert served.live.model().turns == 0


def test_a_web_socket_is_refused_in_the_way_that_makes_codex_fall_back(serve):
    served = serve(SCRIPT)
    upgrade = {"upgrade": "websocket", "sec-websocket-key": "eA==", "sec-websocket-version": "13"}
    assert served.ask("GET", "/v1/responses", headers=upgrade)[0] == 426


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions", "/v1/responses"])
@pytest.mark.parametrize("body", [b"{", b"[1]", b"\xff", b"", b"[" * 9999])
def test_a_body_that_is_no_object_gets_an_error_in_the_protocols_shape(serve, path, body):
    served = serve(SCRIPT)
    head = f"POST {path} HTTP/1.1\r\nhost: m\r\nconnection: close\r\ncontent-length: {len(body)}"
    with served.send(head.encode() + b"\r\n\r\n" + body) as sock:
        reply, _ = served.drain(sock)
    assert reply.startswith(b"HTTP/1.1 400 ")
    error = json.loads(reply.partition(b"\r\n\r\n")[2])["error"]
    assert error["type"] == "invalid_request_error"
    assert served.kinds(1) == ["probe"]


def test_unknown_roles_types_and_shapes_are_accepted(serve):
    odd = {
        "model": 7,
        "stream": "yes",
        "messages": [
            {"role": "system", "content": [{"type": "thought"}]},
            {"role": "ghost", "content": {"type": "x"}},
            {"content": None},
            "no message",
        ],
        "input": [{"type": "compaction"}, 3],
        "tools": [{"type": "web_search"}, {"function": 3}, 4, {"name": "n", "input_schema": 5}],
        "stream_options": [],
        "response_format": "json",
        "output_config": 1,
        "text": 1,
    }
    for path in PATHS:
        assert serve().ask("POST", path, odd)[0] == 200


def test_a_title_asked_for_first_is_a_side_request_where_the_agent_offers_tools(serve):
    served = serve(SCRIPT, Dialect(offers_tools=True))
    asked = {"messages": [{"role": "system", "content": "Write a short title."}]}
    title = json.loads(served.ask("POST", "/v1/chat/completions", asked)[2])
    assert title["choices"][0]["message"]["content"] == "Scripted task"
    served.ask("POST", "/v1/chat/completions", CHAT)
    assert served.kinds(2) == ["side", "turn"]
    record = served.live.model()
    assert (record.turns, record.served, record.left) == (1, 1, 0)


def test_a_raw_body_is_sent_as_it_is(serve):
    served = serve([ScriptStep(raw='{"odd": ["é"]}'), ScriptStep(raw="data: nonsense\n\n")])
    _, headers, body = served.ask("POST", "/v1/responses", CHAT)
    assert (headers["content-type"], body) == ("application/json", '{"odd": ["é"]}'.encode())
    _, headers, body = served.ask("POST", "/v1/responses", {**CHAT, "stream": True})
    assert headers["content-type"].startswith("text/event-stream")
    assert body == b"10\r\ndata: nonsense\n\n\r\n0\r\n\r\n"


def test_a_truncated_body_promises_more_than_it_sends(serve):
    served = serve(SCRIPT)
    served.fault("model.truncate", {"after_bytes": 10, "end": "close"})
    _, headers, body = served.ask("POST", "/v1/chat/completions", CHAT)
    assert (len(body), int(headers["content-length"]) > 10) == (10, True)
    whole = served.ask("POST", "/v1/chat/completions", CHAT)[2]
    assert len(whole) == int(headers["content-length"])
    assert served.live.model().served == 1


def test_a_truncated_stream_is_reset_without_its_last_chunk(serve):
    served = serve(SCRIPT)
    served.fault("model.truncate", {"after_events": 2})
    with served.start("/v1/messages", {**CHAT, "stream": True}) as sock:
        reply, ended = served.drain(sock)
    assert ended == "reset"
    assert reply.count(b"event: ") == 2
    assert not reply.endswith(b"0\r\n\r\n")
    served.kinds(1)
    assert [(r.ended, r.fault) for r in served.live.requests()] == [("reset", "model.truncate")]


def test_a_clean_end_is_whole_to_http_and_lacks_the_terminator(serve):
    served = serve(SCRIPT)
    served.fault("model.clean-end")
    _, headers, body = served.ask("POST", "/v1/chat/completions", {**CHAT, "stream": True})
    assert len(body) == int(headers["content-length"])
    assert b'finish_reason":"' not in body
    assert b"[DONE]" not in body
    assert served.live.model().served == 0


def test_a_fault_that_finds_nothing_to_change_waits_for_a_turn_that_it_can_hit(serve):
    served = serve([ScriptStep(say="no call"), *SCRIPT])
    served.fault("model.malformed-arguments")
    served.ask("POST", "/v1/chat/completions", CHAT)
    assert served.live.hits("model.malformed-arguments") == 0
    served.ask("POST", "/v1/chat/completions", CHAT)
    assert served.live.hits("model.malformed-arguments") == 1
    served.kinds(2)
    assert [r.fault for r in served.live.requests()] == [None, "model.malformed-arguments"]
    assert served.live.model().served == 2


def test_the_same_call_is_repeated_under_new_ids_and_then_served(serve):
    served = serve([*SCRIPT, ScriptStep(say="Done.")])
    served.fault("model.same-call", times=2)
    ids, said = set(), []
    for _ in range(4):
        body = json.loads(served.ask("POST", "/v1/chat/completions", CHAT)[2])
        message = body["choices"][0]["message"]
        said.append(message["content"])
        ids |= {call["id"] for call in message.get("tool_calls", ())}
    assert said == ["one", "one", "one", "Done."]
    assert len(ids) == 3


def test_a_late_first_byte_and_drops_take_their_time_and_are_whole(serve):
    served = serve(SCRIPT)
    served.fault("model.slow-first-byte", {"delay": "200ms"})
    served.fault("model.drip", {"pause": "20ms"})
    begun = clock.monotonic()
    body = served.ask("POST", "/v1/chat/completions", CHAT)[2]
    assert clock.monotonic() - begun >= 0.2 + 9 * 0.02
    assert json.loads(body)["choices"]
    assert served.live.model().served == 1


def test_a_stalled_stream_sends_a_part_and_stays_open(serve):
    served = serve(SCRIPT)
    served.fault("model.stall", {"after_events": 1})
    with served.start("/v1/chat/completions", {**CHAT, "stream": True}) as sock:
        sock.settimeout(0.3)
        reply, ended = served.drain(sock)
    assert ended == "silent"
    assert reply.count(b"data: ") == 1
    served.kinds(1)
    assert served.live.model().served == 0


def test_a_client_that_leaves_in_the_middle_of_a_whole_reply_has_not_been_served(serve):
    served = serve(SCRIPT)
    served.fault("model.slow-first-byte", {"delay": "5s"})
    sock = served.start("/v1/chat/completions", CHAT)
    sock.setsockopt(1, 13, struct.pack("ii", 1, 0))  # SO_LINGER: reset when closed
    clock.sleep(0.1)
    sock.close()
    served.kinds(1)
    assert served.live.model().served == 0
    assert json.loads(served.ask("POST", "/v1/chat/completions", CHAT)[2])["choices"]
    assert served.live.model().served == 1
