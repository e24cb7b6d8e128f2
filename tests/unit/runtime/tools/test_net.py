"""What servers answer is given as it is, with what rules need to know of it."""

from __future__ import annotations

import json
import socket
import struct
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runtime.recovery.classes import Failure, FailureClass
from runtime.recovery.classify import classify
from runtime.tools.base import Context
from runtime.tools.families import net
from tests.unit.runtime.tools.calls import TOOLS, Call, caller, snapshot
from tests.unit.runtime.tools.servers import Answer, served

pytestmark = pytest.mark.anyio


async def test_an_answer_comes_as_it_is(call: Call):
    with served({"GET /x": Answer(body=b"\xff42\n")}) as server:
        result = await call("http_get", url=f"{server.url}/x")

    assert (result.output, result.error, result.exit_code) == ("\udcff42\n", "", 0)
    assert result.data == {"url": f"{server.url}/x", "status": 200, "retry_after": ""}


async def test_a_refusal_is_a_failure_with_its_facts(call: Call):
    refusal = Answer(429, b"slow down", {"Retry-After": "7"})
    with served({"GET /x": refusal, "HEAD /x": refusal, "POST /x": refusal}) as server:
        url = f"{server.url}/x"
        results = [
            await call("http_get", url=url),
            await call("http_head", url=url),
            await call("http_post", url=url, body="{}"),
            await call("download", url=url, path="fresh"),
        ]

    for result in results:
        assert result.exit_code == 22
        assert "429 Too Many Requests" in result.error
        assert result.data == {"url": url, "status": 429, "retry_after": "7"}
    assert results[0].output == "slow down"


async def test_json_is_asked_for_and_checked_where_that_is_said(call: Call):
    with served({"GET /x": Answer(body=b"<html>"), "GET /y": Answer(body=b"[1]")}) as server:
        wrong = await call("http_get", url=f"{server.url}/x", json=True)
        right = await call("http_get", url=f"{server.url}/y", json=True, accept="application/json")

    tool = TOOLS.get("http_get")
    assert tool is not None
    assert tool.strict == ({"accept": "application/json"},)
    assert (wrong.exit_code, wrong.output) == (65, "<html>")
    failure = Failure("http_get", wrong.exit_code, wrong.output, wrong.error)
    assert classify(failure).cls is FailureClass.OUTPUT_CONTRACT
    assert right.ok
    assert [headers["accept"] for _, _, headers, _ in server.asked] == ["*/*", "application/json"]


async def test_what_is_posted_arrives(call: Call):
    with served({"POST /x": Answer(201, b"made")}) as server:
        result = await call("http_post", url=f"{server.url}/x", body="é", content_type="text/plain")

    assert result.output == "made"
    _, _, headers, body = server.asked[0]
    assert (headers["content-type"], body) == ("text/plain", "é".encode())


async def test_headers_are_shown(call: Call):
    with served({"HEAD /x": Answer(headers={"X-One": "1"})}) as server:
        result = await call("http_head", url=f"{server.url}/x")

    assert result.output.startswith("HTTP/1.")
    assert "x-one: 1\n" in result.output.lower()


@pytest.mark.parametrize("name", ["http_get", "http_head", "http_post", "download"])
@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "http://[::1", "http://h:x/", "http://", "ftp://h/", "\ud800", "x"],
)
async def test_what_is_no_url_is_refused(call: Call, name: str, url: str):
    more = {"http_post": {"body": ""}, "download": {"path": "fresh"}}.get(name, {})

    result = await call(name, url=url, **more)

    assert result.exit_code == 3
    assert "URL" in result.error


async def test_nobody_who_answers_is_a_network_failure(call: Call):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
        result = await call("http_get", url=url)

    assert result.exit_code == 7
    assert result.data["url"] == url
    failure = Failure("http_get", result.exit_code, result.output, result.error)
    assert classify(failure).cls is FailureClass.NETWORK


async def test_a_connection_that_is_reset_says_so(call: Call):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def reset() -> None:
            connection, _ = server.accept()
            connection.recv(1)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()

        thread = threading.Thread(target=reset)
        thread.start()
        result = await call("http_get", url=f"http://127.0.0.1:{server.getsockname()[1]}/")
        thread.join()

    assert "reset" in result.error
    failure = Failure("http_get", result.exit_code, result.output, result.error)
    assert classify(failure).cls is FailureClass.NETWORK


async def test_redirects_end(call: Call):
    with served({}) as server:
        server.answers["GET /x"] = Answer(302, headers={"Location": f"{server.url}/x"})
        result = await call("http_get", url=f"{server.url}/x")

    assert "TooManyRedirects" in result.error
    assert len(server.asked) == 6


async def test_too_much_is_cut(context: Context):
    tools = context.settings.tools.model_copy(update={"output": 1024})
    short = replace(context, settings=context.settings.model_copy(update={"tools": tools}))
    with served({"GET /x": Answer(body=b"x" * 100_000)}) as server:
        result = await caller(short)("http_get", url=f"{server.url}/x")

    assert (len(result.output), result.truncated) == (1024, True)


