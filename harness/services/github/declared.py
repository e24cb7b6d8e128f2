"""What a case writes of a GitHub, and what is made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from harness.case.grammar import GrammarError
from harness.case.model import ServiceDecl
from harness.case.pieces import flag, listing, record, table, text, whole
from harness.extension import Schema
from harness.services.base import HOST_NAMES
from harness.services.git.declared import REPOSITORY, RepoDecl, repository_of

_NAME: Final = "^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$"
_OWN: Final = ("issues", "pulls", "private", "checks")

_ISSUE: Final[Mapping[str, Any]] = {
    "title": text("its title", minLength=1),
    "body": text("its text", default=""),
    "by": text("who wrote it", default="robin"),
    "labels": listing("its labels", text("a label"), default=[]),
    "closed": flag("whether it is closed", default=False),
    "comments": listing("comments in order, by others", text("a comment"), default=[]),
}

REPO: Final[Schema] = record(
    "a repository, as a git service has it, with what GitHub adds",
    {
        **REPOSITORY["properties"],
        "private": flag("whether it is private", default=False),
        "issues": listing("issues, numbered from 1", record("an issue", _ISSUE, ("title",))),
        "pulls": listing(
            "pull requests, numbered on from the issues",
            record(
                "a pull request",
                {
                    **_ISSUE,
                    "head": text("the branch that it brings"),
                    "base": text("the branch that it is for; the first one by default"),
                },
                ("title", "head"),
            ),
        ),
        "checks": table(
            "check to its conclusion, of the last commit of every branch, also of a new one",
            text("conclusion", enum=["success", "failure", "pending"]),
        ),
    },
)

SCHEMA: Final[Schema] = table(
    "GitHub by host name: the API is http://NAME, also under /api/v3; git finds "
    "http://NAME/OWNER/REPO.git there",
    record(
        "a GitHub",
        {
            "repos": table("OWNER/REPO to what it holds", REPO, minProperties=1)
            | {"propertyNames": {"pattern": _NAME}},
            "login": text("whom the token belongs to", default="agent"),
            "token": text("token that every request must carry; none by default", minLength=1),
            "remaining": whole("requests until the rate limit is hit", minimum=0, default=5000),
            "secondary": record(
                "a secondary rate limit",
                {
                    "at": whole("the first request that it hits", minimum=1),
                    "times": whole("how many it hits", minimum=1, default=1),
                    "retry_after": whole("seconds to wait", minimum=0, default=60),
                },
                ("at",),
            ),
        },
        ("repos",),
    ),
    propertyNames=HOST_NAMES,
)


@dataclass(frozen=True, slots=True)
class ForgeRepo:
    """A repository: git's part, and what GitHub adds, as a case writes it."""

    git: RepoDecl
    private: bool
    issues: Sequence[Mapping[str, Any]]
    pulls: Sequence[Mapping[str, Any]]
    checks: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class GithubDecl:
    """A GitHub as declared; ``secondary`` is ``(first request, times, seconds)``."""

    repos: Sequence[ForgeRepo]
    login: str = "agent"
    token: str | None = None
    remaining: int = 5000
    secondary: tuple[int, int, int] | None = None


def parse(name: str, written: Mapping[str, Any]) -> ServiceDecl:
    """A GitHub from what the case writes under its name, validated against :data:`SCHEMA`.

    Raises:
        GrammarError: a repository cannot be made of it.
    """
    limit = written.get("secondary")
    secondary = None
    if limit is not None:
        secondary = (limit["at"], limit.get("times", 1), limit.get("retry_after", 60))
    declared = GithubDecl(
        tuple(_repo(repo, value) for repo, value in written["repos"].items()),
        written.get("login", "agent"),
        written.get("token"),
        written.get("remaining", 5000),
        secondary,
    )
    return ServiceDecl("github", name, declared)


def _repo(name: str, written: Mapping[str, Any]) -> ForgeRepo:
    git = repository_of(name, {k: v for k, v in written.items() if k not in _OWN})
    branches = {commit.branch for commit in git.commits}
    pulls = [{"base": git.branch, **pull} for pull in written.get("pulls", ())]
    for branch in (branch for pull in pulls for branch in (pull["head"], pull["base"])):
        if branch not in branches:
            raise GrammarError("is no branch of its repository", branch, "name one that is")
    return ForgeRepo(
        git,
        written.get("private", False),
        tuple(written.get("issues", ())),
        tuple(pulls),
        dict(written.get("checks", {})),
    )
