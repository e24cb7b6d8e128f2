"""The JSON of GitHub's REST API, as far as clients look at it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from harness.git.history import LINK, commit_of
from harness.services.github.state import Forge, Issue

_WHEN: Final = "2026-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class Shapes:
    """Makes the JSON of one repository; ``root`` is the API's address as its client writes it."""

    root: str
    forge: Forge

    @property
    def name(self) -> str:
        """``OWNER/REPO``."""
        return self.forge.git.name

    @property
    def url(self) -> str:
        """The repository's address."""
        return f"{self.root}/repos/{self.name}"

    def user(self, login: str) -> Mapping[str, Any]:
        """A user."""
        number = int.from_bytes(login.encode()[:4], "big")
        url = f"{self.root}/users/{login}"
        return {"login": login, "id": number, "type": "User", "url": url, "site_admin": False}

    def repo(self) -> Mapping[str, Any]:
        """The repository."""
        owner, _, short = self.name.partition("/")
        return {
            "id": 1,
            "name": short,
            "full_name": self.name,
            "private": self.forge.private,
            "owner": self.user(owner),
            "url": self.url,
            "html_url": f"{self.root}/{self.name}",
            "clone_url": f"{self.root}/{self.name}.git",
            "default_branch": self.forge.git.branch,
            "open_issues_count": sum(not i.closed for i in self.forge.issues.values()),
            "permissions": {"admin": False, "push": True, "pull": True},
        }

    def ref(self, name: str) -> Mapping[str, Any]:
        """A ref, by its full name."""
        commit = self.forge.git.refs[name]
        target = {"type": "commit", "sha": commit, "url": f"{self.url}/git/commits/{commit}"}
        return {"ref": name, "url": f"{self.url}/git/{name}", "object": target}

    def branch(self, name: str) -> Mapping[str, Any]:
        """A branch."""
        commit = self.forge.git.refs[f"refs/heads/{name}"]
        protected = name in self.forge.git.rules.protect
        return {"name": name, "commit": self.commit(commit), "protected": protected}

    def commit(self, name: str) -> Mapping[str, Any]:
        """A commit."""
        told = commit_of(self.forge.git.objects[name])
        who, _, rest = told.author.rpartition("> ")
        person, _, mail = who.partition(" <")
        seconds = rest.split(" ")[0]
        when = datetime.fromtimestamp(int(seconds) if seconds.isdecimal() else 0, UTC)
        author = {"name": person, "email": mail, "date": when.strftime("%Y-%m-%dT%H:%M:%SZ")}
        return {
            "sha": name,
            "url": f"{self.url}/commits/{name}",
            "commit": {
                "message": told.message.rstrip("\n"),
                "author": author,
                "committer": author,
                "tree": {"sha": told.tree, "url": f"{self.url}/git/trees/{told.tree}"},
            },
            "parents": [{"sha": p, "url": f"{self.url}/commits/{p}"} for p in told.parents],
        }

    def label(self, name: str) -> Mapping[str, Any]:
        """A label."""
        color = self.forge.labels.get(name, "ededed")
        return {"id": 1, "name": name, "color": color, "url": f"{self.url}/labels/{name}"}

    def comment(self, number: int, item: Mapping[str, Any], kind: str = "issues") -> Any:
        """A comment, on an issue or on the changes of a pull request."""
        return {
            **{key: value for key, value in item.items() if key != "by"},
            "user": self.user(item["by"]),
            "url": f"{self.url}/{kind}/comments/{item['id']}",
            "issue_url": f"{self.url}/issues/{number}",
            "html_url": f"{self.root}/{self.name}/issues/{number}#issuecomment-{item['id']}",
            "created_at": _WHEN,
            "updated_at": _WHEN,
        }

    def review(self, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """A review."""
        rest = {key: value for key, value in item.items() if key != "by"}
        return {**rest, "user": self.user(item["by"]), "submitted_at": _WHEN}

    def issue(self, issue: Issue) -> dict[str, Any]:
        """An issue, or a pull request as one."""
        place = "pull" if issue.is_pull else "issues"
        made: dict[str, Any] = {
            "id": issue.number,
            "number": issue.number,
            "title": issue.title,
            "body": issue.body,
            "state": "closed" if issue.closed else "open",
            "user": self.user(issue.by),
            "labels": [self.label(name) for name in issue.labels],
            "comments": len(issue.comments),
            "assignees": [],
            "locked": False,
            "url": f"{self.url}/issues/{issue.number}",
            "html_url": f"{self.root}/{self.name}/{place}/{issue.number}",
            "created_at": _WHEN,
            "updated_at": _WHEN,
            "closed_at": _WHEN if issue.closed else None,
        }
        if issue.is_pull:
            made["pull_request"] = {"url": f"{self.url}/pulls/{issue.number}"}
        return made

    def pull(self, pull: Issue) -> Mapping[str, Any]:
        """A pull request."""
        head, base = self.forge.ends(pull)
        commits = self.forge.commits(head, base) if head and base else []
        mergeable = None if pull.merged else self.forge.mergeable(pull)
        made = self.issue(pull)
        del made["pull_request"]
        return {
            **made,
            "url": f"{self.url}/pulls/{pull.number}",
            "issue_url": f"{self.url}/issues/{pull.number}",
            "draft": False,
            "merged": pull.merged is not None,
            "merged_at": _WHEN if pull.merged else None,
            "merge_commit_sha": pull.merged,
            "mergeable": mergeable,
            "mergeable_state": "clean" if mergeable else "dirty",
            "head": self._end(pull.head, head),
            "base": self._end(pull.base, base),
            "commits": len(commits),
            "changed_files": len(self.files(pull)),
        }

    def _end(self, branch: str, commit: str) -> Mapping[str, Any]:
        owner = self.name.partition("/")[0]
        label = f"{owner}:{branch}"
        return {"label": label, "ref": branch, "sha": commit, "repo": self.repo()}

    def files(self, pull: Issue) -> list[Mapping[str, Any]]:
        """The files that a pull request changes."""
        head, base = self.forge.ends(pull)
        if not head or not base:
            return []
        made: list[Mapping[str, Any]] = []
        for path, (old, new) in self.forge.changed(self.forge.fork(head, base), head).items():
            status = "added" if old is None else "removed" if new is None else "modified"
            count = {"additions": self._lines(new), "deletions": self._lines(old)}
            leaf = new or old
            sha = leaf.id if leaf else None
            made.append({"filename": path, "status": status, "sha": sha, **count})
        return made

    def _lines(self, leaf: Any) -> int:
        return 0 if leaf is None else self.forge.git.objects[leaf.id].data.count(b"\n")

    def content(self, path: str, commit: str) -> Any:
        """What is at a path: a file, or the list of a folder; ``None``: nothing."""
        paths = self.forge.paths(commit)
        if path in paths:
            return self._file(path, paths[path], whole=True)
        start = f"{path}/" if path else ""
        inner = {name[len(start) :].split("/")[0] for name in paths if name.startswith(start)}
        return [self._entry(start + name, paths) for name in sorted(inner)] if inner else None

    def _entry(self, path: str, paths: Mapping[str, Any]) -> Mapping[str, Any]:
        if path in paths:
            return self._file(path, paths[path], whole=False)
        return {"type": "dir", "path": path, "name": path.rsplit("/", 1)[-1], "size": 0,
                "sha": "", "url": f"{self.url}/contents/{path}"}  # fmt: skip

    def _file(self, path: str, leaf: Any, *, whole: bool) -> Mapping[str, Any]:
        data = self.forge.git.objects[leaf.id].data
        made = {
            "type": "symlink" if leaf.mode == LINK else "file",
            "path": path,
            "name": path.rsplit("/", 1)[-1],
            "sha": leaf.id,
            "size": len(data),
            "url": f"{self.url}/contents/{path}",
        }
        if whole:
            made |= {"encoding": "base64", "content": base64.encodebytes(data).decode()}
        return made
