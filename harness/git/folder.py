"""Reads a repository out of a folder that a subject had its hands on.

No program is run, and nothing of the repository is heeded that could lead elsewhere or run
something: no config, hook, filter, attribute or include. Borrowed objects (alternates) are not
fetched, a ``.git`` that points elsewhere is not followed, and no link is. What cannot be read
for that is said, never guessed.
"""

from __future__ import annotations

import io
import os
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from dulwich.index import read_index

from harness.git.objects import Budget, Obj, TooMuch, Unreadable, object_id, read_loose, read_pack
from sandboxes.base import Entry, Kind

#: Of all files of one repository, bytes; of what they hold, bytes and objects.
MOST_READ: Final = 64 << 20
MOST_HELD: Final = 128 << 20
MOST_OBJECTS: Final = 20_000

_MOST_REFS: Final = 5000
_MOST_LINKS: Final = 5
_ID: Final = 40
_LONG_ID: Final = 64
_HEX: Final = "0123456789abcdef"
#: What git takes of a file that holds an id: what follows a blank does not matter.
_ID_FIRST: Final = re.compile(r"(?ai)(?:[0-9a-f]{64}|[0-9a-f]{40})(?=\s|$)")
#: Files by which git would look for data outside of the folder.
_BORROWING: Final = ("objects/info/alternates", "objects/info/http-alternates")


class Tree(Protocol):
    """A folder with all below it, as it was listed, and a way to read its files."""

    @property
    def entries(self) -> Mapping[str, Entry]:
        """Paths below the folder, surrogate-escaped, to what they are."""

    def read(self, path: str, most: int) -> bytes | None:
        """The first bytes of a file; ``None`` where it cannot be read."""


@dataclass(frozen=True, slots=True)
class Staged:
    """An entry of the index; ``stage`` is 0 unless it is in conflict."""

    path: str
    mode: int
    id: str
    stage: int = 0


@dataclass(slots=True)
class Found:
    """A repository as it was found.

    Attributes:
        why: why it could not be read; empty: it was.
        there: whether there is one at all.
        head: the ref that HEAD names, or an id.
        refs: full names to ids.
        spoilt: files of it that could not be made sense of.
        borrows: whether it says that it has objects elsewhere.
    """

    why: str = ""
    there: bool = True
    head: str = ""
    refs: dict[str, str] = field(default_factory=dict)
    index: list[Staged] = field(default_factory=list)
    objects: dict[str, Obj] = field(default_factory=dict)
    spoilt: list[str] = field(default_factory=list)
    borrows: bool = False

    def meant(self, ref: str) -> str | None:
        """The id that a full ref name, or HEAD, means; ``None`` where it means none."""
        name = self.head if ref == "HEAD" else ref
        return name if is_id(name) else self.refs.get(name)


def is_id(text: str) -> bool:
    """Whether a text is the name of an object."""
    return len(text) == _ID and not text.strip(_HEX)


def read_repository(tree: Tree) -> Found:
    """The repository of a work tree, or a bare one."""
    for prefix in (".git/", ""):
        entry = tree.entries.get(prefix.rstrip("/"))
        if prefix and entry is not None and entry.kind is not Kind.DIR:
            return Found(why=f".git is a {entry.kind}, and what it points to is not looked at")
        if f"{prefix}HEAD" in tree.entries and f"{prefix}objects" in tree.entries:
            return _Reading(tree, prefix).found()
        if prefix and f"{prefix}objects" in tree.entries:
            return Found(why="the folder .git holds no repository, as it has no HEAD")
        if prefix and entry is not None:
            break
    return Found(there=False)


