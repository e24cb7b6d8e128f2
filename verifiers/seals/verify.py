"""Checks a sealed run, offline, with a public key alone, and names everything that is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from securesystemslib.signer import Key

from verifiers.seals import keys
from verifiers.seals.chain import Problem, read, sha256
from verifiers.seals.envelope import LONGEST, Statement, signed_by
from verifiers.seals.reading import (
    FOLDER,
    Absent,
    Held,
    Stranger,
    Unfit,
    contents,
    kind,
    look,
    names,
)
from verifiers.seals.runlog import NAME as LOG
from verifiers.seals.sealer import ATTESTATION, RUN, SEALED
from verifiers.seals.state import State

_ITSELF = frozenset({LOG, ATTESTATION})
#: Bytes of a log that is read.
LONGEST_LOG = 1 << 28


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found.

    Attributes:
        run: id of the run; empty where no sound record says it.
        records: how many lines its log has.
        files: how many files were compared.
        problems: everything that is wrong, by file.
        other: id of the key that signed it, where that is another one than it was checked with.
    """

    run: str
    records: int
    files: int
    problems: Sequence[Problem]
    other: str = ""


def verify(folder: Path, key: Key, state: State | None = None) -> Checked:
    """Check a run's folder.

    Where another key sealed it, this is the one problem with the key, and everything else is
    checked with the key that lies in the folder.

    Args:
        folder: of the run.
        key: with which it was sealed.
        state: where it was sealed, if that is known: its log has to know of the run.

    Raises:
        OSError: something cannot be read.
    """
    check = _Check(folder, key)
    other = check.other_key()
    if other is None:
        problems = [*check.key_problems(), *check.whole()]
        problems += check.state_problems(state) if state else ()
    else:
        check = _Check(folder, other)
        wanted = f"the key {key.keyid}"
        seen = (
            f"a run signed by another key, {other.keyid}; use --key FILE, the key.pub of its sealer"
        )
        problems = [Problem(keys.PUBLIC, wanted, seen), *check.whole()]
    ordered = sorted(dict.fromkeys(problems), key=lambda p: (p.file, p.record or 0))
    keyid = other.keyid if other else ""
    return Checked(check.run, len(check.chain.lines), check.compared, ordered, keyid)


