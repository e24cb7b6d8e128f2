"""What a patch would do."""

from __future__ import annotations

import tempfile
from pathlib import Path

from runtime.tools.base import Context, ToolResult
from runtime.tools.define import as_bytes
from runtime.tools.git import Git, folder_in


async def preview(patch: str, context: Context) -> ToolResult:
    """Lines added and removed for each file, or why the patch does not apply.

    git is shown a repository of ours, with nothing in it: what the workspace's says about filters
    would be run.
    """
    with tempfile.TemporaryDirectory(prefix="agentd-") as place:
        repository = Path(place)
        for name in ("objects", "refs"):
            (repository / name).mkdir()
        (repository / "HEAD").write_text("ref: refs/heads/none\n")
        top = await folder_in(context, {})
        git = Git(context, top, (f"--git-dir={repository}", f"--work-tree={top}"))
        arguments = ("apply", "--check", "--numstat", "--summary", "-")
        return await git.started(arguments, stdin=as_bytes(patch))