class _Reading:
    def __init__(self, tree: Tree, prefix: str) -> None:
        self._tree = tree
        self._prefix = prefix
        self._left = MOST_READ
        self._budget = Budget(MOST_HELD, MOST_OBJECTS)
        self._found = Found()

    def found(self) -> Found:
        try:
            self._look_for_traps()
            self._read_objects()
            self._read_refs()
            self._read_index()
        except TooMuch as error:
            return Found(why=f"it holds {error}")
        except Unreadable as error:
            return Found(why=str(error))
        return self._found

    def _look_for_traps(self) -> None:
        """What makes a repository something else than its files.

        Raises:
            Unreadable: a part of it lies elsewhere, or is not in a form that is read.
        """
        for path, entry in self._tree.entries.items():
            name = path.removeprefix(self._prefix)
            ours = path.startswith(self._prefix) and name.startswith(
                ("HEAD", "refs", "objects", "packed-refs", "index")
            )
            if ours and entry.kind not in {Kind.FILE, Kind.DIR}:
                raise Unreadable(f"{path} is a {entry.kind}")
        for name, why in (("commondir", "elsewhere"), ("reftable", "in a form that is not read")):
            if f"{self._prefix}{name}" in self._tree.entries:
                raise Unreadable(f"its refs are {why}: it has a {name}")
        borrowing = [self._tree.entries.get(self._prefix + path) for path in _BORROWING]
        self._found.borrows = any(entry is not None and entry.size for entry in borrowing)

    def _files(self, under: str) -> Iterator[str]:
        """Names of files below a folder of the repository."""
        start = f"{self._prefix}{under}/"
        for path, entry in self._tree.entries.items():
            if path.startswith(start) and entry.kind is Kind.FILE:
                yield path.removeprefix(self._prefix)

    def _read(self, name: str) -> bytes | None:
        if self._prefix + name not in self._tree.entries:
            return None
        data = self._tree.read(self._prefix + name, self._left + 1)
        if data is None:
            self._found.spoilt.append(name)
            return None
        self._left -= len(data)
        if self._left < 0:
            raise TooMuch(f"more than {MOST_READ} bytes")
        return data

    # -- objects

    def _read_objects(self) -> None:
        names = list(self._files("objects"))
        if len(names) > MOST_OBJECTS:
            raise TooMuch(f"more than {MOST_OBJECTS} objects")
        for name in names:
            expected = "".join(name.split("/")[1:])
            if not is_id(expected) and not name.endswith(".pack"):
                continue
            data = self._read(name)
            if data is None:
                continue
            try:
                self._found.objects.update(self._objects(expected, data))
            except Unreadable:
                self._found.spoilt.append(name)

    def _objects(self, expected: str, data: bytes) -> Mapping[str, Obj]:
        """What a file holds whose name tells an id, or nothing of the kind."""
        if not is_id(expected):
            return read_pack(data, self._found.objects, self._budget)
        obj = read_loose(data, self._budget)
        if object_id(*obj) != expected:
            raise Unreadable("not the object that its name says")
        return {expected: obj}

    # -- refs

    def _read_refs(self) -> None:
        refs = self._packed_refs()
        symbolic: dict[str, str] = {}
        for name in self._files("refs"):
            kind, value = self._ref(name)
            refs.pop(name, None)  # what is packed does not count beside it, whatever it is
            if kind:
                (refs if kind == "id" else symbolic)[name] = value
        if len(refs) > _MOST_REFS:
            raise TooMuch(f"more than {_MOST_REFS} refs")
        for name in symbolic:
            target = _followed(symbolic, name)
            if target in refs:
                refs[name] = refs[target]
            elif target in symbolic:
                self._found.spoilt.append(name)
        kind, head = self._ref("HEAD")
        if not kind:
            raise Unreadable("its HEAD names nothing")
        self._found.head = _followed(symbolic, head)
        self._found.refs = refs

    def _ref(self, name: str) -> tuple[str, str]:
        """What a file names, as git reads it: ``ref`` or ``id``, or nothing."""
        text = (self._read(name) or b"").decode("utf-8", "surrogateescape")
        if text.startswith("ref:"):
            return "ref", text.removeprefix("ref:").strip()
        word = _ID_FIRST.match(text)
        found = word[0].lower() if word else ""
        if is_id(found):
            return "id", found
        if len(found) == _LONG_ID:
            raise Unreadable("its objects are named by SHA-256")
        self._found.spoilt.append(name)
        return "", ""

    def _packed_refs(self) -> dict[str, str]:
        """Every ref of the file; git looks by halves where that says that it is sorted.

        Raises:
            Unreadable: git would not read it, or might read something else out of it.
        """
        text = (self._read("packed-refs") or b"").decode("utf-8", "surrogateescape")
        lines = [line for line in text.split("\n") if line and line[0] not in "#^"]
        pairs = [(line[_ID + 1 :].rstrip("\r"), line[: _ID + 1].lower()) for line in lines]
        if not all(is_id(name[:-1]) and name[-1] in " \t" for _, name in pairs):
            raise Unreadable("its packed-refs hold something else than refs")
        names = [os.fsencode(ref) for ref, _ in pairs]
        in_order = not text.startswith("#") or "sorted" not in text.partition("\n")[0].split()
        if len(set(names)) < len(names) or not (in_order or names == sorted(names)):
            raise Unreadable("its packed-refs are not in order, or name a ref twice")
        return {ref: name[:-1] for ref, name in pairs}

    # -- index

    def _read_index(self) -> None:
        data = self._read("index")
        if data is None:
            return
        try:
            for entry in read_index(io.BytesIO(data)):
                self._found.index.append(
                    Staged(
                        entry.name.decode("utf-8", "surrogateescape"),
                        entry.mode,
                        entry.sha.decode("ascii"),
                        entry.stage().value,
                    )
                )
        except (ValueError, AssertionError, struct.error, IndexError, KeyError, TypeError) as error:
            raise Unreadable(f"its index is in no form that is read: {error}") from error


def _followed(symbolic: Mapping[str, str], name: str) -> str:
    """What a ref means that may mean another; not for ever, lest they form a ring."""
    for _ in range(_MOST_LINKS):
        name = symbolic.get(name, name)
    return name
