"""What a case writes of repositories: first files, further commits, rules, and arrivals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from harness.case.grammar import GrammarError
from harness.case.model import ServiceDecl
from harness.case.pieces import flag, listing, record, table, text, whole
from harness.case.repo import BRANCH, COMMIT, COMMITS, FILES, CommitDecl, commit_of, files_of
from harness.extension import Schema
from harness.services.base import HOST_NAMES

_REPO: Final = r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$"

REPOSITORY: Final[Schema] = record(
    "a repository; its first commit holds `files`",
    {
        "files": {**FILES, "default": {}},
        "branch": BRANCH | {"default": "main", "description": "the first branch, and HEAD's"},
        "empty": flag("whether it has no commit at all", default=False),
        "commits": COMMITS,
        "tags": table("tag to the branch whose last commit it names", BRANCH, default={}),
        "protect": listing("branches that nobody may push to", BRANCH, default=[]),
        "deny_force": flag("refuse a push that drops commits of a branch", default=False),
        "deny_delete": flag("refuse to delete a branch", default=False),
        "arrives": listing(
            "commits of somebody else that appear while the subject works",
            record(
                "a commit that is there once so many requests to the service were answered",
                {"after_request": whole("how many", minimum=1), **COMMIT},
                ("after_request", "files"),
            ),
            default=[],
        ),
    },
)

SCHEMA: Final[Schema] = table(
    "git remotes by host name; each repository is http://NAME/REPO.git",
    record(
        "a git remote",
        {
            "repos": table("repository name to what it holds", REPOSITORY, minProperties=1)
            | {"propertyNames": {"pattern": _REPO, "not": {"pattern": "\\.git$"}}},
            "token": text(
                "password that every request must carry, by any user name; none by default",
                minLength=1,
            ),
        },
        ("repos",),
    ),
    propertyNames=HOST_NAMES,
)


@dataclass(frozen=True, slots=True)
class Rules:
    """What a push may not do."""

    protect: frozenset[str] = frozenset()
    deny_force: bool = False
    deny_delete: bool = False


@dataclass(frozen=True, slots=True)
class RepoDecl:
    """A repository as declared; ``arrives`` in the order of their requests."""

    name: str
    branch: str = "main"
    commits: Sequence[CommitDecl] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    rules: Rules = Rules()
    arrives: Sequence[CommitDecl] = ()


@dataclass(frozen=True, slots=True)
class GitDecl:
    """A ``git`` service as declared."""

    repos: Sequence[RepoDecl]
    token: str | None = None


def parse(name: str, written: Mapping[str, Any]) -> ServiceDecl:
    """A git remote from what the case writes under its name, validated against :data:`SCHEMA`.

    Raises:
        GrammarError: a repository cannot be made of it.
    """
    repos = tuple(repository_of(repo, value) for repo, value in written["repos"].items())
    return ServiceDecl("git", name, GitDecl(repos, written.get("token")))


def repository_of(name: str, written: Mapping[str, Any]) -> RepoDecl:
    """A repository as a case writes it.

    Raises:
        GrammarError: something names a branch that is not there, or no path.
    """
    first = written.get("branch", "main")
    commits = []
    if not written.get("empty"):
        commits = [CommitDecl(first, files_of(written.get("files", {})), "Start")]
    elif written.get("files"):
        raise GrammarError("is empty and has files", name, "leave out one of them")
    commits += [commit_of(item, first) for item in written.get("commits", ())]
    arrives = [commit_of(item, first) for item in written.get("arrives", ())]
    branches = {commit.branch for commit in commits}
    for wanted in (*written.get("tags", {}).values(), *(c.start for c in commits if c.start)):
        if wanted not in branches:
            raise GrammarError("is no branch of its repository", wanted, "name one that is")
    return RepoDecl(
        name,
        first,
        tuple(commits),
        dict(written.get("tags", {})),
        Rules(
            frozenset(written.get("protect", ())),
            written.get("deny_force", False),
            written.get("deny_delete", False),
        ),
        tuple(sorted(arrives, key=lambda commit: commit.after_request)),
    )
