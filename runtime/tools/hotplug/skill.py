"""A skill as a source of tools: a folder with instructions, and commands that go with them."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import anyio.to_thread

from runtime.processes import ProgramMissing, run
from runtime.tools.base import Arguments, Context, ToolResult
from runtime.tools.define import as_text
from runtime.tools.hotplug.manifest import FILE, Command, Manifest, manifest_of
from runtime.tools.hotplug.offers import Offer, skill_name
from runtime.tools.hotplug.source import GONE, Listed, Troubled
from runtime.tools.hotplug.specs import BadPlug, SkillSpec

_FILES: Final = 1_000
_BYTES: Final = 1 << 26
_INSTRUCTIONS: Final = "instructions"
_SHARE: Final = 0.98  # of a call's time: the wrapper's deadline is a moment later


class Skill:
    """One skill."""

    def __init__(self, spec: SkillSpec) -> None:
        self._spec = spec
        self._manifest: Manifest | None = None
        self._seal = ""

    @property
    def said(self) -> str:
        """What it is, for people."""
        return f"the skill {self._spec.name}"

    async def serve(self, listed: Listed, troubled: Troubled) -> None:  # noqa: ARG002
        """Say what it has; nothing has to be held open."""
        await listed(await self.look_again())

    async def look_again(self) -> Sequence[Offer]:
        """What it has now.

        Raises:
            BadPlug: its folder or its manifest cannot be used.
        """
        seal = await anyio.to_thread.run_sync(seal_of, self._spec.folder)
        manifest = await anyio.to_thread.run_sync(manifest_of, self._spec.folder)
        if manifest.name != self._spec.name:
            raise BadPlug(f"{self.said} calls itself {manifest.name!r}", "unplug it, and plug anew")
        self._manifest, self._seal = manifest, seal
        return [self._asked_for(manifest), *(self._offer(each) for each in manifest.tools)]

    def _asked_for(self, manifest: Manifest) -> Offer:
        text = f"Gives the instructions of the skill: {manifest.description}"
        none = {"type": "object", "properties": {}, "additionalProperties": False}
        return Offer(_INSTRUCTIONS, text, none, self._seal, skill_name(manifest.name))

    def _offer(self, command: Command) -> Offer:
        return Offer(command.name, command.description, command.schema_, self._seal)

    async def call(self, name: str, arguments: Arguments, context: Context) -> ToolResult:
        """Give the instructions, or run a command of it; of what was pinned, and nothing else."""
        try:
            seal = await anyio.to_thread.run_sync(seal_of, self._spec.folder)
        except BadPlug as error:
            return ToolResult(error=str(error), exit_code=GONE)
        if self._manifest is None or seal != self._seal:
            said = f"{self.said} was changed, and nobody has accepted that"
            return ToolResult(error=said, exit_code=GONE)
        if name == _INSTRUCTIONS:
            return ToolResult(self._manifest.instructions)
        command = next(each for each in self._manifest.tools if each.name == name)
        return await self._run(command, arguments, context)

    async def _run(self, command: Command, arguments: Arguments, context: Context) -> ToolResult:
        seconds = context.settings.tools.seconds * _SHARE
        try:
            ended = await run(
                self._argv(command),
                folder=context.workspace,
                environment=context.environment,
                seconds=seconds,
                most=context.settings.tools.output,
                stdin=json.dumps(dict(arguments)).encode(),
            )
        except ProgramMissing as error:
            return ToolResult(error=f"{error}\n", exit_code=GONE, data={"program": error.program})
        errors = as_text(ended.error)
        if ended.timed_out:
            errors += f"\n{command.name}: timed out after {seconds:g} seconds\n"
        return ToolResult(as_text(ended.output), errors, ended.exit_code, truncated=ended.truncated)

    def _argv(self, command: Command) -> list[str]:
        """The command; words that begin with ``./`` are files of the skill's folder."""
        return [
            str(self._spec.folder / word[2:]) if word.startswith("./") else word
            for word in command.command
        ]


def seal_of(folder: Path) -> str:
    """The digest of everything in a folder.

    Raises:
        BadPlug: there is no such folder, or something in it that is no file of it.
    """
    whole = hashlib.sha256()
    left = _BYTES
    try:
        for path in _files(folder):
            data = path.read_bytes()
            left -= len(data)
            if left < 0:
                raise BadPlug(f"the skill's folder {folder} takes more than {_BYTES} bytes", "")
            mode = stat.S_IMODE(path.stat().st_mode)
            name = os.fsencode(path.relative_to(folder))
            whole.update(json.dumps([name.hex(), mode, hashlib.sha256(data).hexdigest()]).encode())
    except OSError as error:
        raise BadPlug(
            f"the skill's folder {folder}: {error.filename}: {error.strerror}", ""
        ) from None
    return whole.hexdigest()


def _files(folder: Path) -> list[Path]:
    if not (folder / FILE).is_file():
        raise BadPlug(f"there is no {FILE} in {folder}", "a skill is a folder with one")
    found = []
    for path in sorted(folder.rglob("*")):
        kind = path.lstat().st_mode
        if stat.S_ISREG(kind):
            found.append(path)
        elif not stat.S_ISDIR(kind):
            raise BadPlug(f"{path} is neither a file nor a folder", "put files in its place")
        if len(found) > _FILES:
            raise BadPlug(f"the skill's folder {folder} holds more than {_FILES} files", "")
    return found
