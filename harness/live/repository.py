"""Makes the workspace a repository: by a git of the sandbox, as the agent, before it starts."""

from __future__ import annotations

from harness.errors import Lack, Unavailable
from harness.live.stage import Stage
from verifiers.verdicts import Reason

_GIT = ("/usr/bin/git", "-c", "init.defaultBranch=main", "-c", "gc.auto=0")
_COMMANDS = (
    ("init", "--quiet"),
    ("add", "--all"),
    ("commit", "--quiet", "--allow-empty", "--message", "Start"),
)


def make_repository(stage: Stage) -> None:
    """Commit everything that was planted in the workspace.

    Raises:
        Unavailable: there is no git in the sandbox, or it failed.
    """
    for command in _COMMANDS:
        code, output = stage.canary([*_GIT, *command])
        if code != 0:
            what = f"git {command[0]} in the sandbox: {output.decode('utf-8', 'replace').strip()}"
            raise Unavailable([Lack(Reason.TOOL_MISSING, what, "install git")])
