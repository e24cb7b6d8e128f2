"""The official Anthropic client against the served model."""

from __future__ import annotations

import anthropic
import pytest

from harness.case.model import Call, ScriptStep
from sandboxes import clock

TOOLS = [
    {
        "name": "Bash",
        "input_schema": {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
        },
    }
]
SCRIPT = [
    ScriptStep(
        say="I will count them: ✓ naïve.",
        calls=[Call("run", args={"command": "wc -l < 'a b'"})],
        usage={"input": 1234, "output": 56},
    ),
    ScriptStep(say="Done."),
]


@pytest.fixture
def client(closing):
    def connect(served, retries=0, timeout=10):
        model = anthropic.Anthropic(
            base_url=served.url, api_key="x", max_retries=retries, timeout=timeout
        )
        return closing(model)

    return connect


def ask(model, text="go", **more):
    return model.messages.create(
        model="claude-x",
        max_tokens=100,
        messages=[{"role": "user", "content": text}],
        tools=TOOLS,
        **more,
    )


def check_tool_turn(message):
    text, call = message.content
    assert text.text == "I will count them: ✓ naïve."
    assert (call.type, call.name, call.input) == ("tool_use", "Bash", {"command": "wc -l < 'a b'"})
    assert call.id.startswith("toolu_")
    assert message.id.startswith("msg_")
    assert message.stop_reason == "tool_use"
    assert message.model == "claude-x"
    assert (message.usage.input_tokens, message.usage.output_tokens) == (1234, 56)


def test_a_tool_turn_and_its_end_are_understood(serve, client):
    model = client(serve(SCRIPT))
    check_tool_turn(ask(model))
    last = ask(model)
    assert last.content[0].text == "Done."
    assert last.stop_reason == "end_turn"


def test_a_streamed_turn_builds_the_same_message(serve, client):
    with client(serve(SCRIPT)).messages.stream(
        model="claude-x", max_tokens=9, messages=[{"role": "user", "content": "x"}], tools=TOOLS
    ) as stream:
        kinds = [event.type for event in stream]
        check_tool_turn(stream.get_final_message())
    assert kinds[0] == "message_start"
    assert kinds[-1] == "message_stop"
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 2


def test_ids_of_calls_and_messages_are_never_used_twice(serve, client):
    model = client(serve([ScriptStep(calls=SCRIPT[0].calls, repeat=None)]))
    replies = [ask(model) for _ in range(5)]
    assert len({reply.content[0].id for reply in replies}) == 5
    assert len({reply.id for reply in replies}) == 5
    assert len({reply._request_id for reply in replies}) == 5


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (400, anthropic.BadRequestError, "invalid_request_error"),
        (401, anthropic.AuthenticationError, "authentication_error"),
        (403, anthropic.PermissionDeniedError, "permission_error"),
        (404, anthropic.NotFoundError, "not_found_error"),
        (429, anthropic.RateLimitError, "rate_limit_error"),
        (500, anthropic.InternalServerError, "api_error"),
        (529, anthropic.InternalServerError, "overloaded_error"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_status_is_the_error_of_that_kind(serve, client, status, error, kind, stream):
    served = serve(SCRIPT)
    served.fault("model.status", {"status": status, "message": "no"})
    with pytest.raises(error) as caught:
        ask(client(served), stream=stream)
    assert caught.value.body["error"] == {"type": kind, "message": "no"}
    assert caught.value.request_id == caught.value.body["request_id"]
    assert caught.value.request_id.startswith("req_")


def test_a_429_is_retried_when_it_says_and_gets_the_same_turn(serve, client):
    served = serve(SCRIPT)
    served.fault("model.status", {"status": 429, "headers": {"Retry-After": "0.3"}})
    begun = clock.monotonic()
    check_tool_turn(ask(client(served, retries=1)))
    assert 0.3 <= clock.monotonic() - begun < 3
    served.kinds(2)
    first, second = served.live.requests()
    assert (first.status, first.attempt, first.turn, first.fault) == (429, 1, 0, "model.status")
    assert (second.status, second.attempt, second.turn, second.fault) == (200, 2, 0, None)
    assert second.headers["x-stainless-retry-count"] == "1"


def test_a_client_that_gives_up_on_a_hanging_reply_gets_the_same_turn(serve, client):
    served = serve(SCRIPT)
    served.fault("model.hang")
    check_tool_turn(ask(client(served, retries=1, timeout=0.4)))
    served.kinds(2)
    assert [r.turn for r in served.live.requests()] == [0, 0]
    assert served.live.model().served == 1


def test_a_request_beyond_the_script_is_refused_and_not_retried(serve, client):
    served = serve([ScriptStep(say="Done.")])
    model = client(served, retries=2)
    ask(model)
    with pytest.raises(anthropic.BadRequestError, match="no more turns"):
        ask(model)
    assert served.kinds(2) == ["turn", "beyond"]
    record = served.live.model()
    assert (record.turns, record.served, record.left, record.beyond) == (1, 1, 0, 1)


def test_tokens_are_counted_and_models_listed_beside_the_script(serve, client):
    served = serve(SCRIPT)
    model = client(served)
    counted = model.messages.count_tokens(
        model="claude-x", messages=[{"role": "user", "content": "a" * 400}]
    )
    assert counted.input_tokens > 100
    assert [each.id for each in model.models.list()] == ["shakeout"]
    assert model.models.retrieve("claude-x").id == "claude-x"
    check_tool_turn(ask(model))
    assert served.kinds(4) == ["probe", "probe", "probe", "turn"]


def test_an_error_in_the_stream_is_raised(serve, client):
    served = serve(SCRIPT)
    served.fault("model.stream-error", {"message": "Overloaded"})
    with pytest.raises(anthropic.APIStatusError, match="overloaded_error"):
        list(ask(client(served), stream=True))


def test_a_refusal_says_so(serve, client):
    served = serve(SCRIPT)
    served.fault("model.refusal", times=None)
    model = client(served)
    message = ask(model)
    assert message.stop_reason == "refusal"
    assert message.stop_details.explanation == "I can't help with that."
    with model.messages.stream(
        model="c", max_tokens=9, messages=[{"role": "user", "content": "x"}], tools=TOOLS
    ) as stream:
        assert stream.get_final_message().stop_reason == "refusal"
