"""Oracles that do what none may, each in one way, to show that it is found out."""

from __future__ import annotations

import datetime
import importlib
import locale
import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness.case.model import Params
from harness.evidence.model import Evidence
from harness.oracles.base import Finding, held

_COUNTED: list[int] = []
#: A module that nobody else has imported.
_RARE = "colorsys"


class Impure:
    """Does what ``do`` does, and says what that gave."""

    def __init__(self, do: Callable[[Evidence], object]) -> None:
        self._do = do

    def parse(self, value: Any) -> Params:
        return {}

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        return held("something", str(self._do(evidence)))


def _imports(_: Evidence) -> object:
    sys.modules.pop(_RARE, None)
    return importlib.import_module(_RARE)


def _spoils(evidence: Evidence) -> object:
    return evidence.attempts.update({"x": None})  # type: ignore[attr-defined]


def _counts(_: Evidence) -> object:
    _COUNTED.append(1)
    return len(_COUNTED)


def _starts(_: Evidence) -> object:
    thread = threading.Thread(target=_COUNTED.clear)
    thread.start()
    thread.join()
    return None


#: What each does, and a word that its offence has.
WATCHED: Mapping[str, tuple[Callable[[Evidence], object], str]] = {
    "reads a file": (
        lambda _: Path("/etc/hostname").exists() and Path("/etc/passwd").read_text(),
        "open",
    ),
    "lists a folder": (lambda _: os.listdir("/"), "os.listdir"),  # noqa: PTH208
    "looks at a file": (lambda _: os.stat("/"), "posix.stat"),  # noqa: PTH116
    "opens a socket": (lambda _: socket.socket().close(), "socket.__new__"),
    "asks for a name": (lambda _: socket.gethostname(), "socket.gethostname"),
    "starts a child": (lambda _: subprocess.run(["true"], check=True), "subprocess.Popen"),
    "starts a thread": (_starts, "_thread.start_new_thread"),
    "imports": (_imports, f"imported {_RARE}"),
    "opens a database": (
        lambda _: __import__("sqlite3").connect("file:x?mode=memory", uri=True),
        "sqlite3",
    ),
    "looks at the clock": (lambda _: time.time(), "time.time"),
    "takes its time": (lambda _: time.sleep(0), "time.sleep"),
    "asks for the day": (lambda _: datetime.datetime.now(tz=datetime.UTC), "datetime.now"),
    "asks for the zone": (lambda _: time.strftime("%Z"), "time.strftime"),
    "throws dice": (lambda _: random.random(), "random.random"),
    "throws dice of its own": (lambda _: random.Random(1).randrange(9), "random"),
    "throws the kernel's dice": (lambda _: os.urandom(1), "posix.urandom"),
    "reads the environment": (lambda _: os.environ.get("HOME"), "os._Environ"),
    "asks for a variable": (lambda _: os.getenv("HOME"), "os.getenv"),
    "asks for the locale": (lambda _: locale.localeconv(), "_locale"),
    "asks who it is": (lambda _: os.getpid(), "posix.getpid"),
    "asks where something lies": (id, "builtins.id"),
}
#: What each does, and what comes to light.
SEEN: Mapping[str, tuple[Callable[[Evidence], object], str]] = {
    "spoils evidence": (_spoils, "changed the evidence"),
    "counts": (_counts, "two answers"),
}
#: Each gives another answer in another process.
ELSEWHERE: Mapping[str, Callable[[Evidence], object]] = {
    "hashes": lambda _: hash("text"),
    "walks a set": lambda _: list({"a", "b", "c", "d", "e", "f", "g", "h", "i"}),
    "knows its arguments": lambda _: sys.argv[1:],
}
