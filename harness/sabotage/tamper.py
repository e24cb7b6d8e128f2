"""Applies a sabotage to the copy of the subject in the sandbox of one trial, and proves that it did.

Nothing of the product takes part in it: a file is shown with other content, or Python's own
start-up hook, which is shown for this trial alone, changes a module once it is there. That this
happened is told through a pipe which the harness alone reads. A sabotage that changed nothing is
an error, so that it cannot rot.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.errors import Lack, SabotageNotApplied, Unavailable
from harness.sabotage import hook
from harness.sabotage.changing import inside, original, showing
from harness.sabotage.sabotaged import CHANGE, PATCH, REPLACE, WITH, Sabotaged, function_file
from sandboxes.base import AGENT_HOME, WORKSPACE, Kind, Mount, Planted, SandboxSpec
from verifiers.verdicts import Reason

INSIDE = "/opt/shakeout-sabotage"
FOLDER = "sabotage"
_PATH = "PYTHONPATH"
_ROOM = 1 << 20
_CANARY_EVENT = "canary"
_CANARY = (
    f'echo \'{{"event": "{_CANARY_EVENT}", "words": ""}}\' |'
    f" dd of={INSIDE}/{hook.RECORD} oflag=nonblock conv=nocreat,notrunc status=none"
)


@dataclass(slots=True)
class Tamper:
    """A sabotage at work in one trial.

    Attributes:
        what: the sabotage; ``None``: the trial has none, and nothing is done.
        folder: of its files, as long as the trial lives.
        records: what the hook told.
    """

    what: Sabotaged | None
    folder: Path
    records: list[Mapping[str, Any]] = field(default_factory=list)
    _pipe: int | None = None

    def placed(self, spec: SandboxSpec) -> SandboxSpec:
        """The sandbox with what the sabotage shows in it.

        Raises:
            SabotageNotApplied: the file to change is not there, or is so already.
        """
        if self.what is None:
            return spec
        params = self.what.sabotage.params
        if CHANGE in params:
            return self._changed(spec, str(params[CHANGE]["path"]), params[CHANGE]["content"])
        if PATCH in params:
            self._make_hook(self.what)
            return replace(spec, mounts=(*spec.mounts, Mount(self.folder, INSIDE)))
        return spec

    @property
    def pipe(self) -> Path | None:
        """What is written to from inside, with no link in its path; ``None``: there is nothing."""
        return None if self._pipe is None else self.folder.resolve() / hook.RECORD

    def hook(self, env: MutableMapping[str, str]) -> None:
        """Let the main process, and what it starts, find the hook."""
        if self._pipe is not None:
            env[_PATH] = ":".join(filter(None, (INSIDE, env.get(_PATH))))

    def reach(self, run: Callable[[Sequence[str]], object]) -> None:
        """Try whether what is put on record inside reaches us; ``run`` runs a program inside.

        Raises:
            Unavailable: it does not.
        """
        if self._pipe is None:
            return
        run(["sh", "-c", _CANARY])
        if not any(record["event"] == _CANARY_EVENT for record in _read(self._pipe)):
            what = "this sandbox shows copies, so that no proof of a patch comes out of it"
            remedy = "take bubblewrap, or an engine of this machine, as root"
            raise Unavailable([Lack(Reason.CAPABILITY_MISSING, what, remedy)])

    def prove(self) -> None:
        """With everything inside dead: that the sabotage was applied.

        Raises:
            SabotageNotApplied: it was not, or not everywhere.
        """
        if self._pipe is None:
            return
        self.records = list(_read(self._pipe))
        failed = [record["words"] for record in self.records if record["event"] == hook.FAILED]
        if failed:
            raise SabotageNotApplied(failed[0])
        if not any(record["event"] == hook.DONE for record in self.records):
            raise SabotageNotApplied(self._why_never())

    def account(self) -> Mapping[str, Any]:
        """What the journal keeps of it: the sabotage, and how many processes told what."""
        assert self.what is not None  # noqa: S101 - nothing else is accounted for
        told = Counter(str(record["event"]) for record in self.records)
        counts = {event: told[event] for event in (hook.STARTED, hook.DONE, hook.FAILED)}
        return {
            "name": self.what.sabotage.name,
            "of": self.what.of,
            "digest": self.what.digest,
            "processes": counts if self._pipe is not None else None,
        }

    def _why_never(self) -> str:
        assert self.what is not None  # noqa: S101 - it has a pipe
        module = str(self.what.sabotage.params[PATCH]).partition(":")[0]
        started = sum(record["event"] == hook.STARTED for record in self.records)
        if started:
            return f"no Python process of the subject imported {module}; {started} started"
        return (
            "no Python process of the subject ran its start-up hook, which -I, -E, -S "
            "and an emptied environment keep out"
        )

    # -- files

    def _changed(self, spec: SandboxSpec, path: str, content: str) -> SandboxSpec:
        data = content.encode()
        place = inside(path)
        mount = showing(spec.mounts, place)
        if mount is not None:
            copy = self._copy(original(mount, place), path, data)
            return replace(spec, mounts=(*spec.mounts, Mount(copy, str(place))))
        if place.is_relative_to(WORKSPACE):
            name = str(place.relative_to(WORKSPACE))
            return replace(spec, workspace=_planted(spec.workspace, name, path, data))
        if place.is_relative_to(AGENT_HOME):
            name = str(place.relative_to(AGENT_HOME))
            return replace(spec, home=_planted(spec.home, name, path, data))
        raise SabotageNotApplied(f"{path} is in no mount, not in the workspace, and not planted")

    def _copy(self, file: Path, path: str, data: bytes) -> Path:
        if not file.is_file() or file.is_symlink():
            raise SabotageNotApplied(f"there is no file {path} to change")
        if file.read_bytes() == data:
            raise SabotageNotApplied(f"{path} had that content before")
        copy = self.folder / "changed"
        copy.write_bytes(data)
        copy.chmod(0o644 | (file.stat().st_mode & 0o111))
        return copy

    # -- the hook

    def _make_hook(self, what: Sabotaged) -> None:
        params = what.sabotage.params
        module, _, qualname = str(params[PATCH]).partition(":")
        order = {"module": module, "qualname": qualname}
        order |= {key: params[key] for key in ("drop", "value") if key in params}
        if WITH in params:
            order[WITH] = str(params[WITH]).rpartition(":")[2]
            shutil.copyfile(
                what.folder / function_file(what.sabotage), self.folder / hook.FUNCTIONS
            )
        (self.folder / hook.ORDER).write_text(json.dumps(order, default=str), "utf-8")
        shutil.copyfile(Path(hook.__file__), self.folder / f"{hook.NAME}.py")
        for file in self.folder.iterdir():
            file.chmod(0o644)
        pipe = self.folder / hook.RECORD
        os.mkfifo(pipe)
        pipe.chmod(0o622)  # whoever is inside may write, and may not read what others wrote
        # Open for writing too, so that it never ends and nobody inside waits for a reader.
        self._pipe = os.open(pipe, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    def close(self) -> None:
        """Remove the files; the pipe would keep whoever reads the evidence waiting."""
        if self._pipe is not None:
            os.close(self._pipe)
        with suppress(FileNotFoundError):
            shutil.rmtree(self.folder)


@contextmanager
def tampering(what: Sabotaged | None, folder: Path) -> Iterator[Tamper]:
    """A sabotage for one trial, in whose folder its files are while the trial lives."""
    tamper = Tamper(what, folder / FOLDER)
    if what is None or REPLACE in what.sabotage.params:
        yield tamper
        return
    tamper.folder.mkdir(mode=0o755)
    tamper.folder.chmod(0o755)
    try:
        yield tamper
    finally:
        tamper.close()


def _planted(files: Sequence[Planted], name: str, path: str, data: bytes) -> tuple[Planted, ...]:
    """The planted files, one of them with other content."""
    old = next((file for file in files if file.path == name and file.kind is Kind.FILE), None)
    if old is None:
        raise SabotageNotApplied(f"there is no file {path} to change")
    if old.content == data:
        raise SabotageNotApplied(f"{path} had that content before")
    return tuple(replace(file, content=data) if file is old else file for file in files)


def _read(pipe: int) -> Iterator[Mapping[str, Any]]:
    """What was put on record; lines that are no record of the hook are nobody's proof."""
    data = b""
    with suppress(BlockingIOError):
        while len(data) < _ROOM and (piece := os.read(pipe, 1 << 16)):
            data += piece
    for line in data.splitlines():
        with suppress(ValueError, RecursionError):
            record = json.loads(line)
            if isinstance(record, dict) and {"event", "words"} <= record.keys():
                yield record
