"""A state folder: what keeps it from sealing, what a crash leaves, and how it is reset."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.unit.seals.runs import begun, claim, sealed, trial
from verifiers.seals import ledger as ledgers
from verifiers.seals.chain import read
from verifiers.seals.errors import Cause, NotSealed
from verifiers.seals.sealer import Sealer
from verifiers.seals.state import State

AT = 2_000_000_000.0


@pytest.fixture
def state(tmp_path: Path) -> State:
    made = State(tmp_path / "state")
    for number in range(3):
        made.append("begun", {"run": f"run-{number}"})
    return made


def log(state: State) -> Path:
    return state.folder / "log.jsonl"


def events(state: State) -> list[dict[str, Any]]:
    key = state.public_key()
    assert key is not None
    chain = read(log(state).read_bytes(), key, "log.jsonl", ("reset",))
    assert chain.problems == []
    return [dict(record["predicate"]) for record in chain.records if record]


def test_everything_is_made_on_first_use_and_is_the_owners_alone(tmp_path: Path):
    state = State(tmp_path / "made" / "state")
    state.append("begun", {})

    modes = {p.name: p.stat().st_mode & 0o777 for p in state.folder.rglob("*")}
    assert modes["keys"] == 0o700
    assert modes["seal.key"] == 0o600
    assert state.folder.stat().st_mode & 0o777 == 0o700
    assert [event["event"] for event in events(state)] == ["begun"]


def edited(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def shorter(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def longer(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b'{"event": "begun"}\n')


def twice(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data + data.splitlines(keepends=True)[-1])


def another_key(state: State) -> None:
    other = State(state.folder / "other")
    other.append("begun", {})
    for name in ("seal.key", "key.pub"):
        (other.folder / "keys" / name).replace(state.folder / "keys" / name)


def all_gone(state: State) -> None:
    log(state).unlink()
    (state.folder / "head.json").unlink()


TAMPERING: dict[str, tuple[Callable[[State], object], Cause]] = {
    "log edited": (lambda state: edited(log(state)), Cause.CHAIN),
    "log shorter": (lambda state: shorter(log(state)), Cause.LENGTH),
    "log longer": (lambda state: longer(log(state)), Cause.LENGTH),
    "a line twice": (lambda state: twice(log(state)), Cause.LENGTH),
    "log gone": (lambda state: log(state).unlink(), Cause.LENGTH),
    "head gone": (lambda state: (state.folder / "head.json").unlink(), Cause.HEAD),
    "log and head gone": (all_gone, Cause.HEAD),
    "head edited": (lambda state: (state.folder / "head.json").write_text("{}"), Cause.HEAD),
    "another key": (another_key, Cause.HEAD),
    "key gone": (lambda state: (state.folder / "keys/seal.key").unlink(), Cause.KEY),
    "no key": (lambda state: (state.folder / "keys/seal.key").write_text("x"), Cause.KEY),
    "key for all": (lambda state: (state.folder / "keys/seal.key").chmod(0o644), Cause.KEY),
    "breaker gone": (lambda state: (state.folder / "breaker.json").unlink(), Cause.OPEN),
    "breaker spoilt": (lambda state: (state.folder / "breaker.json").write_text("x"), Cause.OPEN),
}


@pytest.mark.parametrize("name", TAMPERING)
def test_what_was_tampered_with_seals_nothing_until_it_is_reset(
    state: State, tmp_path: Path, name: str
):
    change, cause = TAMPERING[name]
    change(state)

    first = begun(tmp_path / "first", state)
    assert first.broken is not None
    assert first.broken.cause is cause
    second = begun(tmp_path / "second", state)
    assert second.broken is not None
    assert second.refused
    assert second.broken.remedy

    state.reset("looked at it")
    again = begun(tmp_path / "again", state)
    assert again.broken is None
    (reset,) = [event for event in events(state) if event["event"] == "reset"]
    assert reset["reason"] == "looked at it"
    assert bool(reset["broken"]) == (cause is not Cause.OPEN)


def test_what_a_reset_sets_aside_is_kept_by_its_digest(state: State):
    edited(log(state))
    was = log(state).read_bytes()
    broken = state.reset("edited by hand")

    assert any("record" in what for what in broken)
    (kept,) = state.folder.glob("broken-*/log.jsonl")
    assert kept.read_bytes() == was
    (reset,) = events(state)
    assert f"{kept.parent.name}/log.jsonl" in reset["set_aside"]


def test_a_run_sealed_before_a_reset_is_still_on_record(state: State, tmp_path: Path):
    from verifiers.seals.verify import verify

    folder = sealed(tmp_path / "run", state)
    another = log(state).read_bytes() + b"x\n"
    log(state).write_bytes(another)
    state.reset("a line too many")
    key = state.public_key()
    assert key is not None

    assert verify(folder, key, state).problems == []


def test_a_reset_of_what_is_whole_goes_on_in_the_same_log(state: State):
    state.open_breaker(NotSealed(Cause.UNWRITABLE, "the disk is full"), "run-2")
    assert state.reset("made room") == []

    *before, reset = events(state)
    assert [event["event"] for event in before] == ["begun"] * 3
    assert reset["breaker"]["what"] == "the disk is full"
    assert reset["breaker"]["run"] == "run-2"
    assert not list(state.folder.glob("broken-*"))


def test_a_clock_that_went_back_seals_nothing_until_it_is_reset(tmp_path: Path):
    now = [AT]
    state = State(tmp_path / "state", now=lambda: now[0])
    state.append("begun", {})
    now[0] = AT - 1  # what keeps a clock right may do that
    state.append("begun", {})
    now[0] = AT - 3600

    with pytest.raises(NotSealed) as caught:
        state.append("begun", {})
    assert caught.value.cause is Cause.CLOCK
    state.reset("the clock was an hour ahead")
    state.append("begun", {})
    assert [event["event"] for event in events(state)] == ["begun", "begun", "reset", "begun"]


def test_a_clock_that_goes_back_during_a_run_stops_it(
    state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    sealer = begun(tmp_path / "run", state)
    folder = trial(sealer, "a")
    monkeypatch.setattr("sandboxes.clock.wall", lambda: 1_000_000_000.0)

    with pytest.raises(NotSealed) as caught:
        sealer.seal(folder, claim("a"))
    assert caught.value.cause is Cause.CLOCK


TORN: dict[str, Callable[[bytes], bytes]] = {
    "half a line": lambda line: line[: len(line) // 2],
    "one byte": lambda line: line[:1],
    "all but its end": lambda line: line[:-1],
    "zeros after it": lambda line: line[:100] + bytes(50),
    "nothing but zeros": lambda line: bytes(80),
    "the line, and no head": lambda line: line,
}


@pytest.mark.parametrize("name", TORN)
def test_what_a_killed_writer_left_is_recovered_and_on_record(
    state: State, monkeypatch: pytest.MonkeyPatch, name: str
):
    before = log(state).read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(ledgers.Ledger, "_write_head", lambda *_: None)
        state.append("begun", {"run": "killed"})
    line = log(state).read_bytes()[len(before) :]
    log(state).write_bytes(before + TORN[name](line))

    state.append("begun", {"run": "after"})
    *_, recovered, after = events(state)
    assert (recovered["event"], after["run"]) == ("recovered", "after")
    whole = name == "the line, and no head"
    assert (recovered["taken"], bool(recovered["cut"])) == (int(whole), not whole)


@pytest.mark.parametrize("tail", [b"garbage", b"{}\n", b'{"payload":"e30="}\n{"payload":"'])
def test_what_no_writer_would_leave_is_no_accident(state: State, tail: bytes):
    log(state).write_bytes(log(state).read_bytes() + tail)

    with pytest.raises(NotSealed) as caught:
        state.append("begun", {})
    assert caught.value.cause is Cause.LENGTH


def test_a_folder_that_was_being_made_when_its_writer_was_killed_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from verifiers.seals import keys
    from verifiers.seals.breaker import Breaker

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    for number, (owner, name) in enumerate(((ledgers.Ledger, "make"), (Breaker, "make"))):
        state = State(tmp_path / str(number))
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, killed)
            with pytest.raises(KeyboardInterrupt):
                state.append("begun", {})
        state.append("begun", {})
        assert len(events(state)) == 1
        assert keys.load(state.folder / "keys").public_key == state.public_key()


def failing(number: int) -> Callable[..., int]:
    def write(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    return write


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.EDQUOT])
def test_a_disk_that_takes_nothing_more_breaks_the_run_and_opens_the_breaker(
    state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
):
    sealer = begun(tmp_path / "run", state)
    folder = trial(sealer, "a")
    with monkeypatch.context() as patch:
        patch.setattr("verifiers.seals.runlog.write_all", failing(number))
        with pytest.raises(NotSealed) as caught:
            sealer.seal(folder, claim("a"))
    assert caught.value.cause is Cause.UNWRITABLE
    assert os.strerror(number) in str(caught.value)
    with pytest.raises(NotSealed):
        sealer.seal(folder, claim("a"))  # though there would be room again

    assert begun(tmp_path / "next", state).refused


@pytest.mark.parametrize("module", ["ledger", "files"])
def test_a_write_that_failed_leaves_what_was_there(
    state: State, monkeypatch: pytest.MonkeyPatch, module: str
):
    before = events(state)
    with monkeypatch.context() as patch:
        patch.setattr(f"verifiers.seals.{module}.write_all", failing(errno.ENOSPC))
        with pytest.raises(NotSealed):
            state.append("begun", {"run": "x"})
    state.append("begun", {"run": "y"})

    known = {"begun", "recovered"}
    assert events(state)[:3] == before
    assert events(state)[-1]["run"] == "y"
    assert {event["event"] for event in events(state)} <= known


def test_many_at_once_make_one_log(tmp_path: Path):
    errors: list[Exception] = []

    def use(number: int) -> None:
        try:
            for time in range(5):
                State(tmp_path / "state").append("begun", {"run": f"{number}.{time}"})
        except NotSealed as error:
            errors.append(error)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
    assert len(events(State(tmp_path / "state"))) == 40


def test_a_run_of_several_processes_has_one_log(state: State, tmp_path: Path):
    first = begun(tmp_path / "run", state)
    other = Sealer("run-1", first.folder, state)
    other.attach()
    for name in "abcd":
        (first if name in "ac" else other).seal(trial(first, name), claim(name))
    other.close()
    (first.folder / "run.json").write_text("{}")
    first.finish(claim("whole"))
    from verifiers.seals.verify import verify

    key = state.public_key()
    assert key is not None
    assert first.broken is other.broken is None
    assert [p for p in verify(first.folder, key).problems if "trials" in p.file] == []


@pytest.mark.parametrize("change", [edited, shorter, longer, twice])
def test_a_run_whose_log_is_touched_meanwhile_is_not_sealed(
    state: State, tmp_path: Path, change: Callable[[Path], None]
):
    sealer = begun(tmp_path / "run", state)
    sealer.seal(trial(sealer, "a"), claim("a"))

    change(sealer.folder / "seals.jsonl")

    with pytest.raises(NotSealed):
        sealer.finish(claim("whole"))


def test_evidence_that_is_no_file_is_not_sealed(state: State, tmp_path: Path):
    sealer = begun(tmp_path / "run", state)
    folder = trial(sealer, "a")
    (folder / "link").symlink_to("stdout")

    with pytest.raises(NotSealed) as caught:
        sealer.seal(folder, claim("a"))
    assert caught.value.cause is Cause.EVIDENCE


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system with hardly any room."""
    from sandboxes.helper import kernel

    place = tmp_path / "tiny"
    place.mkdir()
    try:
        kernel.mount("tiny", str(place), "tmpfs", 0, "size=64k")
    except OSError:
        pytest.skip("only root can mount")
    try:
        yield place
    finally:
        kernel.unmount(str(place))