class _Check:
    """One check of one folder."""

    def __init__(self, folder: Path, key: Key) -> None:
        self.folder = folder
        self.key = key
        self.compared = 0
        self.there = frozenset(names(folder))
        self.missing: dict[str, int] = {}
        self.kinds: dict[str, str] = {}
        self.unfit: dict[str, str] = {}
        self.chain = read(self._bytes(LOG, LONGEST_LOG), key, LOG)
        runs = [record["predicate"].get("run") for record in self._sound()]
        self.run = str(runs[0]) if runs and runs[0] else ""

    def other_key(self) -> Key | None:
        """The key that lies in the folder, where the log is signed by it and not by ours."""
        signer = signed_by(self.chain.lines[0]) if self.chain.lines else ""
        if signer in {"", self.key.keyid}:
            return None
        with suppress(keys.BadKey):
            own = keys.public_key_in(self.folder)
            return own if own is not None and own.keyid == signer else None
        return None

    def whole(self) -> Iterator[Problem]:
        """Everything that is wrong with log and files."""
        yield from self.log_problems()
        yield from self.file_problems()

    def key_problems(self) -> Iterator[Problem]:
        """The key that lies in the folder is the one that is expected."""
        expected = f"the key {self.key.keyid}"
        try:
            own = keys.public_key_in(self.folder)
        except keys.BadKey as error:
            yield Problem(keys.PUBLIC, expected, str(error))
            return
        if own is None:
            yield Problem(keys.PUBLIC, expected, "nothing")
        elif own.keyid != self.key.keyid:
            yield Problem(keys.PUBLIC, expected, f"the key {own.keyid}")

    def log_problems(self) -> Iterator[Problem]:
        """The log is whole: signed, in order, and ending where the run's own seal says."""
        if LOG not in self.there or LOG in self.unfit:
            yield Problem(LOG, "the log of the run's seals", self.unfit.get(LOG, "nothing"))
            return
        yield from self.chain.problems
        last = self.chain.lines[-1] + b"\n" if self.chain.lines else b""
        head = self._bytes(ATTESTATION)
        if ATTESTATION in self.unfit:
            yield Problem(ATTESTATION, "the seal of the run", self.unfit[ATTESTATION])
        elif ATTESTATION not in self.there:
            yield Problem(ATTESTATION, "the seal of the run", "nothing: the run did not end")
        elif head != last:
            yield from self._cut(head, last)
        elif not self._ends():
            yield Problem(ATTESTATION, "the seal of the run", "the seal of something else")

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
        whole = self._run_seal()
        if whole is None:
            return
        seals = {record["predicate"]["log"]["seq"]: record for record in self._sound()}
        predicate = whole["predicate"]
        yield from self._compare("", predicate["files"])
        expected = {*_ITSELF, *(file["name"] for file in predicate["files"])}
        for folder in predicate["folders"]:
            name = folder["name"]
            expected.add(f"{name}/{ATTESTATION}")
            yield from self._compare_seal(name, folder)
            said = seals[folder["seq"]]["predicate"] if folder["seq"] in seals else {}
            if said.get("folder") == name and "files" in said:
                expected |= {f"{name}/{file['name']}" for file in said["files"]}
                yield from self._compare(f"{name}/", said["files"])
            elif not self.chain.problems:
                yield Problem(LOG, f"the seal of {name}", "another record", folder["seq"])
        for name, count in self.missing.items():
            files = f"{count} sealed file{'' if count == 1 else 's'}"
            yield Problem(name, f"a folder of {files}", self._kind(name) or "nothing")
        for name in sorted(self.there - expected - self.missing.keys()):
            yield Problem(name, "no such file", "one that was not sealed")

    def _ends(self) -> bool:
        """Whether the log's last line is the seal of the run: the log of one that ended."""
        last = self.chain.records[-1] if self.chain.records else None
        return last is not None and last is self._run_seal()

    def _run_seal(self) -> Statement | None:
        """The seal of the run: the log's last line, or where that is spoilt its copy."""
        copy = read(self._bytes(ATTESTATION), self.key, ATTESTATION).records
        for record in (*self._sound()[::-1], *copy):
            if record is not None and record["predicateType"] == RUN:
                return record if {"files", "folders"} <= record["predicate"].keys() else None
        return None

    def _compare_seal(self, name: str, folder: Mapping[str, Any]) -> Iterator[Problem]:
        """The copy of a folder's seal is the line of the log."""
        path = f"{name}/{ATTESTATION}"
        wanted = f"record {folder['seq']} of {LOG}, SHA-256 {folder['sha256']}"
        self.compared += 1
        if self._astray(path):
            return
        data = self._bytes(path)
        if path in self.unfit or path not in self.there:
            yield Problem(path, wanted, self.unfit.get(path, "nothing"))
        elif (seen := sha256(data)) != folder["sha256"]:
            seen = f"a file with SHA-256 {seen}{self._whose(path, data)}"
            yield Problem(path, wanted, seen)

    def _whose(self, path: str, data: bytes) -> str:
        """Of a seal that belongs elsewhere: of which run, and which record there."""
        for record in read(data, self.key, path).records:
            if record is not None:
                predicate = record["predicate"]
                return f", which is record {predicate['log']['seq']} of run {predicate.get('run')}"
        return ""

    def _compare(self, prefix: str, files: Iterable[Mapping[str, Any]]) -> Iterator[Problem]:
        for file in files:
            path = f"{prefix}{file['name']}"
            wanted = f"{file['size']} bytes, SHA-256 {file['sha256']}"
            self.compared += 1
            if self._astray(path):
                continue
            match look(self.folder, path, file["size"]):
                case None:
                    yield Problem(path, wanted, "nothing")
                case Stranger(what=what):
                    yield Problem(path, wanted, what)
                case Held(size=size, sha256=seen) if seen != file["sha256"]:
                    yield Problem(path, wanted, f"{size} bytes, SHA-256 {seen}")

    def _astray(self, path: str) -> bool:
        """Whether a folder that a file should be in is none; the file is counted with that."""
        parts = path.split("/")
        for depth in range(1, len(parts)):
            parent = "/".join(parts[:depth])
            if self._kind(parent) != FOLDER:
                self.missing[parent] = self.missing.get(parent, 0) + 1
                return True
        return False

    def _kind(self, name: str) -> str:
        if name not in self.kinds:
            self.kinds[name] = kind(self.folder, name)
        return self.kinds[name]

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

    def _bytes(self, name: str, most: int = LONGEST) -> bytes:
        """A file of the folder; nothing of one that is not there, or noted as unfit."""
        try:
            return contents(self.folder, name, most)
        except Absent:
            return b""
        except Unfit as error:
            self.unfit[name] = error.what
            return b""
