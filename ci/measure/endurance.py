"""Runs that are killed at moments of chance, and one case over and over again.

What is counted must be none: things left behind, journals that cannot be read, verdicts that
differ. It takes a quarter of an hour, so it is measured only where it is asked for.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ci.measure.figures import Figure, Unavailable
from sandboxes import clock, proc

KILLS = 1000
REPETITIONS = 2000
_WORKERS = 4
_MOMENT = 10.0
_SEED = 20
_TOP = Path(__file__).resolve().parents[2]
_SHAKEOUT = str(Path(sys.executable).with_name("shakeout"))

QUICK = """\
case: quick
title: The program ends with 0
subject: {command: ["true"]}
task: Nothing.
home: {precious/letter.txt: dear}
expect: [{exit: 0}, {home: untouched}]
"""
LASTING = """\
case: lasting
title: The program starts what outlives it
subject: {command: [sh, -c, "(setsid sleep 300 &) ; trap '' TERM; sleep 300"]}
task: Nothing.
expect: [{home: untouched}]
"""
BROKEN = """\
case: broken
title: The program removes what it must not
subject: {command: [sh, -c, "rm -r ~/precious"]}
task: Nothing.
home: {precious/letter.txt: dear}
expect: [{home: untouched}]
"""
UNMET = """\
case: unmet
title: A fault that hits nothing
subject: {command: ["true"]}
task: Nothing.
faults: [{fault: model.status, with: {status: 500}}]
expect: [{exit: 0}]
"""
VERDICTS = {"quick": "passed", "broken": "failed", "unmet": "unavailable"}


def figures() -> Iterator[Figure | Unavailable]:
    """What is left of killed runs, and how many verdicts of equal trials differ."""
    for what, take in (("killed runs", _killed), ("equal trials", _repeated)):
        with tempfile.TemporaryDirectory(prefix="shakeout-endurance-") as folder:
            try:
                yield take(Path(folder))
            except RuntimeError as error:
                yield Unavailable(what, str(error))


def _killed(folder: Path) -> Figure:
    """Kill a run again and again, at any moment from its first import to its end."""
    chance = random.Random(_SEED)
    cases = [_case(folder, "quick", QUICK), _case(folder, "lasting", LASTING)]
    whole = _seconds(folder, cases[:1])
    before, problems, runs = _belongings(), list[str](), list[str]()
    for number in range(KILLS):
        out = folder / f"run{number}"
        child = _start([*cases, "--repeat", "4", "-n", "3", "--out", str(out)], folder)
        clock.sleep(chance.uniform(0, 1.5) * whole)
        os.kill(child.pid, signal.SIGKILL)
        child.end()
        runs += _run_of(out)
        problems += _unreadable(out)
    cleaned = proc.run([_SHAKEOUT, "clean"], env=_env(folder), timeout=60)
    if not cleaned.ok:
        problems.append(f"clean: {cleaned.stderr.decode()}")
    problems += _left(before, runs)
    if not runs:
        raise RuntimeError("no run had begun when it was killed")
    return _none("left of killed runs", problems, KILLS, f"{len(runs)} had begun their log")


def _repeated(folder: Path) -> Figure:
    """Run each trivial case many times, and count the verdicts that are not the usual one."""
    cases = [
        _case(folder, *pair) for pair in (("quick", QUICK), ("broken", BROKEN), ("unmet", UNMET))
    ]
    each = REPETITIONS // len(cases) + 1
    out = folder / "out"
    child = _start([*cases, "--repeat", str(each), "-n", str(_WORKERS), "--out", str(out)], folder)
    child.wait(1800)
    child.end()
    trials = _document(out)["trials"]
    if len(trials) != each * len(cases):
        raise RuntimeError(f"expected {each * len(cases)} trials, there are {len(trials)}")
    others = [
        f"{trial['id']}: {trial['verdict']} {trial['message']}"
        for trial in trials
        if trial["verdict"] != VERDICTS[trial["case"]]
    ]
    return _none("other verdicts of equal trials", others, len(trials), "")


def _none(what: str, problems: Sequence[str], tried: int, note: str) -> Figure:
    said = "; ".join([*([note] if note else []), *problems[:3]])
    return Figure(what, len(problems), tried, "times", "tried", goal=0, note=said)


def _case(folder: Path, name: str, text: str) -> str:
    path = folder / f"{name}.yaml"
    path.write_text(text)
    return str(path)


def _env(folder: Path) -> Mapping[str, str]:
    return {**proc.minimal_env(), "HOME": str(folder), "SHAKEOUT_STATE": str(folder / "state")}


def _start(words: Sequence[str], folder: Path) -> proc.Child:
    return proc.start([_SHAKEOUT, "run", *words], env=_env(folder))


def _seconds(folder: Path, cases: Sequence[str]) -> float:
    """How long a run takes that nobody ends, seconds."""
    began = clock.monotonic()
    child = _start([*cases, "--repeat", "8", "--out", str(folder / "whole")], folder)
    code = child.wait(60)
    child.end()
    if code != 0:
        raise RuntimeError(f"a run that nobody killed ended with {code}")
    return clock.monotonic() - began


def _run_of(out: Path) -> Sequence[str]:
    """The id of a run that came as far as its log; a first line may be torn."""
    log = out / "log.jsonl"
    first, whole, _ = log.read_text().partition("\n") if log.exists() else ("", "", "")
    return [json.loads(first)["run"]] if whole else []


def _unreadable(out: Path) -> Iterator[str]:
    """Journals with a line, other than a torn last one, that is no event."""
    for journal in [*out.glob("trials/*/journal.jsonl"), *out.glob("log.jsonl")]:
        for line in journal.read_text().split("\n")[:-1]:
            try:
                json.loads(line)["event"]
            except (ValueError, KeyError):
                yield f"{journal.relative_to(out.parent)}: {line[:80]!r}"


def _document(out: Path) -> Mapping[str, Sequence[Mapping[str, str]]]:
    try:
        document: Mapping[str, Sequence[Mapping[str, str]]]
        document = json.loads((out / "run.json").read_text())
    except OSError as error:
        raise RuntimeError(f"the run left no run.json: {error}") from error
    return document


def _belongings() -> frozenset[str]:
    """What a run may leave on a machine, control groups apart: processes, mounts, links."""
    return frozenset((*_processes(), *_mounts(), *_links()))


def _left(before: frozenset[str], runs: Sequence[str]) -> Sequence[str]:
    deadline = clock.monotonic() + _MOMENT
    while left := (_belongings() - before) | frozenset(_groups(runs)):
        if clock.monotonic() > deadline:
            break
        clock.sleep(0.1)
    return sorted(left)


def _processes() -> Iterator[str]:
    """Every helper, keeper and pid 1 of this checkout, and every subject."""
    for entry in Path("/proc").iterdir():
        try:
            argv = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if entry.name.isdigit() and (f"{_TOP}/sandboxes" in argv or argv.strip() == "sleep 300"):
            yield f"process {entry.name} {argv.strip()[:100]}"


def _groups(runs: Sequence[str]) -> Iterator[str]:
    """Control groups that carry the id of one of these runs."""
    for group in Path("/sys/fs/cgroup").glob("**/"):
        if any(run in group.name for run in runs):
            yield f"control group {group}"


def _mounts() -> Iterator[str]:
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        yield f"mount {line}"


def _links() -> Iterator[str]:
    for device in Path("/sys/class/net").iterdir():
        yield f"link {device.name}"
