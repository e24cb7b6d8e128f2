"""The git service, as the real git client meets it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness.case.model import Fault
from harness.faults.registry import FAULTS
from harness.git.history import reachable
from harness.services.git import repository, wire
from harness.services.registry import SERVICES, build

REPOS: dict[str, Any] = {
    "app": {
        "files": {"README.md": "hi\n", "src/run.sh": "#!/bin/sh\n"},
        "commits": [
            {"message": "Second", "files": {"src/run.sh": None, "src/b.txt": "b\n"}},
            {"branch": "topic", "message": "On a topic", "files": {"c.txt": "c\n"}},
        ],
        "tags": {"v1": "main"},
    },
    "strict": {"files": {"a": "1\n"}, "deny_force": True, "protect": ["release"]},
    "empty": {"empty": True},
    "busy": {
        "files": {"a": "1\n"},
        "arrives": [{"after_request": 2, "message": "A colleague's", "files": {"b": "2\n"}}],
    },
}


def declared(**more: Any) -> Any:
    parse = SERVICES["git"].parse
    assert parse is not None
    return build(parse("origin", {"repos": REPOS, **more}))


class Git:
    """The client, with no config but its own."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url
        names = ("AUTHOR", "COMMITTER")
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            **{f"GIT_{name}_NAME": "Kim" for name in names},
            **{f"GIT_{name}_EMAIL": "kim@example.com" for name in names},
        }

    def __call__(self, *words: str, code: int = 0, into: str = "work") -> str:
        cwd = self.folder / into
        cwd.mkdir(exist_ok=True)
        done = subprocess.run(
            ["git", *words],
            cwd=cwd,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        said = done.stdout + done.stderr
        assert done.returncode == code, said
        return said

    def commit(self, path: str, text: str, *more: str, into: str = "work") -> str:
        (self.folder / into / path).write_text(text)
        self("add", "--all", into=into)
        self("commit", "--quiet", "--message", f"Write {path}", *more, into=into)
        return self("rev-parse", "HEAD", into=into).strip()


@pytest.fixture
def remote(serve, tmp_path):
    """``remote(repo)`` gives the client and the service."""

    def up(**more: Any) -> tuple[Git, Any, Any]:
        service = declared(**more)
        live, where = serve(service)
        return Git(tmp_path, f"http://{where}:8080"), service, live

    return up


def refs(service: Any, repo: str) -> dict[str, str]:
    found: dict[str, str] = service.repositories()[repo].refs
    return found


@pytest.mark.parametrize("version", ["0", "1", "2"])
def test_a_clone_holds_what_the_case_declares(remote, version):
    git, service, live = remote()

    git("-c", f"protocol.version={version}", "clone", f"{git.url}/app.git", ".")

    assert git("log", "--format=%s %an").splitlines() == ["Second Robin", "Start Robin"]
    assert git("ls-tree", "-r", "--name-only", "HEAD").split() == ["README.md", "src/b.txt"]
    assert git("rev-parse", "origin/topic").strip() == refs(service, "app")["refs/heads/topic"]
    assert git("tag").split() == ["v1"]
    git("fsck", "--strict")
    assert [(r.method, r.status) for r in live.requests()] == [("GET", 200), ("POST", 200)]


def test_the_same_case_makes_the_same_commits():
    assert refs(declared(), "app") == refs(declared(), "app")


def test_a_shallow_clone_is_shallow_until_it_is_deepened(remote):
    git, _, _ = remote()

    git("clone", "--depth", "1", f"{git.url}/app", ".")
    assert git("rev-list", "--count", "HEAD").strip() == "1"
    git("fetch", "--unshallow")

    assert git("rev-list", "--count", "HEAD").strip() == "2"
    git("fsck", "--strict")


def test_what_is_pushed_can_be_fetched(remote):
    git, service, _ = remote()
    git("clone", f"{git.url}/app", ".")
    git("clone", f"{git.url}/app", ".", into="other")

    new = git.commit("new.txt", "new\n")
    git("push", "origin", "main", "HEAD:refs/tags/v2")
    git("pull", into="other")

    assert git("rev-parse", "HEAD", into="other").strip() == new
    assert refs(service, "app")["refs/tags/v2"] == refs(service, "app")["refs/heads/main"] == new
    git("fsck", "--strict", into="other")


def test_an_empty_repository_takes_a_first_push(remote):
    git, service, _ = remote()

    git("clone", f"{git.url}/empty", ".")
    new = git.commit("a", "1\n")
    git("push", "origin", "HEAD:main")

    assert refs(service, "empty") == {"refs/heads/main": new}


def test_a_push_over_other_commits_has_to_be_forced(remote):
    git, service, _ = remote()
    git("clone", f"{git.url}/app", ".")
    git.commit("new.txt", "new\n")
    git("push", "origin", "main")
    new = git.commit("new.txt", "newer\n", "--amend")

    assert "non-fast-forward" in git("push", "origin", "main", code=1)
    git("push", "--force", "origin", "main")

    assert refs(service, "app")["refs/heads/main"] == new
    assert [entry["how"] for entry in service.repositories()["app"].log] == ["pushed", "forced"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--force", "origin", "main"], "non-fast-forward"),
        (["origin", "HEAD:release"], "protected branch hook declined"),
        (["origin", ":main"], "deletion of the current branch prohibited"),
    ],
)
def test_the_rules_of_a_repository_are_enforced(remote, words, why):
    git, service, _ = remote()
    git("clone", f"{git.url}/strict", ".")
    git.commit("a", "2\n", "--amend")
    before = dict(refs(service, "strict"))

    said = git("push", *words, code=1)

    assert "! [remote rejected]" in said
    assert f"({why})" in said
    assert refs(service, "strict") == before
    assert service.repositories()["strict"].log[-1]["how"] == f"refused: {why}"


