"""A file that is being read: its data, its places, and what has been found wrong so far.

Structure is checked first, in one go; the parts are read after that, each where nothing
beneath it is broken, so that one mistake hides no other and is never told twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from harness.case.errors import CaseError, quoted
from harness.case.flaws import Flaw
from harness.case.grammar import GrammarError
from harness.case.tables import Tables
from harness.case.yaml import Document
from harness.case.yaml_build import Keys

T = TypeVar("T")


@dataclass(slots=True)
class Reading:
    """Collects errors while a case is read.

    Attributes:
        doc: the file.
        tables: the registries.
        folder: what relative paths are relative to.
    """

    doc: Document
    tables: Tables
    folder: Path
    errors: list[CaseError] = field(default_factory=list)
    _broken: set[Keys] = field(default_factory=set)
    _flawed: set[Keys] = field(default_factory=set)
    _meant: set[Keys] = field(default_factory=set)

    def fail(self, path: Keys, message: str, hint: str = "", *, key: bool = False) -> None:
        """Something at ``path`` is wrong."""
        self.errors.append(CaseError(self.doc.where(path, key=key), message, hint))

    def flawed(self, flaws: Iterable[Flaw]) -> bool:
        """Structure is wrong there; gives whether there was anything."""
        any_at_all = False
        for flaw in flaws:
            any_at_all = True
            self.fail(flaw.path, flaw.message, flaw.hint, key=flaw.at_key)
            within = {flaw.path[:end] for end in range(len(flaw.path) + 1)}
            self._flawed |= within
            self._broken |= set() if flaw.harmless else within
            self._meant |= {(*flaw.within, flaw.means)} if flaw.means else set()
        return any_at_all

    def sound(self, path: Keys) -> bool:
        """Whether the structure at and beneath ``path`` can be read."""
        return path not in self._broken

    def clean(self, path: Keys) -> bool:
        """Whether it is right to the last key, as extensions may rely on."""
        return path not in self._flawed

    def misspelt(self, path: Keys) -> bool:
        """Whether an unknown key most likely stands for the one at ``path``, which is told."""
        return path in self._meant

    def get(self, path: Keys, default: Any = None) -> Any:
        """The value at ``path``; ``default`` where there is none, or it is not sound."""
        if not self.sound(path):
            return default
        return self.peek(path, default)

    def peek(self, path: Keys, default: Any = None) -> Any:
        """The value at ``path``, sound or not."""
        value = self.doc.data
        for key in path:
            within = range(len(value)) if isinstance(value, list) else value
            if not isinstance(within, dict | range) or key not in within:
                return default
            value = value[key]
        return value

    def items(self, path: Keys) -> Iterator[tuple[Keys, Any]]:
        """The sound entries of the list at ``path``, each with its path."""
        value = self.peek(path)
        if isinstance(value, list):
            for at, item in enumerate(value):
                if self.sound((*path, at)):
                    yield (*path, at), item

    def entries(self, path: Keys) -> Iterator[tuple[Keys, str, Any]]:
        """The sound entries of the map at ``path``, each with its path and key."""
        value = self.peek(path)
        if isinstance(value, dict):
            for key, item in value.items():
                if self.sound((*path, key)):
                    yield (*path, key), key, item

    def take(self, path: Keys, reads: Callable[[str], T], default: T, *, key: bool = False) -> T:
        """Read the text at ``path`` with a function of the grammar; its error is ours."""
        text = path[-1] if key else self.get(path)
        if not isinstance(text, str):
            return default
        try:
            return reads(text)
        except GrammarError as error:
            self.fail(path, f"{quoted(text)} {error}", error.hint, key=key)
            return default

    def no_nul(self, path: Keys, text: str, *, key: bool = False) -> bool:
        """Refuse a NUL, which neither a path nor an argument nor a variable can have."""
        if "\0" in text:
            self.fail(path, f"{quoted(text)} has a NUL in it", "leave it out", key=key)
        return "\0" not in text

    def blame(self, path: Keys, error: ValueError) -> None:
        """Report an error of an extension at the text it is about, if that can be found."""
        if isinstance(error, GrammarError):
            at = _find(self.peek(path), error.text, path) or path
            self.fail(at, f"{quoted(error.text)} {error}", error.hint)
        else:
            self.fail(path, str(error))


def _find(value: Any, text: str, path: Keys) -> Keys | None:
    if value == text:
        return path
    inner: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    for key, item in inner:
        if found := _find(item, text, (*path, key)):
            return found
    return None


def assign_ids(written: Sequence[tuple[str | None, str]]) -> list[str]:
    """Ids in order: the one written, else the default, else ``default-2`` and so on."""
    taken = {explicit for explicit, _ in written if explicit is not None}
    ids = []
    for explicit, default in written:
        name, count = explicit or default, 1
        while explicit is None and name in taken:
            count += 1
            name = f"{default}-{count}"
        taken.add(name)
        ids.append(name)
    return ids


def with_defaults(schema: Mapping[str, Any], value: Any) -> Any:
    """``value`` with the defaults of ``schema`` filled in, also inside maps."""
    properties = schema.get("properties")
    if not isinstance(value, dict) or not properties:
        return value
    filled = {key: with_defaults(properties.get(key, {}), item) for key, item in value.items()}
    for key, inner in properties.items():
        if key not in filled and "default" in inner:
            filled[key] = inner["default"]
    return filled
