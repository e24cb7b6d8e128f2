"""Whatever of a sealed run is not as it was is found, and named."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.seals.runs import begun, claim, sealed, trial
from verifiers.seals.chain import Problem
from verifiers.seals.runlog import NAME as LOG
from verifiers.seals.sealer import ATTESTATION
from verifiers.seals.state import State
from verifiers.seals.verify import verify

FIRST = "trials/a"


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path / "state")


@pytest.fixture
def run(tmp_path: Path, state: State) -> Path:
    return sealed(tmp_path / "run", state)


def problems(folder: Path, state: State) -> list[Problem]:
    key = state.public_key()
    assert key is not None
    return list(verify(folder, key, state).problems)


def lines(folder: Path) -> list[bytes]:
    return (folder / LOG).read_bytes().splitlines(keepends=True)


def test_a_run_as_it_was_sealed_is_found_so(run: Path, state: State):
    key = state.public_key()
    assert key is not None
    checked = verify(run, key, state)

    assert checked.problems == []
    assert (checked.run, checked.records, checked.files) == ("run-1", 5, 14)


def test_a_copy_elsewhere_is_checked_with_the_public_key_alone(run: Path, state: State, tmp_path):
    key = state.public_key()
    assert key is not None
    copy = shutil.copytree(run, tmp_path / "far" / "away")
    shutil.rmtree(run)

    assert verify(copy, key).problems == []


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes() or b"x")
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def truncated(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:-1] if data else b"more")


def linked(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


@pytest.mark.parametrize("change", [flipped, truncated, linked, Path.unlink])
def test_each_file_is_named_when_it_is_changed(
    run: Path, state: State, tmp_path: Path, change: Callable[[Path], None]
):
    names = [p.relative_to(run).as_posix() for p in sorted(run.rglob("*")) if p.is_file()]
    assert len(names) == 16
    for name in names:
        copy = shutil.copytree(run, tmp_path / "copy")
        change(copy / name)

        assert name in {problem.file for problem in problems(copy, state)}, name
        shutil.rmtree(copy)


@pytest.mark.parametrize("name", ["more", "trials/more", f"{FIRST}/more", "trials/d/stdout", ".x"])
def test_a_file_that_was_added_is_named(run: Path, state: State, name: str):
    (run / name).parent.mkdir(exist_ok=True)
    (run / name).write_text("more")

    assert [(p.file, p.seen) for p in problems(run, state)] == [(name, "one that was not sealed")]


def test_a_link_that_was_added_is_named(run: Path, state: State):
    (run / "trials" / "d").symlink_to("a")

    assert [p.file for p in problems(run, state)] == ["trials/d"]


def test_each_byte_of_the_log_counts(run: Path, state: State, tmp_path: Path):
    whole = (run / LOG).read_bytes()
    ends = [sum(map(len, lines(run)[: n + 1])) for n in range(5)]
    for at in range(0, len(whole), 97):
        changed = bytearray(whole)
        changed[at] ^= 1
        (run / LOG).write_bytes(changed)
        record = sum(end <= at for end in ends)

        found = {problem.record for problem in problems(run, state) if problem.file == LOG}
        assert record in found, at


def test_a_record_that_was_cut_off_is_named(run: Path, state: State):
    (run / LOG).write_bytes(b"".join(lines(run)[:-1]))

    (cut, on_record) = problems(run, state)
    assert (cut.file, cut.record) == (LOG, 4)
    assert (cut.expected, cut.seen) == ("5 records, as attestation.json says", "4 records")
    assert (on_record.file, on_record.record) == (LOG, 4)


def test_a_tail_that_was_cut_off_with_its_head_is_named(run: Path, state: State):
    (run / LOG).write_bytes(b"".join(lines(run)[:-1]))
    (run / ATTESTATION).unlink()
    key = state.public_key()
    assert key is not None

    (head,) = verify(run, key).problems
    assert head.file == ATTESTATION
    assert "did not end" in head.seen


@pytest.mark.parametrize("left", range(1, 5))
def test_a_tail_that_was_cut_off_with_the_head_of_the_rest_is_named(
    run: Path, state: State, left: int
):
    (run / LOG).write_bytes(b"".join(lines(run)[:left]))
    (run / ATTESTATION).write_bytes(lines(run)[left - 1])
    key = state.public_key()
    assert key is not None

    (head,) = verify(run, key).problems
    assert (head.file, head.seen) == (ATTESTATION, "the seal of something else")


@pytest.mark.parametrize("name", [LOG, ATTESTATION, f"{FIRST}/{ATTESTATION}"])
def test_an_empty_log_or_seal_is_named(run: Path, state: State, name: str):
    (run / name).write_bytes(b"")

    assert name in {problem.file for problem in problems(run, state)}


def test_a_log_and_a_head_with_nothing_in_them_are_named(run: Path, state: State):
    for name in (LOG, ATTESTATION):
        (run / name).write_bytes(b"")

    assert ATTESTATION in {problem.file for problem in problems(run, state)}


def test_a_folder_that_is_gone_or_elsewhere_is_one_problem(run: Path, state: State):
    shutil.rmtree(run / FIRST / "requests")
    shutil.rmtree(run / "trials/b")
    (run / "trials/c").rename(run / "c")
    (run / "trials/c").symlink_to("../c")

    found = [(p.file, p.expected, p.seen) for p in problems(run, state) if p.file[:2] != "c/"]
    assert found == [
        ("trials/a/requests", "a folder of 1 sealed file", "nothing"),
        ("trials/b", "a folder of 4 sealed files", "nothing"),
        ("trials/c", "a folder of 4 sealed files", "a link"),
    ]


def test_records_that_changed_places_are_named(run: Path, state: State):
    first, second, third, *rest = lines(run)
    (run / LOG).write_bytes(b"".join([first, third, second, *rest]))

    found = {(problem.file, problem.record) for problem in problems(run, state)}
    assert {(LOG, 1), (LOG, 2), (LOG, 3)} <= found


def test_a_record_that_was_taken_out_is_named(run: Path, state: State):
    first, _, *rest = lines(run)
    (run / LOG).write_bytes(b"".join([first, *rest]))

    assert "record 2" in {p.seen for p in problems(run, state) if p.record == 1}


def test_trials_that_changed_places_are_named(run: Path, state: State):
    (run / FIRST).rename(run / "trials" / "x")
    (run / "trials/b").rename(run / FIRST)
    (run / "trials/x").rename(run / "trials/b")

    files = {problem.file for problem in problems(run, state)}
    assert {f"trials/{name}/{ATTESTATION}" for name in "ab"} <= files


def test_a_trial_of_another_run_is_named_with_where_it_is_from(run: Path, state: State, tmp_path):
    other = sealed(tmp_path / "other", state, "run-2")
    shutil.rmtree(run / FIRST)
    shutil.copytree(other / FIRST, run / FIRST)

    (problem,) = problems(run, state)
    assert problem.file == f"{FIRST}/{ATTESTATION}"
    assert problem.seen.endswith("which is record 1 of run run-2")


def test_a_run_that_another_key_sealed_is_named(run: Path, tmp_path: Path):
    other = State(tmp_path / "others")
    sealed(tmp_path / "theirs", other)
    ours, theirs = State(tmp_path / "state").public_key(), other.public_key()
    assert ours is not None
    assert theirs is not None

    (found,) = verify(run, theirs).problems
    assert (found.file, found.expected) == ("key.pub", f"the key {theirs.keyid}")
    assert f"signed by another key, {ours.keyid}; use --key FILE" in found.seen

    flipped(run / "run.json")
    assert {p.file for p in verify(run, theirs).problems} == {"key.pub", "run.json"}


def test_a_log_that_was_signed_anew_is_named_line_by_line(run: Path, state: State, tmp_path: Path):
    other = sealed(tmp_path / "theirs", State(tmp_path / "others"))
    shutil.copy(other / LOG, run / LOG)
    theirs = State(tmp_path / "others").public_key()
    assert theirs is not None

    signed = [problem for problem in problems(run, state) if problem.file == LOG]
    by_theirs = [problem.record for problem in signed if theirs.keyid in problem.seen]
    assert by_theirs == [0, 1, 2, 3, 4]


def test_a_run_put_in_the_place_of_another_is_not_the_one_on_record(
    run: Path, state: State, tmp_path: Path
):
    key = state.public_key()
    assert key is not None
    sealer = begun(tmp_path / "unfinished", state, "run-9")
    sealer.seal(trial(sealer, "a"), claim("a"))
    sealer.close()
    forgotten = State(tmp_path / "forgotten")
    forgotten.append("begun", {"run": "x"})
    shutil.copytree(state.folder / "keys", forgotten.folder / "keys", dirs_exist_ok=True)

    assert verify(run, key, forgotten).problems != []
    assert {p.file for p in verify(tmp_path / "unfinished", key).problems} == {ATTESTATION}
