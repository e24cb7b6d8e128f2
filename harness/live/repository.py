"""Makes the workspace a repository: by a git of the sandbox, as the agent, before it starts.

What a case plants may be meant for the agent's own git (hooks, a configuration); none of it is
for ours, or it could do the agent's work.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.case.model import Case
from harness.case.repo import CommitDecl, Files, WorkTree
from harness.errors import Lack, Unavailable
from harness.live.stage import Stage
from sandboxes.base import Planted, Root
from verifiers.verdicts import Reason

_CLEAN = (
    *("/usr/bin/env", "-i", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"),
    *("GIT_AUTHOR_NAME=Agent", "GIT_AUTHOR_EMAIL=agent@sandbox.invalid"),
    *("GIT_COMMITTER_NAME=Agent", "GIT_COMMITTER_EMAIL=agent@sandbox.invalid"),
)
_GIT = ("/usr/bin/git", "-c", "gc.auto=0")
_OURS = (
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "commit.gpgSign=false",
)
_FIRST = "main"
_PACK = ".git/objects/pack/pack-start.pack"


def make_repository(stage: Stage, case: Case) -> None:
    """Commit everything that was planted in the workspace, and do what else the case asks.

    Raises:
        Unavailable: there is no git in the sandbox, or it failed.
    """
    making = _Making(stage)
    tree = case.workspace.git or WorkTree()
    first = _FIRST
    if tree.remote:
        first = making.clone(case, tree.remote)
    else:
        making.git("init", "--quiet", f"--initial-branch={first}")
    if case.workspace.files or not tree.remote:
        making.git("add", "--all")
        making.git("commit", "--quiet", "--allow-empty", "--message", "Start")
    for commit in tree.commits:
        making.commit(commit, first)
    if any(commit.branch not in {"", first} for commit in tree.commits):
        making.git("checkout", "--quiet", first)
    making.write(tree.staged)
    if tree.staged:
        making.git("add", "--all")
    making.write(tree.dirty)
    making.write(tree.untracked)
    making.write(tree.ignored)
    if tree.ignored:
        patterns = "".join(f"/{_literal(path)}\n" for path in tree.ignored)
        making.plant(".git/info/exclude", patterns.encode())


class _Making:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._branches: set[str] = set()

    def git(self, *words: str) -> None:
        self._run((*_CLEAN, *_GIT, *_OURS, *words), f"git {words[0]}")

    def _run(self, argv: Sequence[str], what: str) -> None:
        code, output = self._stage.canary(argv)
        if code != 0:
            said = output.decode("utf-8", "replace").strip()
            what = f"{what} in the sandbox: {said}"
            raise Unavailable([Lack(Reason.TOOL_MISSING, what, "install git")])

    def plant(self, path: str, data: bytes, *, program: bool = False) -> None:
        planted = Planted(path, content=data, mode=0o755 if program else 0o644)
        self._stage.sandbox.plant(Root.WORKSPACE, planted)

    def write(self, files: Files) -> None:
        """Write files, and remove those that are to go."""
        for path, file in files.items():
            if file is None:
                self._run(("/bin/rm", "--force", "--", path), f"rm {path}")
            else:
                self.plant(path, file.data, program=file.program)

    def commit(self, decl: CommitDecl, first: str) -> None:
        """Make a commit where it is to be."""
        branch = decl.branch or first
        if branch == first or branch in self._branches:
            self.git("checkout", "--quiet", branch)
        else:
            self.git("checkout", "--quiet", "-b", branch, decl.start or first)
            self._branches.add(branch)
        self.write(decl.files)
        self.git("add", "--all")
        author = f"--author={decl.author}"
        self.git("commit", "--quiet", "--allow-empty", author, "--message", decl.message)

    def clone(self, case: Case, remote: str) -> str:
        """Begin with what a service has, without asking it; gives the branch that is checked out.

        What the case plants in the workspace stays as it is.
        """
        from harness.git.objects import write_pack  # noqa: PLC0415 - slow
        from harness.services.git.repository import HEADS, Repository  # noqa: PLC0415

        host, _, name = remote.partition("/")
        declared = next(service.params for service in case.services if service.name == host)
        served = Repository.of(next(repo for repo in declared.repos if repo.name == name))
        self.git("init", "--quiet", f"--initial-branch={served.branch}")
        self.git("remote", "add", "origin", f"http://{remote}.git")
        if served.objects:
            self.plant(_PACK, write_pack(served.objects.values()))
            self.git("index-pack", _PACK)
        refs = {f"refs/remotes/origin/{ref.removeprefix(HEADS)}" if ref.startswith(HEADS) else ref: name
                for ref, name in served.refs.items()}  # fmt: skip
        for ref, name in refs.items():
            self.git("update-ref", ref, name)
        if served.head is not None:
            self.git("update-ref", HEADS + served.branch, served.head)
            self.git("branch", "--quiet", f"--set-upstream-to=origin/{served.branch}")
            self.git("read-tree", "HEAD")
            self.git("checkout-index", "--all", "--quiet", "--force")
            for planted in case.workspace.files:
                self._stage.sandbox.plant(Root.WORKSPACE, planted)
        return served.branch


def _literal(path: str) -> str:
    """A path as a pattern that matches it alone."""
    return "".join(f"\\{sign}" if sign in "*?[]\\! #" else sign for sign in path)
