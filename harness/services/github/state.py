"""What a GitHub holds: repositories, and the issues, pull requests and comments on them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.git.history import Leaf, commit_of, leaves, parents_in, write_commit, write_tree
from harness.git.names import ancestry, nearest_first
from harness.services.git.repository import HEADS, Repository
from harness.services.github.declared import ForgeRepo


@dataclass(slots=True)
class Issue:
    """An issue or, with ``head`` and ``base``, a pull request."""

    number: int
    title: str
    body: str
    by: str
    labels: list[str] = field(default_factory=list)
    closed: bool = False
    comments: list[dict[str, Any]] = field(default_factory=list)
    head: str = ""
    base: str = ""
    merged: str | None = None
    was_head: str = ""
    was_base: str = ""
    reviews: list[dict[str, Any]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_pull(self) -> bool:
        """Whether it is a pull request."""
        return bool(self.head)


@dataclass(slots=True)
class Forge:
    """One repository of a GitHub; ``statuses`` by commit."""

    git: Repository
    private: bool
    checks: Mapping[str, str]
    issues: dict[int, Issue] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    ids: int = 1000

    @classmethod
    def of(cls, decl: ForgeRepo) -> Forge:
        """The repository as a case declares it."""
        made = cls(Repository.of(decl.git), decl.private, decl.checks)
        for item in (*decl.issues, *decl.pulls):
            issue = made.open(item["title"], item.get("body", ""), item.get("by", "robin"))
            issue.labels = list(item.get("labels", ()))
            made.labels |= dict.fromkeys(issue.labels, "ededed")
            issue.closed = item.get("closed", False)
            issue.head, issue.base = item.get("head", ""), item.get("base", "")
            issue.comments = [made.remark(said, "robin") for said in item.get("comments", ())]
        return made

    def copy(self) -> Forge:
        """One that can be changed without changing this one."""
        git, self_git = self.git.copy(), self.git
        try:
            self.git = git
            return copy.deepcopy(self, {id(git): git})
        finally:
            self.git = self_git

    def open(self, title: str, body: str, by: str) -> Issue:
        """A new issue."""
        issue = Issue(len(self.issues) + 1, title, body, by)
        self.issues[issue.number] = issue
        return issue

    def next_id(self) -> int:
        """An id that nothing has."""
        self.ids += 1
        return self.ids

    def remark(self, body: str, by: str, **more: Any) -> dict[str, Any]:
        """A new comment or review."""
        return {"id": self.next_id(), "body": body, "by": by, **more}

    # -- branches and merges

    def commit(self, ref: str) -> str | None:
        """The commit that a branch, tag or id means."""
        for name in (ref, HEADS + ref, f"refs/tags/{ref}", f"refs/{ref}"):
            if name in self.git.refs:
                return self.git.refs[name]
        if ref == "HEAD":
            return self.git.head
        found = self.git.objects.get(ref)
        return ref if found is not None and found.type == "commit" else None

    def ends(self, pull: Issue) -> tuple[str, str]:
        """The commits of a pull request's head and base, as they are or were when it merged."""
        if pull.merged:
            return pull.was_head, pull.was_base
        refs = self.git.refs
        return refs.get(HEADS + pull.head, ""), refs.get(HEADS + pull.base, "")

    def fork(self, head: str, base: str) -> str | None:
        """Where two lines of commits have parted."""
        parents = parents_in(self.git.objects)
        old = ancestry(parents, base)
        return next((name for name in nearest_first(parents, head) if name in old), None)

    def commits(self, head: str, base: str) -> list[str]:
        """Commits of a line that another has not, the first first."""
        parents = parents_in(self.git.objects)
        new = ancestry(parents, head) - ancestry(parents, base)
        line = [name for name in nearest_first(parents, head) if name in new]
        return line[::-1]

    def paths(self, commit: str | None) -> Mapping[str, Leaf]:
        """What a commit holds."""
        return leaves(self.git.objects, commit) if commit else {}

    def changed(
        self, old: str | None, new: str | None
    ) -> dict[str, tuple[Leaf | None, Leaf | None]]:
        """Paths that are not the same in two commits, before and after."""
        before, after = self.paths(old), self.paths(new)
        names = sorted(before.keys() | after.keys())
        return {n: (before.get(n), after.get(n)) for n in names if before.get(n) != after.get(n)}

    def mergeable(self, pull: Issue) -> bool:
        """Whether no path was changed on both sides in two ways."""
        head, base = self.ends(pull)
        at = self.fork(head, base) if head and base else None
        if at is None:
            return False
        ours, theirs = self.changed(at, base), self.changed(at, head)
        return all(ours[path][1] == theirs[path][1] for path in ours.keys() & theirs.keys())

    def merge(self, pull: Issue, message: str, by: str, *, squash: bool) -> str:
        """Merge a pull request that can be; gives the new commit."""
        head, base = self.ends(pull)
        paths = dict(self.paths(base))
        for path, (_, leaf) in self.changed(self.fork(head, base), head).items():
            if leaf is None:
                paths.pop(path, None)
            else:
                paths[path] = leaf
        git = self.git
        tree = write_tree(git.objects, paths)
        author = f"{by} <{by}@users.noreply.github.example> {git.tick()} +0000"
        parents = [base] if squash else [base, head]
        new = write_commit(git.objects, tree, parents, author, message)
        git.refs[HEADS + pull.base] = new
        pull.merged, pull.closed, pull.was_head, pull.was_base = new, True, head, base
        return new

    def account(self) -> Mapping[str, Any]:
        """All that is not in git, in plain data, and git's part of it."""
        kept = [
            {
                "number": i.number,
                "pull": i.is_pull,
                "title": i.title,
                "body": i.body,
                "by": i.by,
                "state": "merged" if i.merged else "closed" if i.closed else "open",
                "labels": list(i.labels),
                "head": i.head,
                "base": i.base,
                "comments": [[c["by"], c["body"]] for c in (*i.comments, *i.notes)],
                "reviews": [[r["by"], r["state"], r["body"]] for r in i.reviews],
            }
            for i in self.issues.values()
        ]
        return {**self.git.account(), "issues": kept}


def subject_of(forge: Forge, commit: str) -> str:
    """The first line of a commit's message."""
    return commit_of(forge.git.objects[commit]).subject
