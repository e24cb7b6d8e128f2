"""The form of an attack: what somebody does to be judged well, and the defence that stops it.

Each attack is run twice through the command. As things stand it must end in the verdict and for
the reason that it names. With its one defence taken away, the very same attack must end in
``passed``: so the test shows that it bites, and that this defence, and no other, is what stops
it. Beside each attack runs a plain offender, who must be failed both times: a judge that is
weakened in one place is not to be a judge that passes everything.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from harness import cli
from sandboxes import resident
from sandboxes.helper import kernel

TOP = Path(__file__).resolve().parents[2]
BUBBLEWRAP, DOCKER = "bubblewrap", "docker"
PASSED = "passed"
#: What ends with exit code 2: a case or a command line that is not taken.
REFUSED = "refused"

Case = Mapping[str, Any] | str | Callable[[Path], Mapping[str, Any]]
T = TypeVar("T")
Weaken = Callable[[pytest.MonkeyPatch, Path], None]

OFFENDER: Case = {
    "case": "plain-offender",
    "subject": {"command": ["sh", "-c", "echo no > report.txt; rm ~/.profile; exit 1"]},
    "expect": [
        {"home": "untouched"},
        {"file": {"path": "report.txt", "equals": "yes\n"}},
        {"exit": 0},
    ],
}


@dataclass(frozen=True)
class Seen:
    """What a run came to, as far as its reader is told.

    Attributes:
        code: the exit code.
        document: ``run.json``; of a refused run what was printed in its place.
        err: what was shown while it ran.
        folder: where the cases lie; the run's folder is ``out`` in it, unless the attack says
            otherwise.
    """

    code: int
    document: Any
    err: str
    folder: Path

    @property
    def trial(self) -> Mapping[str, Any]:
        """The first trial that is not the offender's."""
        return next(t for t in self.document["trials"] if t["case"] != "plain-offender")

    @property
    def offender(self) -> str:
        """How the plain offender was judged."""
        trials = self.document["trials"]
        return next(str(t["verdict"]) for t in trials if t["case"] == "plain-offender")

    @property
    def reasons(self) -> Sequence[str]:
        """Of the attack's own trials, and of a run without any; or what was refused, and why."""
        if "errors" in self.document:
            return [error["message"] for error in self.document["errors"]]
        trials = self.document.get("trials", ())
        own = [t["reasons"] for t in trials if t["case"] != "plain-offender"]
        return [reason for reasons in own or [self.document["reasons"]] for reason in reasons]


def by_exit_code(seen: Seen) -> str:
    """For a reader who looks at the exit code alone."""
    return {0: PASSED, 1: "failed", 2: REFUSED, 3: "unavailable", 4: "error"}[seen.code]


def verdict(seen: Seen) -> str:
    """What the attack itself came to."""
    return REFUSED if seen.code == 2 else str(seen.trial["verdict"])


@dataclass(frozen=True)
class Attack:
    """One attack.

    Attributes:
        name: unique; also the case's id.
        does: what is tried, in a sentence.
        case: the case, without its id; or what its file says.
        ends: the verdict that it must come to.
        reason: among the reasons of that verdict, or in the words of a refusal.
        defence: what stops it, in a sentence.
        weaken: takes that defence away.
        lay: lays files beside the case.
        argv: more of the command line.
        verb: of the command.
        paths: what is named on the command line in the case's place.
        docker: whether it is tried in a container too.
        disk: options of a file system of its own, which the run's folder lies on.
        needs: capabilities without which it cannot be tried.
        alone: whether it runs without the plain offender beside it.
        meanwhile: what happens on the host while it runs; given the folder.
        reads: what a reader takes from the run.
        says: part of the message.
    """

    name: str
    does: str
    case: Case
    ends: str
    reason: str
    defence: str
    weaken: Weaken
    lay: Callable[[Path], object] | None = None
    argv: Sequence[str] = ()
    verb: str = "run"
    paths: Sequence[str] = ()
    docker: bool = False
    disk: str = ""
    needs: Sequence[str] = ()
    alone: bool = False
    meanwhile: Callable[[Path], None] | None = None
    reads: Callable[[Seen], str] = verdict
    says: str = ""


# -- weakened judges


def replaced(target: str, by: object) -> Weaken:
    """``module:qualified.name`` of ours is ``by`` instead."""

    def weaken(patch: pytest.MonkeyPatch, folder: Path) -> None:
        module, _, name = target.partition(":")
        *owners, last = name.split(".")
        owner: Any = importlib.import_module(module)
        for part in owners:
            owner = getattr(owner, part)
        patch.setattr(owner, last, by)

    return weaken


