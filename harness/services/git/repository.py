"""A repository that is served: its objects and refs, and what a push may do to them.

All of it lies in memory, and all of it is bounded: a push beyond :data:`MOST_PUSH` is refused
as git refuses one beyond its ``receive.maxInputSize``.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from harness.case.repo import CommitDecl, Files
from harness.git.folder import Found
from harness.git.history import (
    FILE,
    PROGRAM,
    Leaf,
    leaves,
    parents_in,
    peeled,
    reachable,
    write_commit,
    write_tree,
)
from harness.git.names import ancestry
from harness.git.objects import Budget, Objects, TooMuch, Unreadable, put, read_pack
from harness.git.picture import picture
from harness.services.git.declared import RepoDecl, Rules

HEADS: Final = "refs/heads/"
TAGS: Final = "refs/tags/"
NOTHING: Final = "0" * 40
#: Of a push, bytes as they come; and what they may hold. All of it is unpacked at once, in the
#: thread that serves every trial, so nobody else may have to wait long for it.
MOST_PUSH: Final = 4 << 20
MOST_OBJECTS: Final = 4000
#: Of a repository, bytes of all its objects.
MOST_KEPT: Final = 16 << 20

_EPOCH: Final = 1_767_225_600  # 2026-01-01; the same case makes the same commits
_MOST_REFS: Final = 1000
_MOST_CHANGES: Final = 200


class Change(NamedTuple):
    """One ref that a push wants to move, from and to ids; :data:`NOTHING` where there is none."""

    old: str
    new: str
    ref: str


class Refused(Exception):
    """A push that cannot be taken at all, in the words of git's report."""


