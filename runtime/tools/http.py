"""Requests of tools, and what comes of them."""

from __future__ import annotations

import email.utils
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2

from runtime.tools.base import Context, ToolResult
from runtime.tools.define import as_text, refused

#: As ``curl --fail`` ends where a server answers with 400 or more, and where none answers.
FAILED: Final = 22
UNREACHABLE: Final = 7
_BAD_URL: Final = 3
_REDIRECTS: Final = 5
#: Seconds for a connection, and between two pieces of an answer.
_CONNECT: Final = 10.0
_READ: Final = 30.0
_LIMITS: Final = ("remaining", "reset")
_DIGITS: Final = 11


@dataclass(frozen=True, slots=True)
class Request:
    """A request.

    Attributes:
        method: such as GET.
        url: http or https.
        headers: beside the usual ones.
        body: of the request, if it has one.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


class NoAnswer(Exception):
    """There was none; what the tool gives then is its ``result``."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__(result.error)
        self.result = result


@asynccontextmanager
async def asked(request: Request) -> AsyncIterator[httpx2.Response]:
    """The answer to a request, its body not read yet.

    Raises:
        NoAnswer: the URL is none, or whoever it names did not answer, or not to the end.
    """
    if why := _unusable(request.url):
        raise NoAnswer(refused(f"{request.url}: {why}", _BAD_URL))
    try:
        async with (
            httpx2.AsyncClient(
                follow_redirects=True,
                max_redirects=_REDIRECTS,
                timeout=httpx2.Timeout(_READ, connect=_CONNECT),
            ) as client,
            client.stream(
                request.method, request.url, headers=dict(request.headers), content=request.body
            ) as response,
        ):
            yield response
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, UnicodeError) as error:
        said = f"{request.method} {request.url}: {type(error).__name__}: {_words(error)}"
        raise NoAnswer(refused(said, UNREACHABLE, url=request.url)) from None


def _words(error: BaseException | None) -> str:
    """An error's own words, or those of what it came of: that of a reset connection has none."""
    while error is not None:
        if words := str(error):
            return words
        error = error.__cause__ or error.__context__
    return "no reason is known"


def _unusable(url: str) -> str:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - it is checked when it is asked for
    except ValueError as error:
        return f"not a URL: {error}"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "not an http URL"
    return ""


async def fetched(request: Request, context: Context) -> ToolResult:
    """What a request is answered with, up to the cap; with 400 or more, it has failed."""
    most = context.settings.tools.output
    body = bytearray()
    try:
        async with asked(request) as response:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > most:
                    break
    except NoAnswer as error:
        return error.result
    output, cut = as_text(bytes(body[:most])), len(body) > most
    return ToolResult(output, *judged(request, response), truncated=cut, data=facts(response))


def judged(request: Request, response: httpx2.Response) -> tuple[str, int]:
    """What is wrong with an answer by its status, and the exit code."""
    if not response.is_error:
        return "", 0
    status = f"{response.status_code} {response.reason_phrase}".strip()
    return f"{request.method} {request.url}: {status}\n", FAILED


def facts(response: httpx2.Response) -> dict[str, Any]:
    """What rules need to know of an answer."""
    return {
        "url": str(response.url),
        "status": response.status_code,
        "retry_after": response.headers.get("retry-after", "") or _reset(response),
    }


def _reset(response: httpx2.Response) -> str:
    """When requests are taken again, as a date, where the server says that none is left."""
    left, moment = (response.headers.get(f"x-ratelimit-{name}", "") for name in _LIMITS)
    if left != "0" or not (moment.isascii() and moment.isdigit() and len(moment) <= _DIGITS):
        return ""
    return email.utils.formatdate(int(moment), usegmt=True)
