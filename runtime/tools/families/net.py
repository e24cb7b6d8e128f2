"""The network."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import httpx2

from runtime.tools.base import Arguments, Context, Tool, ToolResult
from runtime.tools.define import REMOTE, arguments, as_text, text

FAMILY: Final = "net"
#: As ``curl --fail`` ends where a server answers with 400 or more, and where none answers.
FAILED: Final = 22
UNREACHABLE: Final = 7
_REDIRECTS: Final = 5


async def http_get(given: Arguments, context: Context) -> ToolResult:
    """What a URL answers; with 400 or more, it has failed."""
    return await _request("GET", given["url"], context)


async def _request(method: str, url: str, context: Context) -> ToolResult:
    if urlsplit(url).scheme not in ("http", "https"):
        return ToolResult(error=f"{url}: not an http URL\n", exit_code=2)
    most = context.settings.tools.output
    body = bytearray()
    try:
        async with (
            httpx2.AsyncClient(follow_redirects=True, max_redirects=_REDIRECTS) as client,
            client.stream(method, url) as response,
        ):
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > most:
                    break
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        said = f"{method} {url}: {type(error).__name__}: {error}\n"
        return ToolResult(error=said, exit_code=UNREACHABLE, data={"url": url})
    text_, cut = as_text(bytes(body[:most])), len(body) > most
    data = {
        "url": url,
        "status": response.status_code,
        "retry_after": response.headers.get("retry-after", ""),
    }
    if response.is_error:
        said = f"{method} {url}: {response.status_code} {response.reason_phrase}\n"
        return ToolResult(text_, said, FAILED, truncated=cut, data=data)
    return ToolResult(text_, truncated=cut, data=data)


TOOLS: Final = (
    Tool(
        "http_get",
        FAMILY,
        "Fetch a URL.",
        arguments("url", url=text("http or https")),
        http_get,
        read_only=True,
        idempotent=True,
        price=REMOTE,
    ),
)
