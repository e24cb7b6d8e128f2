"""Pull requests and issues on GitHub, or on what speaks as it does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlencode

from runtime.tools.base import Arguments, Context, Run, Schema, Tool, ToolResult
from runtime.tools.define import (
    REMOTE,
    arguments,
    as_bytes,
    choice,
    names,
    number,
    says_failures,
    text,
)
from runtime.tools.http import Request, fetched

FAMILY: Final = "host"
#: Variables of where it answers, and of who asks.
URL: Final = "GITHUB_API_URL"
TOKEN: Final = "GITHUB_TOKEN"  # noqa: S105 - a variable's name
_PUBLIC: Final = "https://api.github.com"
_SAID: Final = 300


@says_failures
async def pr_create(given: Arguments, context: Context) -> ToolResult:
    """A pull request, opened."""
    body = {name: given[name] for name in ("title", "head", "base")}
    body["body"] = given.get("body", "")
    return await _asked("POST", f"{_repository(given)}/pulls", context, body)


@says_failures
async def pr_view(given: Arguments, context: Context) -> ToolResult:
    """A pull request, as it is now."""
    return await _asked("GET", f"{_repository(given)}/pulls/{given['number']}", context)


@says_failures
async def pr_comment(given: Arguments, context: Context) -> ToolResult:
    """A comment under a pull request."""
    place = f"{_repository(given)}/issues/{given['number']}/comments"
    return await _asked("POST", place, context, {"body": given["body"]})


@says_failures
async def issue_list(given: Arguments, context: Context) -> ToolResult:
    """The issues of a repository, a page of them."""
    asked = {
        "state": given.get("state", "open"),
        "per_page": given.get("count", 30),
        "page": given.get("page", 1),
    }
    return await _asked("GET", f"{_repository(given)}/issues?{urlencode(asked)}", context)


@says_failures
async def issue_view(given: Arguments, context: Context) -> ToolResult:
    """An issue, as it is now."""
    return await _asked("GET", f"{_repository(given)}/issues/{given['number']}", context)


@says_failures
async def issue_label(given: Arguments, context: Context) -> ToolResult:
    """Labels, added to an issue or a pull request."""
    place = f"{_repository(given)}/issues/{given['number']}/labels"
    return await _asked("POST", place, context, {"labels": list(given["labels"])})


def _repository(given: Arguments) -> str:
    return f"/repos/{given['repository']}"


async def _asked(
    method: str, place: str, context: Context, body: Mapping[str, Any] | None = None
) -> ToolResult:
    """What the host answers; of a failure, its own message stands in the error."""
    headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
    if token := context.environment.get(TOKEN):
        headers["Authorization"] = f"Bearer {token}"
    content = None if body is None else as_bytes(json.dumps(body))
    url = context.environment.get(URL, _PUBLIC).rstrip("/") + place
    result = await fetched(Request(method, url, headers, content), context)
    said = _message(result)
    if result.ok or not said:
        return result
    return replace(result, error=f"{result.error.rstrip()}: {said}\n")


def _message(result: ToolResult) -> str:
    try:
        answer = json.loads(result.output)
    except (ValueError, RecursionError):
        return ""
    said = answer.get("message") if isinstance(answer, dict) else None
    return " ".join(said.split())[:_SAID] if isinstance(said, str) else ""


def _tool(name: str, summary: str, schema: Schema, run: Run, read_only: bool = False) -> Tool:
    return Tool(name, FAMILY, summary, schema, run, read_only, read_only, REMOTE)


_REPOSITORY: Final = text(
    "as owner/name", pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*/[A-Za-z0-9_][A-Za-z0-9_.-]*$(?![\s\S])"
)
_NUMBER: Final = number("its number", minimum=1)

TOOLS: Final = (
    _tool(
        "pr_create",
        "Open a pull request.",
        arguments(
            "repository",
            "title",
            "head",
            "base",
            repository=_REPOSITORY,
            title=text("in a line", minLength=1),
            head=text("the branch with the changes", minLength=1),
            base=text("the branch that they are for", minLength=1),
            body=text("what they are"),
        ),
        pr_create,
    ),
    _tool(
        "pr_view",
        "Show a pull request.",
        arguments("repository", "number", repository=_REPOSITORY, number=_NUMBER),
        pr_view,
        read_only=True,
    ),
    _tool(
        "pr_comment",
        "Comment on a pull request.",
        arguments(
            "repository",
            "number",
            "body",
            repository=_REPOSITORY,
            number=_NUMBER,
            body=text("the comment", minLength=1),
        ),
        pr_comment,
    ),
    _tool(
        "issue_list",
        "List issues.",
        arguments(
            "repository",
            repository=_REPOSITORY,
            state=choice("which", "open", "closed", "all"),
            count=number("the most of a page", minimum=1, maximum=100),
            page=number("from 1", minimum=1),
        ),
        issue_list,
        read_only=True,
    ),
    _tool(
        "issue_view",
        "Show an issue.",
        arguments("repository", "number", repository=_REPOSITORY, number=_NUMBER),
        issue_view,
        read_only=True,
    ),
    _tool(
        "issue_label",
        "Add labels to an issue.",
        arguments(
            "repository",
            "number",
            "labels",
            repository=_REPOSITORY,
            number=_NUMBER,
            labels=names("what is added", text("a label", minLength=1)),
        ),
        issue_label,
    ),
)
