"""What a case writes of repositories: first files, further commits, rules, and arrivals."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from harness.case.grammar import GrammarError
from harness.case.model import ServiceDecl
from harness.case.pieces import flag, listing, record, table, text, whole
from harness.extension import Schema

HOST_NAME: Final = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"
_BRANCH: Final = r"^[A-Za-z0-9_][A-Za-z0-9_.+-]*(/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*$"
_REPO: Final = r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$"
_PATH: Final = re.compile(r"(?!(?:.*/)?\.{0,2}(?:/|$)|(?:.*/)?\.git(?:/|$))[^\0]+", re.IGNORECASE)
_USUAL_AUTHOR: Final = "Robin <robin@example.com>"

FILES: Final[Schema] = table(
    "path to what is there: text, bytes, or null for a file that goes",
    {
        "oneOf": [
            {"type": "string"},
            {"type": "null"},
            record(
                "a file with a mode, or of bytes",
                {
                    "text": text("its contents"),
                    "base64": text("its contents, as bytes in base64", contentEncoding="base64"),
                    "mode": text('"0644" or "0755"', enum=["0644", "0755"], default="0644"),
                },
                oneOf=[{"required": ["text"]}, {"required": ["base64"]}],
            ),
        ]
    },
)

_AUTHOR: Final = text("who made it", pattern="^[^<>\\n]+ <[^<>\\n]*>$", default=_USUAL_AUTHOR)
BRANCH: Final = text("a branch", pattern=_BRANCH)
_COMMIT: Final[Mapping[str, Any]] = {
    "branch": text("where it is made; the first branch by default", pattern=_BRANCH),
    "message": text("what it says", minLength=1, default="Change"),
    "author": _AUTHOR,
    "files": FILES,
}

COMMITS: Final[Schema] = listing(
    "further commits, in order",
    record(
        "a commit; on a branch that is new it follows the first branch, or `from`",
        {**_COMMIT, "from": text("the branch that a new branch starts from", pattern=_BRANCH)},
        ("files",),
    ),
    default=[],
)

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
                {"after_request": whole("how many", minimum=1), **_COMMIT},
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
    propertyNames={"pattern": HOST_NAME, "not": {"const": "model"}},
)


@dataclass(frozen=True, slots=True)
class FileDecl:
    """A file as declared."""

    data: bytes
    program: bool = False


#: Paths to files; ``None`` takes one away.
Files = Mapping[str, FileDecl | None]


@dataclass(frozen=True, slots=True)
class CommitDecl:
    """A commit as declared; ``start`` is the branch that a new branch starts from."""

    branch: str
    files: Files
    message: str
    author: str = _USUAL_AUTHOR
    start: str = ""
    after_request: int = 0


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


def files_of(written: Mapping[str, Any]) -> Files:
    """Files as a case writes them.

    Raises:
        GrammarError: a path cannot be one in a repository, or base64 is none.
    """
    found: dict[str, FileDecl | None] = {}
    for path, value in written.items():
        if _PATH.fullmatch(path) is None:
            raise GrammarError("is no path in a repository", path, "write one such as docs/a.txt")
        found[path] = _file(path, value)
    for path in found:
        parts = path.split("/")
        for end in range(1, len(parts)):
            parent = "/".join(parts[:end])
            if found.get(parent) is not None:
                raise GrammarError(f"lies in {parent}, which is no folder", path, "keep one")
    return found


def _file(path: str, value: Any) -> FileDecl | None:
    if value is None or isinstance(value, str):
        return None if value is None else FileDecl(value.encode(), value.startswith("#!"))
    program = value.get("mode", "0644") == "0755"
    if "text" in value:
        return FileDecl(value["text"].encode(), program)
    try:
        return FileDecl(base64.b64decode(value["base64"], validate=True), program)
    except ValueError as error:
        raise GrammarError("is no base64", path, "encode it again") from error


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
    commits += [_commit(item, first) for item in written.get("commits", ())]
    arrives = [_commit(item, first) for item in written.get("arrives", ())]
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


def _commit(item: Mapping[str, Any], first: str) -> CommitDecl:
    return CommitDecl(
        item.get("branch", first),
        files_of(item["files"]),
        item.get("message", "Change"),
        item.get("author", _USUAL_AUTHOR),
        item.get("from", ""),
        item.get("after_request", 0),
    )
