"""The table of services: one line for each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from harness.case.model import ServiceDecl
from harness.extension import Schema
from harness.services import http, mcp, slack, telegram
from harness.services.base import HttpService
from harness.services.git import declared as git
from harness.services.github import declared as github


@dataclass(frozen=True, slots=True)
class ServiceKind:
    """A kind of service.

    Attributes:
        name: its key under ``services`` in a case.
        summary: one sentence for people.
        schema: of what a case writes under that key; nothing fits it where a case writes
            nothing, because the service is always there.
        build: makes the service that a case declares; ``None`` where it declares none.
        parse: makes the declaration from a host name and what the case writes under it;
            ``None`` likewise.
        person: whether there is a person behind it, who is told things and answers.
    """

    name: str
    summary: str
    schema: Schema
    build: Callable[[ServiceDecl], HttpService] | None = None
    parse: Callable[[str, Any], ServiceDecl] | None = None
    person: bool = False


def _git(decl: ServiceDecl) -> HttpService:
    from harness.services.git.remote import GitRemote  # noqa: PLC0415 - slow

    return GitRemote(decl)


def _github(decl: ServiceDecl) -> HttpService:
    from harness.services.github.service import Github  # noqa: PLC0415 - slow

    return Github(decl)


_ALWAYS: Final[Schema] = {"not": {}}

SERVICES: Final[Mapping[str, ServiceKind]] = {
    "model": ServiceKind("model", "The scripted model; its turns are the case's script.", _ALWAYS),
    "dns": ServiceKind("dns", "The name server: the services' names, and no others.", _ALWAYS),
    "http": ServiceKind(
        "http", "A scripted HTTP upstream.", http.SCHEMA, http.HttpUpstream, http.parse
    ),
    "mcp": ServiceKind(
        "mcp",
        "An MCP server over streamable HTTP, at http://NAME:8080/mcp, with scripted tools.",
        mcp.SCHEMA,
        mcp.McpServer,
        mcp.parse,
    ),
    "github": ServiceKind(
        "github",
        "GitHub's REST API, at http://NAME:8080, and git, at /OWNER/REPO.git there.",
        github.SCHEMA,
        _github,
        github.parse,
    ),
    "git": ServiceKind(
        "git",
        "Bare git repositories over HTTP, at http://NAME:8080/REPO.git.",
        git.SCHEMA,
        _git,
        git.parse,
    ),
    "telegram": ServiceKind(
        "telegram",
        "Telegram's Bot API, at http://NAME:8080/bot, and the person whom a bot writes to.",
        telegram.SCHEMA,
        telegram.Telegram,
        telegram.parse,
        person=True,
    ),
    "slack": ServiceKind(
        "slack",
        "Slack's Web API, at http://NAME:8080/api/, its webhooks, and the person there.",
        slack.SCHEMA,
        slack.Slack,
        slack.parse,
        person=True,
    ),
}


def build(decl: ServiceDecl) -> HttpService:
    """The service that a case declares.

    Raises:
        LookupError: there is no such kind, or a case does not declare it.
    """
    kind = SERVICES.get(decl.kind)
    if kind is None or kind.build is None:
        known = ", ".join(name for name, kind in SERVICES.items() if kind.build)
        raise LookupError(f"no service of kind {decl.kind!r} can be declared; write one of {known}")
    return kind.build(decl)