def test_a_commit_of_a_colleague_arrives_and_can_be_overrun(remote):
    git, service, _ = remote()
    git("clone", f"{git.url}/busy", ".")
    foreign = refs(service, "busy")["refs/heads/main"]
    new = git.commit("a", "mine\n")
    assert foreign != git("rev-parse", "HEAD~").strip()

    assert "fetch first" in git("push", "origin", "main", code=1)
    assert "stale info" in git("push", "--force-with-lease", "origin", "main", code=1)
    git("push", "--force", "origin", "main")

    repo = service.repositories()["busy"]
    assert repo.refs["refs/heads/main"] == new
    assert repo.foreign == [foreign]
    assert [entry["how"] for entry in repo.log] == ["arrived", "forced"]


def test_a_push_that_is_too_large_is_refused_as_git_would(remote):
    git, service, _ = remote()
    git("clone", f"{git.url}/app", ".")
    (git.folder / "work" / "noise").write_bytes(os.urandom(5 << 20))
    git.commit("b", "b\n")

    said = git("push", "origin", "HEAD:big", code=1)

    assert "unpack failed: pack exceeds maximum allowed size" in said
    assert "refs/heads/big" not in refs(service, "app")


def wants(names):
    lines = [f"want {name}\n".encode() for name in names]
    return b"".join(b"%04x" % (len(line) + 4) + line for line in lines) + b"00000009done\n"


def test_many_wants_cost_no_more_than_one(monkeypatch):
    repo = declared().repositories()["app"]
    name = next(name for name in repo.objects if name not in repo.refs.values())
    looks: list[object] = []

    def counted(*words: Any) -> Any:
        looks.append(words)
        return reachable(*words)

    monkeypatch.setattr(repository, "reachable", counted)

    assert b"PACK" in wire.upload(repo, wants([name] * 1000))

    assert len(looks) == 1


def test_a_want_that_no_ref_leads_to_is_refused():
    repo = declared().repositories()["app"]

    assert b"not our ref " + b"1" * 40 in wire.upload(repo, wants([repo.head, "1" * 40]))


def test_a_push_of_too_many_refs_is_refused_whole():
    repo = declared().repositories()["app"]
    before = dict(repo.refs)
    changes = [
        repository.Change(repository.NOTHING, repo.head, f"refs/heads/{n}") for n in range(201)
    ]

    with pytest.raises(repository.Refused, match="more than 200 refs in one push"):
        repo.receive(changes, b"", atomic=False)

    assert repo.refs == before


def test_a_repository_holds_no_more_than_a_thousand_refs():
    repo = declared().repositories()["app"]
    names = iter(range(2000))
    whys: list[str] = []
    while len(whys) < 1200:
        changes = [
            repository.Change(repository.NOTHING, repo.head, f"refs/heads/{next(names)}")
            for _ in range(200)
        ]
        whys += repo.receive(changes, b"", atomic=False)

    assert len(repo.refs) == 1000
    assert set(whys) == {"", "funny refname"}


def test_a_token_is_asked_for_and_taken(remote):
    git, _, live = remote(token="hunter2-hunter2")

    assert "could not read Username" in git("clone", f"{git.url}/app", ".", code=128)
    url = git.url.replace("//", "//kim:hunter2-hunter2@")
    git("clone", f"{url}/app", ".", into="other")

    assert [r.status for r in live.requests()] == [401, 401, 200, 200]


def test_a_repository_that_is_not_there_is_not_found(remote):
    git, _, _ = remote()

    assert "Repository not found" in git("clone", f"{git.url}/none", ".", code=128)


class Second:
    """A fault that leaves the first request alone."""

    def __init__(self, fault: Any) -> None:
        self.fault = fault
        self.layer, self.serves = fault.layer, fault.serves
        self.seen = 0

    def rewrite_wire(self, params: Any, wire: Any) -> Any:
        self.seen += 1
        return wire if self.seen == 1 else self.fault.rewrite_wire(params, wire)


@pytest.mark.parametrize(
    ("name", "params", "done"),
    [
        ("upstream.status", {"status": 503, "headers": {}, "body": ""}, False),
        ("upstream.reset", {"after_bytes": 0}, True),
    ],
)
def test_a_push_is_done_unless_another_status_took_its_place(remote, name, params, done):
    git, service, live = remote()
    git("clone", f"{git.url}/app", ".")
    new = git.commit("a", "1\n")
    fault = Fault("cut", name, params={"service": "origin", **params})

    live.arm(fault, Second(FAULTS[name]))  # a push first asks for the refs
    git("push", "origin", "main", code=1)

    assert live.hits("cut") == 1
    assert (refs(service, "app")["refs/heads/main"] == new) is done