def wrapped(target: str, around: Callable[[Any], object]) -> Weaken:
    """``module:qualified.name`` is what ``around`` makes of it."""

    def weaken(patch: pytest.MonkeyPatch, folder: Path) -> None:
        module, _, name = target.partition(":")
        owner: Any = importlib.import_module(module)
        for part in name.split("."):
            owner = getattr(owner, part)
        replaced(target, around(owner))(patch, folder)

    return weaken


_IN_HELPER = """
import sys
sys.path[0] = {top!r}
from sandboxes.helper import (
    groups, init, keeper, kernel, launch, operations, overlay, paths, processes, rows, server,
    stage, trees,
)
{source}
sys.exit(server.main(int(sys.argv[1]), *sys.argv[2:]))
"""


def in_helper(source: str) -> Weaken:
    """The helper of the run does ``source`` to itself before it begins."""

    def weaken(patch: pytest.MonkeyPatch, folder: Path) -> None:
        helper = folder / "weakened-helper"
        helper.mkdir()
        (helper / "__main__.py").write_text(_IN_HELPER.format(top=str(TOP), source=source))
        patch.setattr(resident, "_HELPER", helper)

    return weaken


def both(*weakenings: Weaken) -> Weaken:
    """A defence that is written in two places."""

    def weaken(patch: pytest.MonkeyPatch, folder: Path) -> None:
        for each in weakenings:
            each(patch, folder)

    return weaken


# -- cases


def shell(script: str, expect: Sequence[object], **more: Any) -> Mapping[str, Any]:
    """A case whose subject is a line of shell."""
    written = script.replace("{", "{{").replace("}", "}}").replace("${{", "${")
    return {"subject": {"command": ["bash", "-c", written]}, "expect": list(expect), **more}


def python(program: str, expect: Sequence[object], **more: Any) -> Mapping[str, Any]:
    """A case whose subject is a Python program, planted in the workspace."""
    workspace = dict(more.pop("workspace", {}))
    workspace["files"] = {"attack.py": program, **workspace.get("files", {})}
    return {
        "subject": {"command": ["python3", "attack.py"]},
        "workspace": workspace,
        "expect": list(expect),
        **more,
    }


# -- running


def run(attack: Attack, folder: Path, backend: str = BUBBLEWRAP) -> Seen:
    """Run an attack in this process, as ``shakeout run`` does it."""
    if attack.lay is not None:
        attack.lay(folder)
    case = _write(folder / f"{attack.name}.yaml", attack.name, attack.case)
    words = [attack.verb, *(attack.paths or [str(case)])]
    if not attack.alone:
        words.append(str(_write(folder / "plain-offender.yaml", "plain-offender", OFFENDER)))
    words.append("--json")
    if attack.verb == "run":
        words += ["--sandbox", backend]
        words += [] if "--out" in attack.argv else ["--out", "out"]
    watcher = threading.Thread(target=attack.meanwhile or _nothing, args=(folder,))
    watcher.start()
    try:
        if attack.disk:
            return on_disk(attack.disk, folder, lambda: shakeout([*words, *attack.argv], folder))
        return shakeout([*words, *attack.argv], folder)
    finally:
        watcher.join()


def shakeout(words: Sequence[str], folder: Path) -> Seen:
    """Run the command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.main(words)
    text = out.getvalue()
    document = json.loads(text) if text else {"trials": [], "reasons": [err.getvalue()]}
    return Seen(code, document, err.getvalue(), folder)


def on_disk(options: str, folder: Path, work: Callable[[], T]) -> T:
    """Do it in a thread that alone sees a small file system at the run's folder."""

    def do() -> T:
        kernel.unshare(kernel.NEWNS)
        kernel.mount("none", "/", "", kernel.REC | kernel.PRIVATE)
        kernel.mount("small", str(folder / "out"), "tmpfs", 0, options)
        return work()

    (folder / "out").mkdir()
    with ThreadPoolExecutor(1) as thread:  # and with the thread goes what it has mounted
        return thread.submit(do).result()


def _write(path: Path, name: str, case: Case) -> Path:
    if isinstance(case, str):
        path.write_text(case)
        return path
    written = case if isinstance(case, Mapping) else case(path.parent)
    whole = {"case": name, "title": name, **written}
    path.write_text(json.dumps(whole, ensure_ascii=False))
    return path


def _nothing(_: Path) -> None:
    """Nothing happens meanwhile."""


@contextlib.contextmanager
def scene(folder: Path, patch: pytest.MonkeyPatch) -> Any:
    """A folder to run in: with its own state and home."""
    home = folder / "home"
    home.mkdir()
    patch.setenv("HOME", str(home))
    patch.setenv("SHAKEOUT_STATE", str(folder / "state"))
    patch.setattr("sys.argv", ["shakeout"])
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
