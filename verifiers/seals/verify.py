"""Checks a sealed run, offline, with a public key alone, and names everything that is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from securesystemslib.signer import Key

from verifiers.seals import keys
from verifiers.seals.chain import Problem, read, sha256
from verifiers.seals.envelope import Statement
from verifiers.seals.files import Held, Stranger, look, names
from verifiers.seals.runlog import NAME as LOG
from verifiers.seals.sealer import ATTESTATION, RUN, SEALED
from verifiers.seals.state import State

_ITSELF = frozenset({LOG, ATTESTATION})


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found.

    Attributes:
        run: id of the run; empty where no sound record says it.
        records: how many lines its log has.
        files: how many files were compared.
        problems: everything that is wrong, by file.
    """

    run: str
    records: int
    files: int
    problems: Sequence[Problem]


def verify(folder: Path, key: Key, state: State | None = None) -> Checked:
    """Check a run's folder.

    Args:
        folder: of the run.
        key: with which it was sealed.
        state: where it was sealed, if that is known: its log has to know of the run.

    Raises:
        OSError: something cannot be read.
    """
    check = _Check(folder, key)
    problems = [*check.key_problems(), *check.log_problems(), *check.file_problems()]
    if state is not None:
        problems += check.state_problems(state)
    ordered = sorted(dict.fromkeys(problems), key=lambda p: (p.file, p.record or 0))
    return Checked(check.run, len(check.chain.lines), check.compared, ordered)