@dataclass(slots=True)
class Repository:
    """A served repository.

    Attributes:
        refs: full names to ids.
        branch: HEAD's.
        log: what moved or was refused, in order.
        started: the refs at the start.
        foreign: ids of the commits that came from somebody else meanwhile.
        to_come: those that are still to come.
    """

    name: str
    branch: str = "main"
    objects: Objects = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    rules: Rules = Rules()
    log: list[Mapping[str, Any]] = field(default_factory=list)
    started: Mapping[str, str] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)
    to_come: Sequence[CommitDecl] = ()
    _seconds: int = _EPOCH

    @classmethod
    def of(cls, decl: RepoDecl) -> Repository:
        """The repository as a case declares it."""
        made = cls(decl.name, decl.branch, rules=decl.rules, to_come=decl.arrives)
        for commit in decl.commits:
            made.commit(commit)
        for tag, branch in decl.tags.items():
            made.refs[TAGS + tag] = made.refs[HEADS + branch]
        made.started = dict(made.refs)
        return made

    def copy(self) -> Repository:
        """One that can be changed without changing this one."""
        return replace(
            self,
            objects=dict(self.objects),
            refs=dict(self.refs),
            log=copy.copy(self.log),
            foreign=list(self.foreign),
        )

    @property
    def head(self) -> str | None:
        """The id that HEAD means; ``None`` where its branch has no commit."""
        return self.refs.get(HEADS + self.branch)

    # -- commits of ours

    def commit(self, decl: CommitDecl) -> str:
        """Make a commit on a branch, which starts where it says if it is new; gives its id."""
        tip = self.refs.get(HEADS + decl.branch)
        if tip is None:
            tip = self.refs.get(HEADS + (decl.start or self.branch))
        new = self.change(decl.files, tip, decl.author, decl.message)
        self.refs[HEADS + decl.branch] = new
        return new

    def change(
        self,
        files: Files,
        parent: str | None,
        author: str,
        message: str,
        also: Sequence[str] = (),
    ) -> str:
        """Make a commit that is on no branch yet: ``parent``'s files, changed; gives its id."""
        paths = dict(leaves(self.objects, parent)) if parent else {}
        for path, file in files.items():
            if file is None:
                paths.pop(path, None)
                continue
            for other in [other for other in paths if other.startswith(f"{path}/")]:
                del paths[other]
            parts = path.split("/")
            for end in range(1, len(parts)):
                paths.pop("/".join(parts[:end]), None)
            blob = put(self.objects, "blob", file.data)
            paths[path] = Leaf(PROGRAM if file.program else FILE, blob)
        tree = write_tree(self.objects, paths)
        parents = [*([parent] if parent else []), *also]
        return write_commit(self.objects, tree, parents, f"{author} {self.tick()} +0000", message)

    def tick(self) -> int:
        """The time of the next commit of ours, in seconds since the epoch."""
        self._seconds += 60
        return self._seconds

    def answered(self, requests: int) -> None:
        """So many requests were answered: let appear what is due by now."""
        while self.to_come and self.to_come[0].after_request <= requests:
            decl, *rest = self.to_come
            self.to_come = rest
            old = self.refs.get(HEADS + decl.branch)
            new = self.commit(decl)
            self.foreign.append(new)
            self.note(Change(old or NOTHING, new, HEADS + decl.branch), "arrived")

    def note(self, change: Change, how: str) -> None:
        """Put down what became of a ref."""
        old, new = (None if name == NOTHING else name for name in change[:2])
        self.log.append({"ref": change.ref, "old": old, "new": new, "how": how})

    # -- pushes

    def receive(self, changes: Sequence[Change], pack: bytes, *, atomic: bool) -> Sequence[str]:
        """Take a push; gives for each change why it was refused, or nothing.

        Raises:
            Refused: the pack could not be taken, and nothing has changed.
        """
        if len(changes) > _MOST_CHANGES:
            raise Refused(f"more than {_MOST_CHANGES} refs in one push")
        new = self._unpacked(pack)
        whys = self._wrongs(changes, {**self.objects, **new})
        if atomic and any(whys):
            whys = [why or "atomic push failure" for why in whys]
        if not all(whys):
            self.objects.update(new)
        for change, why in zip(changes, whys, strict=True):
            forced = not why and self._drops(change, self.objects)
            self.note(change, f"refused: {why}" if why else "forced" if forced else "pushed")
            if not why:
                self._move(change)
        return whys

    def _move(self, change: Change) -> None:
        if change.new == NOTHING:
            self.refs.pop(change.ref, None)
        else:
            self.refs[change.ref] = change.new

    def _unpacked(self, pack: bytes) -> Objects:
        if not pack:
            return {}
        if len(pack) > MOST_PUSH:
            raise Refused("pack exceeds maximum allowed size")
        try:
            new = read_pack(pack, self.objects, Budget(2 * MOST_PUSH, 2 * MOST_OBJECTS))
        except TooMuch as error:
            raise Refused("pack exceeds maximum allowed size") from error
        except Unreadable as error:
            raise Refused(f"index-pack failed: {error}") from error
        size = sum(len(obj.data) for obj in new.values())
        if not self.has_room(size) or len(new) > MOST_OBJECTS:
            raise Refused("pack exceeds maximum allowed size")
        return new

    def has_room(self, size: int) -> bool:
        """Whether it may hold so many bytes more."""
        return sum(len(obj.data) for obj in self.objects.values()) + size <= MOST_KEPT

    def _wrongs(self, changes: Sequence[Change], objects: Objects) -> list[str]:
        """For each change why it must not be made, in the words of git and GitHub, or nothing."""
        whole: set[str] = set()
        room = _MOST_REFS - len(self.refs)
        whys = []
        for change in changes:
            room -= change.old == NOTHING
            whys.append(self._wrong(change, objects, whole) if room >= 0 else "funny refname")
        return whys

    def _wrong(self, change: Change, objects: Objects, whole: set[str]) -> str:
        if not _is_ref(change.ref):
            return "funny refname"
        if change.ref.removeprefix(HEADS) in self.rules.protect:
            return "protected branch hook declined"
        if self.refs.get(change.ref, NOTHING) != change.old:
            return "failed to update ref"
        if change.new == NOTHING:
            return self._undeletable(change.ref)
        return self._unwelcome(change, objects, whole)

    def _unwelcome(self, change: Change, objects: Objects, whole: set[str]) -> str:
        """Why a ref must not come to mean its new object; ``whole``: what lacks nothing, so far."""
        try:
            found, lacking = reachable(objects, [change.new], whole)
            if lacking:
                return "missing necessary objects"
            whole |= found
            if change.ref.startswith(HEADS) and objects[change.new].type != "commit":
                return "failed to update ref"
            forced = self._drops(change, objects)
        except Unreadable:
            return "missing necessary objects"
        return "non-fast-forward" if forced and self.rules.deny_force else ""

    def _undeletable(self, ref: str) -> str:
        if ref == HEADS + self.branch:
            return "deletion of the current branch prohibited"
        return "deletion prohibited" if self.rules.deny_delete else ""

    def _drops(self, change: Change, objects: Objects) -> bool:
        """Whether commits that were on a branch would not be on it any more."""
        if not change.ref.startswith(HEADS) or NOTHING in (change.old, change.new):
            return False
        return change.old not in ancestry(parents_in(objects), change.new)

    # -- evidence

    def account(self) -> Mapping[str, Any]:
        """Its refs, and what every push did to them."""
        return {"refs": dict(self.refs), "foreign": list(self.foreign), "log": list(self.log)}

    def pictures(self, asked: Sequence[tuple[str, str]]) -> Mapping[str, Any]:
        """Before and after; before holds what somebody else committed meanwhile, too."""
        tips = [*self.started.values(), *self.foreign]
        old = {name: self.objects[name] for name in reachable(self.objects, tips)[0]}
        head = HEADS + self.branch
        before = Found(head=head, refs=dict(self.started), objects=old)
        after = Found(head=head, refs=dict(self.refs), objects=dict(self.objects))
        return {
            "before": {**picture(before, {}, (), self.foreign), "remote": True},
            "after": {**picture(after, {}, asked), "remote": True},
        }

    # -- what can be asked for

    def advertised(self) -> list[tuple[str, str]]:
        """Each ref and its id, HEAD first, each tag of its own followed by what it means."""
        rows = [("HEAD", self.head)] if self.head is not None else []
        for ref, name in sorted(self.refs.items()):
            rows.append((ref, name))
            meant = peeled(self.objects, name)
            if meant != name:
                rows.append((f"{ref}^{{}}", meant))
        return rows

    def unoffered(self, names: Sequence[str]) -> Sequence[str]:
        """Which objects cannot be asked for: no ref leads to them."""
        tips = {*self.refs.values()}
        if tips.issuperset(names):
            return ()
        offered = reachable(self.objects, tips)[0]
        return [name for name in names if name not in offered]


def _is_ref(name: str) -> bool:
    parts = name.split("/")
    wrong = ("..", "@{", "\\", " ", "~", "^", ":", "?", "*", "[")
    return (
        name.startswith("refs/")
        and len(parts) > 2
        and all(part and part[0] != "." and not part.endswith((".lock", ".")) for part in parts)
        and not any(sign in name for sign in wrong)
        and name.isprintable()
    )
