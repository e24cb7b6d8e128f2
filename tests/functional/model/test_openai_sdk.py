"""The official OpenAI client against the served model, by both of its protocols."""

from __future__ import annotations

import json

import openai
import pytest

from harness.case.model import Call, ScriptStep

SCHEMA = {
    "type": "object",
    "properties": {"cmd": {"type": "string"}},
    "required": ["cmd"],
    "additionalProperties": False,
}
CHAT_TOOLS = [{"type": "function", "function": {"name": "shell", "parameters": SCHEMA}}]
RESPONSES_TOOLS = [
    {"type": "function", "name": "shell", "parameters": SCHEMA, "strict": True},
    {
        "type": "namespace",
        "name": "mcp__files",
        "description": "files",
        "tools": [{"type": "function", "name": "stat", "parameters": {"type": "object"}}],
    },
    {"type": "custom", "name": "apply_patch"},
]
SCRIPT = [
    ScriptStep(
        say="I will count them: ✓ naïve.",
        calls=[Call("run", args={"command": 'wc -l < "a b"'})],
        usage={"input": 1234, "output": 56},
    ),
    ScriptStep(say="Done."),
]
ARGUMENTS = {"cmd": 'wc -l < "a b"'}
TEXT = "I will count them: ✓ naïve."


@pytest.fixture
def client(closing):
    def connect(served, retries=0, timeout=10):
        model = openai.OpenAI(
            base_url=f"{served.url}/v1", api_key="x", max_retries=retries, timeout=timeout
        )
        return closing(model)

    return connect


def chat(model, **more):
    more.setdefault("tools", CHAT_TOOLS)
    return model.chat.completions.create(
        model="gpt-x", messages=[{"role": "user", "content": "go"}], **more
    )


def respond(model, **more):
    more.setdefault("tools", RESPONSES_TOOLS)
    return model.responses.create(model="gpt-x", input="go", **more)


def check_chat(completion):
    choice = completion.choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content == TEXT
    call = choice.message.tool_calls[0]
    assert (call.type, call.function.name) == ("function", "shell")
    assert json.loads(call.function.arguments) == ARGUMENTS
    assert call.id.startswith("call_")
    assert completion.model == "gpt-x"


def check_response(response):
    assert response.status == "completed"
    assert response.output_text == TEXT
    message, call = response.output
    assert message.id.startswith("msg_")
    assert (call.type, call.name) == ("function_call", "shell")
    assert json.loads(call.arguments) == ARGUMENTS
    assert call.id.startswith("fc_")
    assert call.call_id.startswith("call_")
    assert (response.usage.input_tokens, response.usage.output_tokens) == (1234, 56)
    assert response.usage.total_tokens == 1290


def test_a_chat_turn_and_its_end_are_understood(serve, client):
    model = client(serve(SCRIPT))
    completion = chat(model)
    check_chat(completion)
    assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (1234, 56)
    last = chat(model)
    assert (last.choices[0].message.content, last.choices[0].finish_reason) == ("Done.", "stop")


def test_a_streamed_chat_turn_builds_the_same_completion(serve, client):
    with client(serve(SCRIPT)).chat.completions.stream(
        model="gpt-x", messages=[{"role": "user", "content": "go"}], tools=CHAT_TOOLS
    ) as stream:
        for _ in stream:
            pass
        check_chat(stream.get_final_completion())


def test_usage_of_a_chat_stream_comes_last_and_only_if_asked_for(serve, client):
    model = client(serve(SCRIPT))
    chunks = list(chat(model, stream=True, stream_options={"include_usage": True}))
    assert chunks[-1].choices == []
    assert chunks[-1].usage.total_tokens == 1290
    assert all(chunk.usage is None for chunk in chunks[:-1])
    assert all(chunk.usage is None and chunk.choices for chunk in chat(model, stream=True))


def test_a_response_and_its_end_are_understood(serve, client):
    model = client(serve(SCRIPT))
    check_response(respond(model))
    assert respond(model).output_text == "Done."


def test_a_streamed_response_builds_the_same_response(serve, client):
    with client(serve(SCRIPT)).responses.stream(
        model="gpt-x", input="go", tools=RESPONSES_TOOLS
    ) as stream:
        events = list(stream)
        check_response(stream.get_final_response())
    numbers = [event.sequence_number for event in events if hasattr(event, "sequence_number")]
    assert numbers == sorted(numbers)
    assert events[0].type == "response.created"
    assert events[-1].type == "response.completed"