@pytest.mark.parametrize(
    ("answer", "path", "said"),
    [
        (Answer(body=b"new"), "a/file", ""),
        (Answer(body=b"half", length=100), "a/file", "RemoteProtocolError"),
        (Answer(500, b"oops"), "a/file", "500 Internal Server Error"),
        (Answer(body=b"x" * 2000), "a/file", "File too large"),
        (Answer(body=b"new"), "out", "outside of the workspace"),
        (Answer(body=b"new"), "missing/x", "missing/x: No such file or directory"),
        (Answer(body=b"new"), "pipe", "Is not a regular file"),
    ],
)
async def test_a_download_is_there_whole_or_not_at_all(
    call: Call,
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: Answer,
    path: str,
    said: str,
):
    monkeypatch.setattr(net, "MOST", 1000)
    before = snapshot(workspace.parent)
    with served({"GET /x": answer}) as server:
        result = await call("download", url=f"{server.url}/x", path=path)

    assert said in result.error
    if said:
        assert not result.ok
        assert snapshot(workspace.parent) == before
    else:
        assert (workspace / path).read_bytes() == b"new"


async def test_names_and_ports_are_looked_up(call: Call):
    with served({}) as server:
        port = int(server.url.rpartition(":")[2])
        taken = await call("port_check", host="127.0.0.1", port=port)
    free = await call("port_check", host="127.0.0.1", port=port)
    found = await call("dns_lookup", host="127.0.0.1")
    odd = await call("dns_lookup", host="a" * 70 + ".invalid")

    assert taken.ok
    assert "Connection refused" in free.error
    assert found.output == "127.0.0.1\n"
    assert odd.exit_code == 6


PULL = "/repos/o/r/pulls/7"


@pytest.mark.parametrize(
    ("name", "arguments", "asked", "body"),
    [
        ("pr_view", {"number": 7}, f"GET {PULL}", None),
        ("issue_view", {"number": 7}, "GET /repos/o/r/issues/7", None),
        (
            "issue_list",
            {"state": "all", "count": 5},
            "GET /repos/o/r/issues?state=all&per_page=5&page=1",
            None,
        ),
        (
            "pr_create",
            {"title": "T", "head": "h", "base": "b"},
            "POST /repos/o/r/pulls",
            {"title": "T", "head": "h", "base": "b", "body": ""},
        ),
        (
            "pr_comment",
            {"number": 7, "body": "é"},
            "POST /repos/o/r/issues/7/comments",
            {"body": "é"},
        ),
        (
            "issue_label",
            {"number": 7, "labels": ["x"]},
            "POST /repos/o/r/issues/7/labels",
            {"labels": ["x"]},
        ),
    ],
)
async def test_the_host_is_asked_as_it_wants_to_be(
    context: Context, name: str, arguments: dict[str, Any], asked: str, body: Any
):
    with served({asked: Answer(body=b'{"number": 7}')}) as server:
        result = await caller(hosted(context, server.url))(name, repository="o/r", **arguments)

    assert result.output == '{"number": 7}'
    assert result.ok
    _, _, headers, sent = server.asked[0]
    assert headers["authorization"] == "Bearer t0ken"
    assert (json.loads(sent) if sent else None) == body


@pytest.mark.parametrize(
    ("answer", "cls"),
    [
        (Answer(401, b'{"message": "Bad credentials"}'), FailureClass.AUTH),
        (
            Answer(
                403,
                b'{"message": "API rate limit exceeded for user ID 1."}',
                {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1927860000"},
            ),
            FailureClass.RATE_LIMIT,
        ),
        (Answer(429, b'{"message": "slow"}', {"Retry-After": "3"}), FailureClass.RATE_LIMIT),
    ],
)
async def test_the_host_s_own_message_is_in_the_error(
    context: Context, answer: Answer, cls: FailureClass
):
    with served({f"GET {PULL}": answer}) as server:
        result = await caller(hosted(context, server.url))("pr_view", repository="o/r", number=7)

    assert json.loads(answer.body)["message"] in result.error
    assert classify(Failure("pr_view", result.exit_code, result.output, result.error)).cls is cls
    wanted = {403: "Mon, 03 Feb 2031 04:40:00 GMT", 429: "3"}.get(answer.status, "")
    assert result.data["retry_after"] == wanted


@pytest.mark.parametrize(
    "repository", ["o", "../r", "o/../x", "o/r/pulls", "o/r?x", "-o/r", "o/r\n"]
)
async def test_a_repository_is_a_name(call: Call, repository: str):
    assert (await call("pr_view", repository=repository, number=1)).exit_code == 2


def hosted(context: Context, url: str) -> Context:
    variables = {"GITHUB_API_URL": f"{url}/", "GITHUB_TOKEN": "t0ken"}
    return replace(context, environment={**context.environment, **variables})
