"""A state folder: the key that seals, the log of what was sealed, its head, and the breaker."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from securesystemslib.signer import CryptoSigner, Key

from sandboxes import clock
from verifiers.seals import keys
from verifiers.seals.breaker import Breaker
from verifiers.seals.chain import read, sha256
from verifiers.seals.envelope import Statement
from verifiers.seals.errors import Cause, NotSealed, kept
from verifiers.seals.ledger import LOG, RECOVERED, RESET, Head, Ledger

KEYS = "keys"
_BROKEN = "broken-"
_LOCK = "lock"
_WHENEVER = float("inf")  # a moment that no clock can have gone back to


class State:
    """The state folder of whoever seals; several runs may use it at once."""

    def __init__(self, folder: Path, now: Callable[[], float] = clock.wall) -> None:
        self.folder = folder
        self.breaker = Breaker(folder)
        self._keys = folder / KEYS
        self._ledger = Ledger(folder)
        self._now = now

    def append(self, event: str, fields: Mapping[str, Any]) -> tuple[CryptoSigner, Head]:
        """Append an event to the log; on return it is on disk.

        Raises:
            NotSealed: the breaker is open, or it cannot be written, or what is there is not
                as it was left.
        """
        with self._locked(), kept(f"the state folder {self.folder} cannot be used"):
            signer = self._ready()
            now = self._now()
            head = self._recovered(signer, now, now)
            return signer, self._ledger.append(head, event, fields, signer, now)

    def signer(self) -> CryptoSigner:
        """The key, for a process that takes part in a run which has begun.

        Raises:
            NotSealed: the breaker is open, or there is no key that can be used.
        """
        with kept(f"the state folder {self.folder} cannot be used"):
            self.breaker.check()
            return keys.load(self._keys)

    def open_breaker(self, error: NotSealed, run: str) -> None:
        """Let nothing run any more, for what ``error`` says.

        Where not even this can be written, the next run meets the cause itself.
        """
        with suppress(OSError, NotSealed), self._locked():
            self.breaker.open(error, run)

    def reset(self, reason: str) -> Sequence[str]:
        """Check everything, begin anew where it is broken, record that, close the breaker.

        Args:
            reason: why, in words of the person who does it.

        Returns:
            What was broken.

        Raises:
            NotSealed: it cannot be written, or the key is somebody else's.
        """
        with self._locked(), kept(f"the state folder {self.folder} cannot be used"):
            was, broken = self.breaker.look(), self._broken()
            now = self._now()
            moved = self._set_aside(now) if broken else {}
            signer = keys.load(self._keys) if self._keys.exists() else keys.make(self._keys)
            if not self._ledger.made:
                self._ledger.make(signer)
            head = self._recovered(signer, now, _WHENEVER)
            fields = {
                "reason": reason,
                "breaker": asdict(was) if was else None,
                "broken": broken,
                "set_aside": moved,
            }
            self._ledger.append(head, RESET, fields, signer, now)
            self.breaker.close()
            return broken

    def public_key(self) -> Key | None:
        """The key to expect; ``None`` where nothing was ever sealed here.

        Raises:
            OSError: it cannot be read.
            keys.BadKey: it is no public key.
        """
        return keys.own_public_key(self._keys)

    def events(self, name: str) -> Iterator[Statement]:
        """The events of a name in this log and in those that were set aside, with a sound seal.

        Raises:
            OSError: it cannot be read.
        """
        folders = [*sorted(self.folder.glob(f"{_BROKEN}*")), self.folder]
        for folder in folders:
            own = folder / KEYS if (folder / KEYS).exists() else self._keys
            key = keys.own_public_key(own)
            if key is None or not (folder / LOG).exists():
                continue
            for record in read((folder / LOG).read_bytes(), key, LOG).records:
                if record and record["predicate"].get("event") == name:
                    yield record

    def _ready(self) -> CryptoSigner:
        """The key, made with everything else where there is nothing yet."""
        if self._ledger.made:
            if not self.breaker.made and self._ledger.empty:  # it was killed while it made all this
                self.breaker.make()
            self.breaker.check()
            return keys.load(self._keys)
        if self.breaker.made:
            self.breaker.check()
            raise NotSealed(Cause.HEAD, f"{self._ledger.log} and {self._ledger.head} are gone")
        signer = keys.load(self._keys) if self._keys.exists() else keys.make(self._keys)
        self._ledger.make(signer)
        self.breaker.make()
        return signer

    def _recovered(self, signer: CryptoSigner, now: float, not_before: float) -> Head:
        """The end of the log, after putting on record what a killed writer left."""
        head, tail = self._ledger.sound(signer.public_key, not_before)
        if not (tail.taken or tail.cut):
            return head
        found = {"taken": tail.taken, "cut": tail.cut.decode("latin-1")}
        return self._ledger.append(head, RECOVERED, found, signer, now)

    def _broken(self) -> list[str]:
        """Everything that is wrong with key, log and head; the clock is taken as it is."""
        if not self._ledger.made:
            return [f"{LOG} and its head are gone"] if self.breaker.made else []
        try:
            self._ledger.sound(keys.load(self._keys).public_key, _WHENEVER)
        except NotSealed as error:
            if isinstance(error.__cause__, PermissionError):
                raise
            return [error.what, *self._problems()]
        return []

    def _problems(self) -> list[str]:
        with suppress(OSError, keys.BadKey):
            key = self.public_key()
            data = self._ledger.log.read_bytes()
            if key is not None:
                return [str(p) for p in read(data, key, LOG, (RESET,)).problems]
        return []

    def _set_aside(self, now: float) -> dict[str, str]:
        """Move what is broken into a folder of its own; gives the digests of what is there."""
        stamp = clock.stamp(now).replace(":", "").replace("-", "").replace(".", "")
        aside = self.folder / f"{_BROKEN}{stamp}"
        aside.mkdir(mode=0o700)
        moved = {}
        for path in (self._ledger.log, self._ledger.head):
            if path.exists():
                moved[f"{aside.name}/{path.name}"] = sha256(path.read_bytes())
                path.replace(aside / path.name)
        return moved | self._set_key_aside(aside)

    def _set_key_aside(self, aside: Path) -> dict[str, str]:
        """Move a key that cannot be used; one that can be stays."""
        try:
            keys.load(self._keys)
        except NotSealed:
            if self._keys.exists():
                self._keys.replace(aside / KEYS)
                public = aside / KEYS / keys.PUBLIC
                return {
                    f"{aside.name}/{KEYS}": sha256(public.read_bytes() if public.exists() else b"")
                }
        return {}

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with kept(f"the state folder {self.folder} cannot be used"):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            file = os.open(self.folder / _LOCK, flags, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
        finally:
            os.close(file)