@pytest.mark.parametrize("stream", [False, True])
def test_a_namespaced_and_a_freeform_tool_are_called_as_they_are_offered(serve, client, stream):
    calls = [Call("call", "stat", {"path": "x"}), Call("call", "apply_patch", {"input": "*** x"})]
    model = client(serve([ScriptStep(calls=calls)]))
    if stream:
        *_, done = respond(model, stream=True)
        first, second = done.response.output
    else:
        first, second = respond(model).output
    assert (first.type, first.namespace, first.name) == ("function_call", "mcp__files", "stat")
    assert (second.type, second.name, second.input) == ("custom_tool_call", "apply_patch", "*** x")
    assert second.id.startswith("ctc_")


@pytest.mark.parametrize("ask", [chat, respond])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        (400, openai.BadRequestError, "invalid_request_error"),
        (401, openai.AuthenticationError, "invalid_api_key"),
        (429, openai.RateLimitError, "rate_limit_exceeded"),
        (500, openai.InternalServerError, "server_error"),
    ],
)
def test_a_status_is_the_error_of_that_kind(serve, client, ask, stream, status, error, code):
    served = serve(SCRIPT)
    served.fault("model.status", {"status": status, "message": "no"})
    with pytest.raises(error) as caught:
        ask(client(served), stream=stream)
    assert (caught.value.code, caught.value.body["message"]) == (code, "no")
    assert caught.value.request_id.startswith("req_")


@pytest.mark.parametrize("ask", [chat, respond])
@pytest.mark.parametrize("header", ["retry-after-ms", "Retry-After"])
def test_a_retry_gets_the_same_turn(serve, client, ask, header):
    served = serve(SCRIPT)
    value = "50" if header == "retry-after-ms" else "0.05"
    served.fault("model.status", {"status": 503, "headers": {header: value}}, times=2)
    (check_chat if ask is chat else check_response)(ask(client(served, retries=2)))
    served.kinds(3)
    assert [(r.turn, r.attempt, r.status) for r in served.live.requests()] == [
        (0, 1, 503),
        (0, 2, 503),
        (0, 3, 200),
    ]


@pytest.mark.parametrize("ask", [chat, respond])
def test_a_reset_is_retried_and_gets_the_same_turn(serve, client, ask):
    served = serve(SCRIPT)
    served.fault("model.reset")
    (check_chat if ask is chat else check_response)(ask(client(served, retries=1)))
    served.kinds(2)
    assert [r.ended for r in served.live.requests()] == ["reset", "whole"]


@pytest.mark.parametrize("ask", [chat, respond])
def test_an_error_in_the_stream_is_raised(serve, client, ask):
    served = serve(SCRIPT)
    served.fault("model.stream-error", {"status": 500, "message": "the model broke"})
    with pytest.raises(openai.APIError, match="the model broke"):
        list(ask(client(served), stream=True))


def test_a_context_overflow_has_its_code(serve, client):
    served = serve(SCRIPT)
    served.fault("model.context-overflow", times=2)
    for ask in (chat, respond):
        with pytest.raises(openai.BadRequestError) as caught:
            ask(client(served))
        assert caught.value.code == "context_length_exceeded"


def test_a_refusal_is_marked_in_both_protocols(serve, client):
    served = serve([ScriptStep(say="x", repeat=None)])
    served.fault("model.refusal", times=None)
    model = client(served)
    assert chat(model).choices[0].message.refusal == "I can't help with that."
    assert respond(model).output[0].content[0].refusal == "I can't help with that."
    *_, done = respond(model, stream=True)
    assert done.response.output[0].content[0].type == "refusal"


def test_a_length_stop_is_incomplete(serve, client):
    model = client(serve([ScriptStep(say="and so", stop="length", repeat=2)]))
    assert chat(model).choices[0].finish_reason == "length"
    response = respond(model)
    assert response.status == "incomplete"
    assert response.incomplete_details.reason == "max_output_tokens"


def test_a_side_request_for_json_gets_json_that_follows_its_schema(serve, client):
    served = serve(SCRIPT)
    model = client(served)
    chat(model)
    schema = {
        "type": "object",
        "properties": {"title": {"type": "string"}, "new": {"type": "boolean"}},
        "required": ["title", "new"],
    }
    form = {"type": "json_schema", "json_schema": {"name": "t", "schema": schema}}
    said = json.loads(
        chat(model, tools=openai.omit, response_format=form).choices[0].message.content
    )
    assert said["title"]
    assert said["new"] is False
    assert served.kinds(2) == ["turn", "side"]
    assert served.live.model().served == 1


def test_models_are_listed(serve, client):
    served = serve(SCRIPT)
    model = client(served)
    assert [each.id for each in model.models.list()] == ["shakeout"]
    assert model.models.retrieve("gpt-x").id == "gpt-x"
    counted = model.responses.input_tokens.count(model="gpt-x", input="a" * 400)
    assert counted.input_tokens > 100
    assert served.kinds(3) == ["probe"] * 3