@pytest.mark.root
def test_the_breaker_opens_on_a_full_disk(tiny: Path, tmp_path: Path):
    state = State(tiny / "state")
    state.append("begun", {})
    filled = tiny / "filled"
    with filled.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            pass

    first = begun(tmp_path / "first", state)
    assert first.broken is not None
    assert first.broken.cause is Cause.UNWRITABLE
    assert first.broken.remedy == "make room"
    assert begun(tmp_path / "second", state).refused
    with pytest.raises(NotSealed):
        state.reset("not mended yet")
    filled.unlink()
    state.reset("made room")
    assert begun(tmp_path / "third", state).broken is None


@pytest.mark.root
def test_a_state_folder_on_a_read_only_disk_seals_nothing(tiny: Path, tmp_path: Path):
    from sandboxes.helper import kernel

    state = State(tiny / "state")
    state.append("begun", {})
    kernel.mount("none", str(tiny), "", kernel.REMOUNT | kernel.RDONLY)
    first = begun(tmp_path / "first", state)
    kernel.mount("none", str(tiny), "", kernel.REMOUNT)

    assert first.broken is not None
    assert "Read-only" in str(first.broken)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_key_that_may_not_be_read_seals_nothing(state: State, tmp_path: Path):
    (state.folder / "keys/seal.key").chmod(0)
    first = begun(tmp_path / "first", state)

    assert first.broken is not None
    assert first.broken.cause is Cause.KEY
    assert first.broken.remedy
    with pytest.raises(NotSealed):
        state.reset("no use while it is somebody else's")
