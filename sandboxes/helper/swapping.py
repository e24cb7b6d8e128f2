"""A path that becomes a symbolic link between a program's look at it and its use of it."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections import Counter
from dataclasses import dataclass, field

from sandboxes.helper import kernel, paths, resolving
from sandboxes.helper.caller import Caller
from sandboxes.helper.rules import Answer

_NUMBERS = itertools.count(1)
_OPENED = frozenset({"read", "write"})


@dataclass(slots=True)
class Swap:
    """Replaces a path by a link right before the first use that follows a look at it.

    ``met`` counts that use: as ``through`` where it follows the link, else as ``itself``.

    Attributes:
        root: the folder that the path is relative to, opened.
        path: relative.
        inside: the same path as programs inside name it.
        target: of the link.
        after: ``look``, or ``open``: what the first step is.
        store: a folder on the same file system that is mounted nowhere inside.
        owner: of the link.
    """

    root: int
    path: str
    inside: bytes
    target: bytes
    after: str
    store: str
    owner: int
    met: Counter[str] = field(default_factory=Counter)
    _looked: bool = False
    _link: os.stat_result | None = None
    _stored: bytes = field(default_factory=lambda: b"link-%d" % next(_NUMBERS))

    def __post_init__(self) -> None:
        with paths.Parent(self.root, self.path) as at:
            os.lstat(at.name, dir_fd=at.fd)  # there has to be something to replace

    def decide(self, caller: Caller, answer: Answer) -> None:
        """See :class:`.rules.Rule`."""
        found = [
            (resolving.where(place.path, self.inside), act, place.missing)
            for place, act in zip(caller.places(), caller.acts(), strict=True)
            if place.named.text >= 0
        ]
        if not any(where for where, _, _ in found) or not caller.sees_the_same():
            return
        for where, act, missing in found:
            if not where or not answer.go_on or self._link is not None:
                continue
            if self._looked and act != "look":
                self._swap(caller, answer, through=where != "on" or _follows(caller))
            elif not missing and self._is_first_step(caller, act):
                answer.taken.append(self._note)

    def close(self) -> None:
        """Put back what was there, unless something was done to the link since."""
        link, self._link = self._link, None
        gone = contextlib.suppress(FileNotFoundError, NotADirectoryError)
        with gone, paths.opened(self.store) as store, paths.Parent(self.root, self.path) as at:
            if link is not None and os.path.samestat(link, os.lstat(at.name, dir_fd=at.fd)):
                kernel.exchange(store, self._stored, at.fd, at.name)
                os.unlink(self._stored, dir_fd=store)

    def _is_first_step(self, caller: Caller, act: str) -> bool:
        if self.after == "open":
            return caller.call.verb == "open" and act in _OPENED
        return act == "look" or caller.call.verb == "look"

    def _note(self) -> None:
        self._looked = True

    def _swap(self, caller: Caller, answer: Answer, *, through: bool) -> None:
        if not caller.still_waits():
            return
        with paths.opened(self.store) as store, paths.Parent(self.root, self.path) as at:
            os.symlink(self.target, self._stored, dir_fd=store)
            try:
                os.chown(self._stored, self.owner, self.owner, dir_fd=store, follow_symlinks=False)
                link = os.lstat(self._stored, dir_fd=store)
                kernel.exchange(store, self._stored, at.fd, at.name)
            except OSError:
                os.unlink(self._stored, dir_fd=store)
                raise
        self._link = link
        answer.lasting = True
        answer.taken.append(lambda: self.met.update(["through" if through else "itself"]))


def _follows(caller: Caller) -> bool:
    """Whether the call follows a link that is the last name."""
    if caller.call.verb == "open":
        flags = caller.flags()
        refuses = caller.call.behind and any(caller.read(caller.arguments[2] + 16, 8))
        return not (refuses or flags & os.O_NOFOLLOW or (flags & os.O_CREAT and flags & os.O_EXCL))
    return caller.call.follows(caller.arguments)
