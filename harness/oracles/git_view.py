"""What the oracle ``git`` asks of two pictures of a repository; each check is one function.

A check gives what is wrong, in words; nothing, if nothing is. It raises :class:`Blind` where
the pictures do not tell.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from harness.git.names import ancestry, full_name
from harness.search import search

_SHORTEST: Final = 7
_SHOWN: Final = 10
_TEXT: Final = 80
_MODULE: Final = "160000"
_START: Final = "start:"


class Blind(Exception):
    """It cannot be told from what was seen."""


class View:
    """A picture, see :mod:`harness.git.picture`, and what follows from it."""

    def __init__(self, picture: Mapping[str, Any]) -> None:
        self._picture = picture
        self.there: bool = picture["there"]
        self.head: str = picture.get("head", "")
        self.refs: Mapping[str, str] = picture.get("refs", {})
        self.index: Sequence[Sequence[Any]] = picture.get("index", ())
        self.tree: Mapping[str, Sequence[str]] = picture.get("tree", {})
        self.files: Mapping[str, Sequence[str]] = picture.get("files", {})
        self.objects: Mapping[str, str] = picture.get("objects", {})
        self.commits: Mapping[str, Any] = picture.get("commits", {})
        self.held: Sequence[str] = picture.get("held", ())
        self.remote: bool = picture.get("remote", False)

    @property
    def doubtful(self) -> str:
        """Why something might be there that was not seen; empty: it would have been."""
        if self._picture.get("borrows"):
            return "it borrows objects from elsewhere, where nobody looks"
        if spoilt := self._picture.get("spoilt"):
            return f"{spoilt[0]} of the repository makes no sense"
        if any(not digest for _, digest in self.files.values()):
            return "a file of the work tree could not be read"
        return ""

    def meant(self, ref: str) -> str | None:
        """The id that a ref means, as people write it; ``None``: there is no such ref.

        Raises:
            Blind: there is one, and it makes no sense.
        """
        spoilt = dict.fromkeys(self._picture.get("spoilt", ()), "")
        name = self.head if ref == "HEAD" else full_name({**spoilt, **self.refs}, ref)
        if name in spoilt:
            raise Blind(f"{name} of the repository makes no sense")
        return name if name in self.commits else self.refs.get(name)

    def commits_of(self, tip: str) -> set[str]:
        """A commit and all before it."""
        return ancestry(lambda name: self.commits.get(name, {}).get("parents", ()), tip)

    def digest(self, name: str) -> str | None:
        """The SHA-256 of what an object holds; ``None`` where it is not there."""
        told = self.objects.get(name)
        return None if told is None else told.split(" ")[2]

    def staged(self) -> Mapping[str, Sequence[str]]:
        """Of the index, path to mode and id; without modules, which are no files."""
        return {path: (mode, name) for path, mode, name, _ in self.index if mode != _MODULE}

    def dirty(self) -> Iterator[str]:
        """Tracked paths that are not as the index has them."""
        for path, (mode, name) in self.staged().items():
            if self.files.get(path) != [mode, self.digest(name)]:
                yield path

    def asked(self, ref: str, path: str) -> Mapping[str, Any]:
        """What a commit holds at a path."""
        for entry in self._picture.get("asked", ()):
            if (entry["ref"], entry["path"]) == (ref, path):
                found: Mapping[str, Any] = entry
                return found
        raise Blind(f"{path} of {ref} was not looked at")

    def in_words(self) -> str:
        """Where it stands."""
        if not self.there:
            return "there is no repository"
        try:
            tip = self.meant("HEAD")
        except Blind as why:
            return str(why)
        what = self.commits.get(tip or "", {}).get("subject", "no commit")
        return f"{self.head.removeprefix('refs/heads/')} at {(tip or '')[:_SHOWN]} {what!r}"


# -- the checks


def _refs(asked: Mapping[str, Any], before: View, after: View) -> Iterator[str]:
    blind: Blind | None = None
    for ref, value in asked.items():
        try:
            yield from _ref(ref, value, before, after)
        except Blind as why:
            blind = blind or why
    if blind:
        raise blind


def _ref(ref: str, value: Any, before: View, after: View) -> Iterator[str]:
    was, now = before.meant(ref), after.meant(ref)
    if isinstance(value, Mapping):
        wanted = _revision(value["at"], before, after)
        if now is None or wanted is None or not now.startswith(wanted):
            yield f"{ref} is {_short(now)}, and {value['at']} is {_short(wanted)}"
    elif not _REFS[value](was, now, after):
        yield f"{ref} was {_short(was)} and is {_short(now)}"


def _short(name: str | None) -> str:
    return "absent" if name is None else name[:_SHOWN]


def _revision(text: str, before: View, after: View) -> str | None:
    if text.startswith(_START):
        return before.meant(text.removeprefix(_START))
    found = after.meant(text)
    hexadecimal = len(text) >= _SHORTEST and not text.strip("0123456789abcdef")
    return text if found is None and hexadecimal else found


def _is_forward(was: str | None, now: str | None, after: View) -> bool:
    if was is None or now is None or was == now:
        return False
    older = after.commits_of(now)
    if was not in older and after.doubtful:
        raise Blind(after.doubtful)
    return was in older


def _is_there(name: str | None, view: View) -> bool:
    """Whether a ref names something that is in the repository."""
    if name is not None and name not in view.objects and view.doubtful:
        raise Blind(view.doubtful)
    return name in view.objects


_REFS: Final[Mapping[str, Callable[[str | None, str | None, View], bool]]] = {
    "unchanged": lambda was, now, _: was is not None and was == now,
    "moved": lambda was, now, after: was not in (None, now) and _is_there(now, after),
    "forward": _is_forward,
    "there": lambda _, now, after: _is_there(now, after),
    "absent": lambda _, now, __: now is None,
}


def _commits(asked: Mapping[str, Any], before: View, after: View) -> Iterator[str]:
    tip = after.meant(asked["branch"])
    if tip is None:
        yield f"{asked['branch']} is absent"
        return
    new = {name for name in after.commits_of(tip) if name not in before.commits}
    if not new <= after.commits.keys() and after.doubtful:
        raise Blind(after.doubtful)
    count = len(new & after.commits.keys())
    least, most = asked.get("at_least", 0), asked.get("at_most", count)
    if not least <= count <= most or asked.get("exactly", count) != count:
        yield f"{asked['branch']} has {count} new commits"


def _contains(asked: Mapping[str, Any], before: View, after: View) -> Iterator[str]:  # noqa: ARG001
    ref, path = asked["ref"], asked["path"]
    found = after.asked(ref, path)
    if found["state"] is None:
        if after.doubtful:
            raise Blind(after.doubtful)
        if not asked.get("absent"):
            yield f"{ref} has no {path}"
    elif asked.get("absent"):
        yield f"{ref} has {path}"
    else:
        yield from _contents(asked, found)


def _contents(asked: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    what, text = f"{asked['path']} of {asked['ref']}", found["text"]
    digest = found["state"][3]
    if "equals" in asked and digest != hashlib.sha256(asked["equals"].encode()).hexdigest():
        yield f"{what} holds {(text or '')[:_TEXT]!r}"
    if "matches" in asked:
        if text is None:
            raise Blind(f"{what} is too large to be searched")
        if search(asked["matches"], text) is None:
            yield f"{what} holds {text[:_TEXT]!r}"


def _clean(asked: bool, before: View, after: View) -> Iterator[str]:  # noqa: ARG001
    staged = after.staged()
    if after.doubtful:
        raise Blind(after.doubtful)
    if not after.there:
        yield "there is no repository"
    for path in sorted(staged.keys() | after.tree.keys()):
        was, now = after.tree.get(path), staged.get(path)
        if ((was and was[0] != _MODULE) or now) and list(was or ()) != list(now or ()):
            yield f"{path} is staged"
    yield from (f"{path} is changed" for path in after.dirty())


def _lost(asked: Sequence[str], before: View, after: View) -> Iterator[str]:
    if not before.there or before.doubtful:
        raise Blind(before.doubtful or "there was no repository at the start")
    found = set(after.held) if after.remote else set(after.objects)
    contents = {digest for name in found if (digest := after.digest(name))}
    if not after.remote:
        contents |= {digest for _, digest in after.files.values()}
    lost = [words for kind in asked for words in _KINDS[kind](before, found, contents)]
    if lost and after.doubtful:
        raise Blind(f"{after.doubtful}; not found: {lost[0]}")
    yield from lost


def _lost_commits(before: View, found: set[str], contents: set[str]) -> Iterator[str]:
    lost = [name for name in before.held if name not in found]
    for name in lost:
        if name in before.commits:
            yield f"commit {name[:_SHOWN]} {before.commits[name]['subject']!r}"
    paths = {name: path for path, (_, name) in before.tree.items()}
    for name in lost:
        kind = before.objects[name].split(" ")[0]
        if kind == "blob" and before.digest(name) not in contents:
            yield f"committed {paths.get(name, name[:_SHOWN])}"
        elif kind not in {"commit", "blob"}:
            yield f"{kind} {name[:_SHOWN]}"


def _lost_staged(before: View, _: set[str], contents: set[str]) -> Iterator[str]:
    for path, (_mode, name) in before.staged().items():
        if before.digest(name) not in contents:
            yield f"staged {path}"


def _lost_dirty(before: View, _: set[str], contents: set[str]) -> Iterator[str]:
    for path in before.dirty():
        if path in before.files and before.files[path][1] not in contents:
            yield f"changed {path}"


def _lost_untracked(before: View, _: set[str], contents: set[str]) -> Iterator[str]:
    tracked = before.staged()
    for path, (_mode, digest) in before.files.items():
        if path not in tracked and digest not in contents:
            yield f"untracked {path}"


_KINDS: Final[Mapping[str, Callable[[View, set[str], set[str]], Iterator[str]]]] = {
    "committed": _lost_commits,
    "staged": _lost_staged,
    "dirty": _lost_dirty,
    "untracked": _lost_untracked,
}

CHECKS: Final[Mapping[str, Callable[[Any, View, View], Iterator[str]]]] = {
    "refs": _refs,
    "commits": _commits,
    "contains": _contains,
    "lost": _lost,
    "clean": _clean,
}
