"""Whatever has been done to a run's folder: it is told in time, and never taken for what it was."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import cli
from tests.functional.run.conftest import Bench

#: Seconds that a verb may take here at most; on its own it takes a tenth of one.
LIMIT = 60
CASE = """\
    subject: {command: [sh, -c, "curl -s model:8080/v1/models >/dev/null; echo out; echo 42 > report.txt"]}
    expect:
      - {exit: 0}
      - {home: untouched}
      - {file: {path: report.txt, equals: "42\\n"}}
      - {requests: {exactly: 1, kind: probe}}
      - {output: {matches: out}}
    """

Told = tuple[int, str]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that passed, made once; tests work on copies of it."""
    bench = Bench(tmp_path_factory.mktemp("hostile"))
    assert bench("run", bench.case("fine", CASE), "--out", "run").code == 0
    return bench.folder / "run"


@contextlib.contextmanager
def in_time() -> Iterator[None]:
    def late(_number: int, _frame: object) -> None:
        raise TimeoutError("it hangs")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LIMIT)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def told(*words: object, state: Path) -> Told:
    """The exit code of a verb, and everything that it says."""
    out = io.StringIO()
    with (
        in_time(),
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
    ):
        patch.setenv("SHAKEOUT_STATE", str(state))
        code = cli.main([str(word) for word in words])
    assert "Traceback" not in out.getvalue()
    assert "bug of shakeout" not in out.getvalue()
    return code, out.getvalue()


Change = Callable[[Path, random.Random], object]


def flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes() or b"x")
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def cut(path: Path, chance: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: chance.randrange(len(data))] if data else b"\n")


def splice(path: Path, chance: random.Random) -> None:
    """A stretch of the file once more, somewhere else in it."""
    data = path.read_bytes() or b"0"
    begin, to = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    at = chance.randrange(len(data) + 1)
    path.write_bytes(data[:at] + (data[begin:to] or b"0") + data[at:])


ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**400,
    1e308,
    "",
    "\ud800\0",
    [],
    [[]],
    {},
    {"": None},
    "x" * 70_000,
)


def retype(path: Path, chance: random.Random) -> None:
    """A value of a document, or of a line of one, is of another type; a key is gone, or another."""
    lines = path.read_bytes().split(b"\n") if path.suffix == ".jsonl" else [path.read_bytes()]
    at = chance.randrange(len(lines))
    try:
        document = json.loads(lines[at])
    except (ValueError, RecursionError):  # what another change nested
        document = None
    place = document
    while isinstance(place, dict | list) and place:
        key = chance.choice(list(place) if isinstance(place, dict) else range(len(place)))
        if chance.random() < 0.4 or not isinstance(place[key], dict | list):
            if isinstance(place, dict) and chance.random() < 0.3:
                place["else"] = place.pop(key)
            else:
                place[key] = chance.choice(ODD)
            break
        place = place[key]
    lines[at] = json.dumps(document).encode()
    path.write_bytes(b"\n".join(lines))


def nest(path: Path, chance: random.Random) -> None:
    depth = chance.choice([150, 300, 990, 50_000])
    deep = "[" * depth + "]" * depth
    path.write_text(chance.choice([deep, f'{{"schema": 1, "event": {deep}}}\n', f"a: {deep}"]))


def number(path: Path, chance: random.Random) -> None:
    digit = chance.choice(["9" * 5000, "9" * 400, "1e999", "NaN", "-Infinity"])
    data = path.read_text("utf-8", "surrogateescape")
    place = data.find(": ", chance.randrange(len(data) + 1)) + 2
    path.write_text(data[:place] + digit + ", " + data[place:], "utf-8", "surrogateescape")


def replaced(make: Callable[[Path], object]) -> Change:
    def change(path: Path, _: random.Random) -> None:
        path.unlink()
        make(path)

    return change


def endless(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


def listen(path: Path) -> None:
    with contextlib.chdir(path.parent), socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)


def lead_away(path: Path, _: random.Random) -> None:
    """The folder of a file is a link to where it is now."""
    away = path.parent.with_name(f"{path.parent.name}-away")
    if path.parent.name != "run" and not away.exists():
        path.parent.rename(away)
        path.parent.symlink_to(away)


def add(path: Path, chance: random.Random) -> None:
    name = chance.choice(["more", ".x", "\udcff", "run.json", "journal.jsonl"])
    fresh = path.with_name(f"{name}{'' if chance.random() < 0.5 else chance.random()}")
    if not os.path.lexists(fresh):
        makes: list[Callable[[Path], object]] = [os.mkfifo, Path.touch, listen]
        chance.choice(makes)(fresh)


CHANGES: Mapping[str, Change] = {
    "flip": flip,
    "cut": cut,
    "splice": splice,
    "retype": retype,
    "nest": nest,
    "number": number,
    "pipe": replaced(os.mkfifo),
    "socket": replaced(listen),
    "folder": replaced(Path.mkdir),
    "endless": replaced(endless),
    "link": replaced(lambda path: path.symlink_to("/dev/zero")),
    "loop": replaced(lambda path: path.symlink_to(path.name)),
    "gone": replaced(lambda path: None),
    "folder gone": lambda path, _: shutil.rmtree(path.parent),
    "led away": lead_away,
    "add": add,
}


def picture(folder: Path) -> Mapping[str, object]:
    """Everything in a folder: what it is, and its bytes where it is a file of some length."""
    found: dict[str, object] = {}
    for top, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(top, name)
            info = path.lstat()
            regular = path.is_file() and not path.is_symlink() and info.st_size < 1 << 20
            found[str(path.relative_to(folder))] = (
                path.read_bytes() if regular else (info.st_mode, info.st_size)
            )
    return found


def files_of(folder: Path) -> list[Path]:
    """Those that are files, and not without an end."""
    found = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return sorted(path for path in found if path.stat().st_size < 1 << 24)


@settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.sampled_from(sorted(CHANGES)), min_size=1, max_size=3), st.randoms())
def test_no_change_hangs_or_breaks_a_verb_and_none_is_let_pass(original: Path, names, chance):
    state = original.parent / "state"
    with tempfile.TemporaryDirectory() as top:
        run = shutil.copytree(original, Path(top, "run"))
        before = picture(run)
        for name in names:
            if run.is_dir() and (files := files_of(run)):
                CHANGES[name](chance.choice(files), chance)
        if not run.exists() or picture(run) == before:
            return
        assert told("evidence", "verify", run, state=state)[0] in {1, 2, 4}
        assert told("judge", run, state=state)[0] in {2, 4}
        assert told("judge", run, state=Path(top, "none"))[0] in {2, 4}
        for trial in run.glob("trials/*"):
            assert told("judge", trial, "--json", state=state)[0] in {0, 1, 2, 3, 4}
