"""An installed Python package as a source of tools.

Its code never runs in the daemon: each call has a process of its own, which ends with it. So what
is removed is gone, what crashes or hangs does so alone, and no state is kept between two calls.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from runtime.processes import Ended, run
from runtime.tools.base import Arguments, Context, ToolResult
from runtime.tools.calling import CRASHED, TIMED_OUT
from runtime.tools.define import as_text
from runtime.tools.hotplug.given import given
from runtime.tools.hotplug.offers import Offer
from runtime.tools.hotplug.source import Listed, Troubled
from runtime.tools.hotplug.specs import BadPlug, PackageSpec

_HOST: Final = ("-P", "-m", "runtime.tools.hotplug.host")
_LISTING: Final = 20.0  # seconds
_ROOM: Final = 1 << 20  # bytes of an answer beside the tool's own output
_SHARE: Final = 0.98  # of a call's time: the wrapper's deadline is a moment later


class Package:
    """One package.

    Args:
        spec: which.
        environment: the daemon's, of which its tools are given what the spec names.
        folder: where its tools are listed.
    """

    def __init__(self, spec: PackageSpec, environment: Mapping[str, str], folder: Path) -> None:
        self._spec = spec
        self._environment = environment
        self._folder = folder
        self._offers: dict[str, Offer] = {}

    @property
    def said(self) -> str:
        """What it is, for people."""
        return f"the package {self._spec.distribution}"

    async def serve(self, listed: Listed, troubled: Troubled) -> None:  # noqa: ARG002
        """Say what it has; nothing has to be held open."""
        await listed(await self.look_again())

    async def look_again(self) -> Sequence[Offer]:
        """What it has now.

        Raises:
            BadPlug: it is not installed, has no tools, or cannot be imported.
        """
        ended = await self._host({}, self._folder, _LISTING, _ROOM * 8)
        answer = _answer(ended)
        if answer is None:
            raise BadPlug(f"{self.said} cannot be listed: {_why(ended, _LISTING)}", "")
        if "problem" in answer:
            raise BadPlug(f"{self.said}: {answer['problem']}", "")
        found = [Offer(each["name"], each["summary"], each["schema"]) for each in answer["tools"]]
        self._offers = {each.name: each for each in found}
        return found

    async def call(self, name: str, arguments: Arguments, context: Context) -> ToolResult:
        """Call a tool in a process of its own."""
        seconds = context.settings.tools.seconds * _SHARE
        most = context.settings.tools.output
        asked = {
            "tool": name,
            "digest": self._offers[name].digest,
            "arguments": dict(arguments),
            "seconds": seconds,
            "output": most,
        }
        # A character of the output takes six of JSON at most; there are two streams.
        ended = await self._host(asked, context.workspace, seconds, most * 12 + _ROOM)
        if (answer := _answer(ended)) is not None:
            if "problem" in answer:
                return ToolResult(error=f"{self.said}: {answer['problem']}", exit_code=CRASHED)
            return ToolResult(**answer)
        code = TIMED_OUT if ended.timed_out else CRASHED
        return ToolResult(error=f"{self.said}: {name}: {_why(ended, seconds)}", exit_code=code)

    async def _host(
        self, asked: Mapping[str, Any], folder: Path, seconds: float, most: int
    ) -> Ended:
        whole = {**asked, "distribution": self._spec.distribution, "path": self._spec.path}
        return await run(
            [sys.executable, *_HOST],
            folder=folder,
            environment=given(self.said, self._spec.env, self._environment),
            seconds=seconds,
            most=most,
            stdin=json.dumps(whole).encode(),
        )


def _answer(ended: Ended) -> dict[str, Any] | None:
    """What the host answered; ``None`` where it did not come to that."""
    if ended.exit_code or ended.timed_out:
        return None
    try:
        answer = json.loads(ended.output)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


def _why(ended: Ended, seconds: float) -> str:
    if ended.timed_out:
        return f"timed out after {seconds:g} seconds"
    last = as_text(ended.error).strip()[-1000:]
    return f"ended with exit code {ended.exit_code} and no answer" + (f": {last}" if last else "")
