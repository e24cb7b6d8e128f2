"""Seals a run: each of its folders when it is done, and the whole at the end.

A seal is the line of the run's log that says it, kept once more beside what it is about. What
was sealed survives the end of this process at once; a run that ends in order has all of it, and
every file that it names, on disk before its last seal is, and only then is its end recorded in
the state folder.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from verifiers.seals import keys
from verifiers.seals.chain import sha256
from verifiers.seals.envelope import Artifact, Link, Statement, statement
from verifiers.seals.errors import Cause, NotSealed, kept
from verifiers.seals.files import alone_in, sync_filesystem, sync_folder, write_new
from verifiers.seals.reading import Stranger, listed
from verifiers.seals.runlog import NAME as LOG
from verifiers.seals.runlog import RunLog
from verifiers.seals.state import State

ATTESTATION = "attestation.json"
RUN = "urn:shakeout:attestation:run:v1"
BEGUN = "urn:shakeout:attestation:begun:v1"
BEGINS = "begun"
SEALED = "sealed"


@dataclass(frozen=True, slots=True)
class Claim:
    """What is to be sealed of a folder, apart from its files.

    Attributes:
        kind: the predicate's type, a URI.
        subject: what it is about; at least one.
        predicate: what is said of it.
    """

    kind: str
    subject: Sequence[Artifact]
    predicate: Mapping[str, object]


@dataclass(slots=True)
class Sealer:
    """The seals of one run; safe to use from any thread.

    Attributes:
        run: its id.
        folder: of the run.
        broken: what could not be sealed; from then on nothing is.
        begun: whether the run's log was begun, or taken part in.
        refused: whether the breaker was open before.
    """

    run: str
    folder: Path
    state: State
    broken: NotSealed | None = None
    begun: bool = False
    refused: bool = False
    _log: RunLog | None = None

    def attach(self) -> None:
        """Begin the run's log, or take part where another process of the run has begun it.

        What stands against it is in :attr:`broken` afterwards, and opens the breaker.
        """
        try:
            with kept(f"{self.folder} cannot be used"), alone_in(self.folder):
                if (self.folder / LOG).exists():
                    self._log = RunLog(self.folder, self.state.signer(), new=False)
                else:
                    self._begin()
            self.begun = True
        except NotSealed as error:
            self._break(error)
            self.refused = error.cause is Cause.OPEN

    def _begin(self) -> None:
        """Check the state folder, put the run on record there, and begin its log."""
        signer, head = self.state.append(BEGINS, {"run": self.run})
        public = keys.public_bytes(signer)
        _write(self.folder / keys.PUBLIC, public)
        self._log = RunLog(self.folder, signer, new=True)
        about = [Artifact(keys.PUBLIC, sha256(public))]
        after = {"run": self.run, "state": {"seq": head.seq, "sha256": head.last}}
        self._log.append(lambda link: statement(BEGUN, about, after, link))

    def seal(self, folder: Path, claim: Claim) -> None:
        """Seal everything in a folder of the run.

        Raises:
            NotSealed: it cannot be sealed; the breaker is open.
        """
        try:
            name = folder.relative_to(self.folder).as_posix()
            line = self._append(claim, {"folder": name, "files": _files(folder)})
            _write(folder / ATTESTATION, line)
        except NotSealed as error:
            raise self._break(error) from error

    def finish(self, claim: Claim) -> None:
        """Seal the run: what lies in its folder, and the seals of the folders in it.

        Raises:
            NotSealed: it cannot be sealed; the breaker is open.
        """
        try:
            self._finish(claim)
        except NotSealed as error:
            with suppress(OSError):  # a seal that nobody has on record is none
                (self.folder / ATTESTATION).unlink(missing_ok=True)
            raise self._break(error) from error
        finally:
            self.close()

    def _finish(self, claim: Claim) -> None:
        log = self._writable()
        with kept("the evidence cannot be put on disk"):
            sync_filesystem(self.folder)
        folders = {
            said["predicate"]["folder"]: {"seq": said["predicate"]["log"]["seq"], "sha256": digest}
            for said, digest in log.statements()
            if "folder" in said["predicate"]
        }
        files = [held for held in _files(self.folder, folders) if held["name"] != LOG]
        named = [{"name": name, **seal} for name, seal in folders.items()]
        line = self._append(claim, {"files": files, "folders": named})
        log.sync()
        _write(self.folder / ATTESTATION, line, durable=True)
        seq, last = log.head
        self.state.append(SEALED, {"run": self.run, "seq": seq, "sha256": last})

    def close(self) -> None:
        """Let go of the log."""
        if self._log is not None:
            self._log.close()

    def _append(self, claim: Claim, found: Mapping[str, object]) -> bytes:
        said = {"run": self.run, **claim.predicate, **found}

        def make(link: Link) -> Statement:
            return statement(claim.kind, claim.subject, said, link)

        return self._writable().append(make)

    def _writable(self) -> RunLog:
        if self.broken is not None:
            raise self.broken
        if self._log is None:
            raise NotSealed(Cause.EVIDENCE, "the run was never begun")
        return self._log

    def _break(self, error: NotSealed) -> NotSealed:
        """Note what stands against sealing; the first stays."""
        if self.broken is None:
            self.broken = error
            if error.cause is not Cause.OPEN:
                self.state.open_breaker(error, self.run)
        return error


def _files(folder: Path, without: Collection[str] = ()) -> Sequence[Mapping[str, str | int]]:
    """The files of a folder, those of the folders ``without`` in it apart."""
    documents = []
    with kept(f"{folder} cannot be read", Cause.EVIDENCE):
        for one in listed(folder, without):
            if isinstance(one, Stranger):
                raise NotSealed(Cause.EVIDENCE, f"{folder / one.name} is {one.what}")
            documents.append(one.document)
    return documents


def _write(path: Path, data: bytes, *, durable: bool = False) -> None:
    with kept(f"{path} cannot be written"):
        write_new(path, data, durable=durable)
        if durable:
            sync_folder(path.parent)