class _Check:
    """One check of one folder."""

    def __init__(self, folder: Path, key: Key) -> None:
        self.folder = folder
        self.key = key
        self.compared = 0
        self.there = frozenset(names(folder))
        self.chain = read(self._bytes(LOG) or b"", key, LOG)
        sound = [record for record in self.chain.records if record is not None]
        self.run = str(sound[0]["predicate"]["run"]) if sound else ""

    def key_problems(self) -> Iterator[Problem]:
        """The key that lies in the folder is the one that is expected."""
        expected = f"the key {self.key.keyid}"
        if keys.PUBLIC not in self.there:
            yield Problem(keys.PUBLIC, expected, "nothing")
            return
        try:
            seen = keys.public_key(self.folder / keys.PUBLIC).keyid
        except keys.BadKey as error:
            yield Problem(keys.PUBLIC, expected, str(error))
            return
        if seen != self.key.keyid:
            yield Problem(keys.PUBLIC, expected, f"the key {seen}")

    def log_problems(self) -> Iterator[Problem]:
        """The log is whole: signed, in order, and ending where the run's own seal says."""
        if LOG not in self.there:
            yield Problem(LOG, "the log of the run's seals", "nothing")
            return
        yield from self.chain.problems
        last = self.chain.lines[-1] + b"\n" if self.chain.lines else b""
        head = self._bytes(ATTESTATION)
        if head is None:
            yield Problem(ATTESTATION, "the seal of the run", "nothing: the run did not end")
        elif head != last:
            yield from self._cut(head, last)

    def _cut(self, head: bytes, last: bytes) -> Iterator[Problem]:
        """The run's seal is not the last line of its log: which of the two is at fault."""
        seal = read(head, self.key, ATTESTATION).records
        record = seal[0] if len(seal) == 1 else None
        ours = f"record {len(self.chain.lines) - 1} of {LOG}, byte by byte"
        if record is None:
            yield Problem(ATTESTATION, ours, f"a file with SHA-256 {sha256(head)}")
            return
        place = record["predicate"]["log"]["seq"]
        if record["predicateType"] != RUN:
            yield Problem(ATTESTATION, "the seal of the run", f"a {record['predicateType']}")
        elif place == len(self.chain.lines) - 1:
            yield Problem(LOG, f"what {ATTESTATION} holds", "another form of it", place)
        else:
            wanted = f"{place + 1} records, as {ATTESTATION} says"
            yield Problem(LOG, wanted, f"{len(self.chain.lines)} records", place)
        if last == b"":
            yield Problem(LOG, f"{place + 1} records", "none")

    def file_problems(self) -> Iterator[Problem]:
        """Every file is as it was sealed, and there is no other."""
        expected = dict.fromkeys(_ITSELF & self.there, "")
        seals = {record["predicate"]["log"]["seq"]: record for record in self._sound()}
        whole = self._run_seal()
        if whole is None:
            return
        predicate = whole["predicate"]
        yield from self._compare("", predicate["files"])
        expected |= {file["name"]: "" for file in predicate["files"]}
        for folder in predicate["folders"]:
            name = folder["name"]
            expected[f"{name}/{ATTESTATION}"] = ""
            yield from self._compare_seal(name, folder)
            if (record := seals.get(folder["seq"])) is not None:
                expected |= {f"{name}/{f['name']}": "" for f in record["predicate"]["files"]}
                yield from self._compare(f"{name}/", record["predicate"]["files"])
        for name in sorted(self.there - expected.keys()):
            yield Problem(name, "no such file", "one that was not sealed")

    def _run_seal(self) -> Statement | None:
        """The seal of the run: the log's last line, or where that is spoilt its copy."""
        copy = read(self._bytes(ATTESTATION) or b"", self.key, ATTESTATION).records
        for record in (*self._sound()[::-1], *copy):
            if record is not None and record["predicateType"] == RUN:
                return record
        return None

    def _compare_seal(self, name: str, folder: Mapping[str, Any]) -> Iterator[Problem]:
        """The copy of a folder's seal is the line of the log."""
        path = f"{name}/{ATTESTATION}"
        wanted = f"record {folder['seq']} of {LOG}, SHA-256 {folder['sha256']}"
        match look(self.folder, path):
            case None:
                yield Problem(path, wanted, "nothing")
            case Stranger(what=what):
                yield Problem(path, wanted, what)
            case Held(sha256=seen) if seen != folder["sha256"]:
                yield Problem(path, wanted, f"a file with SHA-256 {seen}{self._whose(path)}")
        self.compared += 1

    def _whose(self, path: str) -> str:
        """Of a seal that belongs elsewhere: of which run, and which record there."""
        for record in read(self._bytes(path) or b"", self.key, path).records:
            if record is not None:
                predicate = record["predicate"]
                return f", which is record {predicate['log']['seq']} of run {predicate['run']}"
        return ""

    def _compare(self, prefix: str, files: Iterable[Mapping[str, Any]]) -> Iterator[Problem]:
        for file in files:
            path = f"{prefix}{file['name']}"
            wanted = f"{file['size']} bytes, SHA-256 {file['sha256']}"
            self.compared += 1
            match look(self.folder, path):
                case None:
                    yield Problem(path, wanted, "nothing")
                case Stranger(what=what):
                    yield Problem(path, wanted, what)
                case Held(size=size, sha256=seen) if seen != file["sha256"]:
                    yield Problem(path, wanted, f"{size} bytes, SHA-256 {seen}")

    def state_problems(self, state: State) -> Iterator[Problem]:
        """The state folder where it was sealed has the same end of the log on record."""
        if not self.run:
            return
        ends = [e["predicate"] for e in state.events(SEALED) if e["predicate"]["run"] == self.run]
        where = str(state.folder)
        if not ends:
            yield Problem(where, f"a record that run {self.run} was sealed", "none")
            return
        seq, last = ends[-1]["seq"], ends[-1]["sha256"]
        if (len(self.chain.lines) - 1, self.chain.head) != (seq, last):
            wanted = f"record {seq}, SHA-256 {last}, as the last, as {where} says"
            seen = f"record {len(self.chain.lines) - 1}, SHA-256 {self.chain.head}"
            yield Problem(LOG, wanted, seen, seq)

    def _sound(self) -> list[Statement]:
        return [record for record in self.chain.records if record is not None]

    def _bytes(self, name: str) -> bytes | None:
        """A file of the folder; ``None`` where it is not there, or is no file."""
        match look(self.folder, name):
            case Held():
                return (self.folder / name).read_bytes()
            case _:
                return None
