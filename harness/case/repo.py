"""What a case writes of a repository: files, commits, and what a work tree starts with."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from harness.case.grammar import GrammarError
from harness.case.pieces import Schema, either, flag, listing, record, table, text

BRANCH_NAME: Final = r"^[A-Za-z0-9_][A-Za-z0-9_.+-]*(/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*$"
_PATH: Final = re.compile(r"(?!(?:.*/)?\.{0,2}(?:/|$)|(?:.*/)?\.git(?:/|$))[^\0]+", re.IGNORECASE)
USUAL_AUTHOR: Final = "Robin <robin@example.com>"

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

_AUTHOR: Final = text("who made it", pattern="^[^<>\\n]+ <[^<>\\n]*>$", default=USUAL_AUTHOR)
BRANCH: Final = text("a branch", pattern=BRANCH_NAME)
COMMIT: Final[Mapping[str, Any]] = {
    "branch": text("where it is made; the first branch by default", pattern=BRANCH_NAME),
    "message": text("what it says", minLength=1, default="Change"),
    "author": _AUTHOR,
    "files": FILES,
}

COMMITS: Final[Schema] = listing(
    "further commits, in order",
    record(
        "a commit; on a branch that is new it follows the first branch, or `from`",
        {**COMMIT, "from": text("the branch that a new branch starts from", pattern=BRANCH_NAME)},
        ("files",),
    ),
    default=[],
)

WORK_TREE: Final[Schema] = either(
    "make it a git repository with everything committed",
    flag("whether it is one", title="plain"),
    record(
        "a repository with more to it, each made in this order",
        {
            "remote": text(
                "begin as a clone of a repository of a git service, NAME/REPO, which becomes "
                "`origin`; nothing is asked of the service for that",
                pattern="^[^/]+/.+$",
            ),
            "commits": COMMITS,
            "staged": {**FILES, "default": {}},
            "dirty": {**FILES, "default": {}},
            "untracked": {**FILES, "default": {}},
            "ignored": {**FILES, "default": {}},
        },
        title="repository",
        minProperties=1,
    ),
    default=False,
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
    author: str = USUAL_AUTHOR
    start: str = ""
    after_request: int = 0


@dataclass(frozen=True, slots=True)
class WorkTree:
    """What a work tree starts with, beyond its first commit.

    Attributes:
        remote: ``NAME/REPO`` of which it begins as a clone; empty: of none.
        ignored: files that ``.git/info/exclude`` names.
    """

    remote: str = ""
    commits: Sequence[CommitDecl] = ()
    staged: Files = field(default_factory=dict)
    dirty: Files = field(default_factory=dict)
    untracked: Files = field(default_factory=dict)
    ignored: Files = field(default_factory=dict)


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


def commit_of(item: Mapping[str, Any], first: str) -> CommitDecl:
    """A commit as a case writes it; ``first`` is the branch where it says none.

    Raises:
        GrammarError: see :func:`files_of`.
    """
    return CommitDecl(
        item.get("branch", first),
        files_of(item["files"]),
        item.get("message", "Change"),
        item.get("author", USUAL_AUTHOR),
        item.get("from", ""),
        item.get("after_request", 0),
    )


def work_tree_of(written: Any) -> WorkTree | None:
    """The work tree that a case asks for; ``None``: none.

    Raises:
        GrammarError: see :func:`files_of`.
    """
    if not isinstance(written, Mapping):
        return WorkTree() if written else None
    kinds = ("staged", "dirty", "untracked", "ignored")
    return WorkTree(
        written.get("remote", ""),
        tuple(commit_of(item, "") for item in written.get("commits", ())),
        *(files_of(written.get(kind, {})) for kind in kinds),
    )
