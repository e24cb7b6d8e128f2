"""The network."""

from __future__ import annotations

import errno
import json
import os
import socket
from dataclasses import replace
from typing import Final

import anyio

from runtime.tools.base import Arguments, Context, Run, Schema, Tool, ToolResult
from runtime.tools.define import (
    PATH,
    REMOTE,
    arguments,
    as_bytes,
    choice,
    flag,
    number,
    on_thread,
    refused,
    says_failures,
    text,
)
from runtime.tools.http import NoAnswer, Request, asked, facts, fetched, judged
from runtime.tools.writing import replacing

FAMILY: Final = "net"
#: Bytes that are downloaded at most.
MOST: Final = 1 << 30
#: As ``curl`` ends where a name is not found, and ``sysexits.h`` where data are not what they should be.
_NO_HOST: Final = 6
_BAD_DATA: Final = 65
_PATIENCE: Final = 10.0


@says_failures
async def http_get(given: Arguments, context: Context) -> ToolResult:
    """What a URL answers; with 400 or more, it has failed."""
    headers = {"Accept": given.get("accept", "*/*")}
    result = await fetched(Request("GET", given["url"], headers), context)
    if result.ok and given.get("json"):
        try:
            json.loads(result.output)
        except (ValueError, RecursionError) as error:
            said = f"GET {given['url']}: the answer is not JSON: {error}\n"
            return replace(result, error=said, exit_code=_BAD_DATA)
    return result


@says_failures
async def http_head(given: Arguments, context: Context) -> ToolResult:  # noqa: ARG001
    """The status and the headers of what a URL answers."""
    request = Request("HEAD", given["url"])
    try:
        async with asked(request) as response:
            pass
    except NoAnswer as error:
        return error.result
    lines = [f"{response.http_version} {response.status_code} {response.reason_phrase}"]
    lines += [f"{name}: {value}" for name, value in response.headers.multi_items()]
    output = "".join(f"{line}\n" for line in lines)
    return ToolResult(output, *judged(request, response), data=facts(response))


@says_failures
async def http_post(given: Arguments, context: Context) -> ToolResult:
    """What a URL answers to a text that is sent to it."""
    headers = {"Content-Type": given.get("content_type", "application/json")}
    return await fetched(Request("POST", given["url"], headers, as_bytes(given["body"])), context)


@says_failures
async def download(given: Arguments, context: Context) -> ToolResult:
    """What a URL answers, in a file; nothing is there before all of it is."""
    request = Request("GET", given["url"])
    count = 0
    try:
        async with asked(request) as response:
            if response.is_error:
                return ToolResult("", *judged(request, response), data=facts(response))
            with replacing(context.workspace, given["path"]) as file:
                async for chunk in response.aiter_bytes():
                    count += len(chunk)
                    if count > MOST:
                        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), given["url"])
                    await anyio.to_thread.run_sync(file.write, chunk)
    except NoAnswer as error:
        return error.result
    return ToolResult(f"downloaded {count} bytes\n", data=facts(response))


@on_thread
def dns_lookup(given: Arguments, context: Context) -> ToolResult:  # noqa: ARG001
    """The addresses of a name."""
    host = given["host"]
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        return refused(f"{host}: {error.strerror}", _NO_HOST)
    except UnicodeError:
        return refused(f"{host}: not a host name", _NO_HOST)
    addresses = dict.fromkeys(str(address[0]) for *_, address in found)
    return ToolResult("".join(f"{address}\n" for address in addresses))


@on_thread
def port_check(given: Arguments, context: Context) -> ToolResult:  # noqa: ARG001
    """Whether something takes connections on a port."""
    host, port = given["host"], given["port"]
    try:
        socket.create_connection((host, port), timeout=_PATIENCE).close()
    except (OSError, UnicodeError) as error:
        said = getattr(error, "strerror", None) or str(error)
        return refused(f"{host}:{port}: {said}", 1, url=f"tcp://{host}:{port}")
    return ToolResult(f"{host}:{port} takes connections\n")


def _tool(name: str, summary: str, schema: Schema, run: Run, read_only: bool = True) -> Tool:
    return Tool(name, FAMILY, summary, schema, run, read_only, read_only, REMOTE)


_URL: Final = text("http or https", minLength=1)
_HOST: Final = text("a name or an address", pattern=r"^[^-\s\x00][^\s\x00]*$", maxLength=253)

TOOLS: Final = (
    replace(
        _tool(
            "http_get",
            "Fetch a URL.",
            arguments(
                "url",
                url=_URL,
                accept=choice("what the server is asked for", "*/*", "application/json"),
                json=flag("fail where the answer is not JSON"),
            ),
            http_get,
        ),
        strict=({"accept": "application/json"},),
    ),
    _tool("http_head", "Ask for the headers of a URL.", arguments("url", url=_URL), http_head),
    _tool(
        "http_post",
        "Send a text to a URL.",
        arguments(
            "url",
            "body",
            url=_URL,
            body=text("what is sent"),
            content_type=text("of the body; JSON if absent", pattern=r"^[\w.+-]+/[\w.+;= -]+$"),
        ),
        http_post,
        read_only=False,
    ),
    _tool("dns_lookup", "Look up a name.", arguments("host", host=_HOST), dns_lookup),
    _tool(
        "port_check",
        "Say whether a port takes connections.",
        arguments("host", "port", host=_HOST, port=number("TCP", minimum=1, maximum=65535)),
        port_check,
    ),
    _tool(
        "download",
        "Fetch a URL into a file of the workspace.",
        arguments("url", "path", url=_URL, path=PATH),
        download,
        read_only=False,
    ),
)
