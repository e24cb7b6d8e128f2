"""Sets of globs over paths of one root, and which changes they leave out.

A glob that ends in ``/**`` stands for its folder too. Folders that lead to what a glob
names are no change of their own: a file cannot be made without them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import Final

from harness.case.grammar import GrammarError, glob
from harness.evidence.model import FileChange
from sandboxes.base import AGENT_HOME, WORKSPACE, Root

#: What the paths of a tree inside are relative to.
_TOPS: Final = {Root.WORKSPACE: WORKSPACE, Root.HOME: AGENT_HOME}
#: The path of a request begins with a slash, which ``**`` and a leading ``*/`` can stand for.
_TARGET: Final = re.compile(r"/|\*\*|\*[^/]*/")


class GlobSet:
    """Some globs, as written in :mod:`harness.case.grammar`; a leading ``/`` is ignored."""

    def __init__(self, globs: Iterable[str]) -> None:
        """Compile them.

        Raises:
            harness.case.grammar.GrammarError: one is no glob.
        """
        written = [text.lstrip("/") for text in globs]
        folders = [text.removesuffix("/**") for text in written if text.endswith("/**")]
        self._whole = [glob(text) for text in (*written, *folders)]
        self._ways = [glob(way) for text in written for way in _ways(text)]

    def matches(self, path: str) -> bool:
        """Whether one of them names ``path``."""
        return any(matches(path.lstrip("/")) for matches in self._whole)

    def leads(self, folder: str) -> bool:
        """Whether ``folder`` lies on the way to what one of them names."""
        return any(matches(folder.lstrip("/")) for matches in self._ways)

    def beyond(self, changes: Sequence[FileChange]) -> list[FileChange]:
        """The changes that none of them names.

        An added folder is left out of these if it leads to what a glob names, or if a
        change that one names lies in it.
        """
        named = [change.path for change in changes if self.matches(change.path)]

        def is_way(change: FileChange) -> bool:
            after = change.after
            if change.change != "added" or after is None or after.type != "dir":
                return False
            inside = change.path + "/"
            return self.leads(change.path) or any(path.startswith(inside) for path in named)

        return [
            change for change in changes if not self.matches(change.path) and not is_way(change)
        ]


def _ways(text: str) -> Iterable[str]:
    """The proper leading parts of a glob, up to its first ``**``."""
    parts = text.split("/")
    for end in range(1, len(parts)):
        if "**" in parts[end - 1]:
            return
        yield "/".join(parts[:end])


def of_requests(text: str) -> GlobSet:
    """The glob of a request's path.

    Raises:
        GrammarError: it is no glob, or no path of a request fits it.
    """
    if not _TARGET.match(text):
        hint = "write one that begins with /, such as /bot*/sendMessage; * does not cross /"
        raise GrammarError("fits the path of no request", text, hint)
    return GlobSet([text])


def within(root: Root, globs: Iterable[str]) -> GlobSet:
    """Globs of changes in a tree, relative to it; those of the system may begin with ``/``.

    Raises:
        GrammarError: one is no glob, or no path of the tree fits it.
    """
    written = list(globs)
    for text in written:
        if hint := _stray(root, text):
            raise GrammarError(f"fits no path in the {root}", text, hint)
    return GlobSet(written)


def _stray(root: Root, text: str) -> str:
    """What to write for a glob that fits nothing; empty where it may fit something."""
    path = text.lstrip("/")
    plain = posixpath.normpath(path) if path else ""
    if path == ".":  # the tree's own folder
        return ""
    if plain.split("/")[0] in {"", ".", ".."}:
        return f"write it relative to the {root}, such as dir/**"
    if root is Root.SYSTEM:
        for other, top in _TOPS.items():
            if f"/{plain}/".startswith(f"{top}/"):
                return f"write root: {other}, and it relative to that"
    elif text.startswith("/"):
        inner = f"/{plain}".removeprefix(f"{_TOPS[root]}/")
        return f"write it relative to the {root}, such as {inner.lstrip('/')}"
    return f"write {plain}" if plain != path else ""
