"""A run's folder may hold anything: whatever it is, it is told at once, and never waited for."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner

from tests.unit.seals.runs import sealed
from verifiers.seals.chain import NOTHING, Problem
from verifiers.seals.envelope import PAYLOAD, Artifact, Link, statement
from verifiers.seals.keys import BadKey, public_bytes, public_key
from verifiers.seals.runlog import NAME as LOG
from verifiers.seals.sealer import ATTESTATION, RUN
from verifiers.seals.state import State
from verifiers.seals.verify import verify


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


def odd(**fields: object) -> bytes:
    """A statement of a run with other fields in it."""
    place = {"seq": 0, "prev": NOTHING, "at": "2031-02-03T04:05:06.000Z"}
    said = {"schema": 1, "run": "r", "files": [], "folders": [], "log": place}
    whole = statement(RUN, [Artifact("x", "0" * 64)], said, Link(0, NOTHING, 0.0))
    return json.dumps({**whole, "predicate": {**said, **fields}}).encode()


ODD = [
    b"",
    b"[" * 100_000,
    b"9" * 100_000,
    b"[]",
    b"{}",
    odd(schema=2),
    odd(run=["r"]),
    odd(files=5),
    odd(files=[5]),
    odd(files=[{"name": "x", "size": 1.5, "sha256": "0" * 64}]),
    odd(files=[{"name": "x", "size": 10**4000, "sha256": "0" * 64}]),
    odd(files=[{"name": "../x", "size": 0, "sha256": "0" * 64}]),
    odd(files=[{"name": "/etc/passwd", "size": 0, "sha256": "0" * 64}]),
    odd(files=[{"name": "a\0b", "size": 0, "sha256": "0" * 64}]),
    odd(files=[{"name": "\ud800", "size": 0, "sha256": "0" * 64}]),
    odd(files=[{"name": "x" * 5000, "size": 0, "sha256": "0" * 64}]),
    odd(folders=[{"name": "..", "seq": 7, "sha256": "0" * 64}]),
    odd(folders=[{"name": "", "seq": 0, "sha256": 0}]),
    odd(log={}),
    odd(log={"seq": True, "prev": NOTHING, "at": "2031-02-03T04:05:06.000Z"}),
    odd(log={"seq": 0, "prev": NOTHING, "at": "0001-01-01T00:00:00"}),
    odd(log={"seq": 0, "prev": NOTHING, "at": 5}),
]


def socket_at(path: Path) -> None:
    with contextlib.chdir(path.parent), socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)


def endless(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


PUT: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a socket": socket_at,
    "a device": lambda path: os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 5)),
    "a folder": Path.mkdir,
    "a link": lambda path: path.symlink_to("/dev/zero"),
    f"{1 << 40} bytes": endless,
}


@pytest.mark.parametrize("what", PUT)
def test_what_is_put_in_the_place_of_a_file_is_told_at_once(
    run: Path, state: State, tmp_path: Path, what: str
):
    if what == "a device" and os.geteuid() != 0:
        pytest.skip("only root makes devices")
    for name in [p.relative_to(run).as_posix() for p in sorted(run.rglob("*")) if p.is_file()]:
        copy = shutil.copytree(run, tmp_path / "copy")
        (copy / name).unlink()
        PUT[what](copy / name)

        seen = [problem.seen for problem in problems(copy, state) if problem.file == name]
        assert any(what in one for one in seen), (name, seen)
        shutil.rmtree(copy)


def test_a_folder_deeper_than_any_path_is_told(run: Path, state: State):
    place = os.open(run, os.O_RDONLY)
    for _ in range(2200):
        os.mkdir("d", dir_fd=place)
        inner = os.open("d", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(place)

    try:
        with pytest.raises(OSError, match="name too long"):
            problems(run, state)
    finally:  # nothing that walks by names could remove it
        subprocess.run(["rm", "-rf", run / "d"], check=True)


def test_a_log_of_nothing_but_lines_is_not_read_to_its_end(run: Path, state: State):
    (run / LOG).write_bytes(b"\n" * (1 << 24))

    found = [problem for problem in problems(run, state) if problem.file == LOG]
    assert len(found) < 1010
    assert "not read" in " ".join(problem.seen for problem in found)


def test_a_log_of_a_hostile_signer_is_told_to_be_malformed(tmp_path: Path):
    signer = CryptoSigner.generate_ed25519()
    for odd in ODD:
        folder = tmp_path / "run"
        folder.mkdir()
        (folder / "key.pub").write_bytes(public_bytes(signer))
        envelope = Envelope(odd, PAYLOAD, {})
        envelope.sign(signer)
        line = json.dumps(envelope.to_dict(), separators=(",", ":")).encode() + b"\n"
        for name in (LOG, ATTESTATION):
            (folder / name).write_bytes(line)

        assert verify(folder, signer.public_key).problems, odd[:80]
        shutil.rmtree(folder)


@pytest.mark.parametrize("content", [b"", b"-----BEGIN PUBLIC KEY-----\n", b"\xff" * 99])
def test_what_is_no_key_is_none(tmp_path: Path, content: bytes):
    (tmp_path / "key.pub").write_bytes(content)

    with pytest.raises(BadKey, match="is no public key"):
        public_key(tmp_path / "key.pub")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"garbage\n", "is no public key"),
        (b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "is no public key"),
        (CryptoSigner.generate_ed25519().private_bytes, "holds a private key"),
        (public_bytes(CryptoSigner.generate_ecdsa()), "is no ed25519 key"),
    ],
)
def test_what_a_key_file_must_be_is_told_in_our_own_words(
    tmp_path: Path, content: bytes, says: str
):
    path = tmp_path / "key.pub"
    path.write_bytes(content)

    with pytest.raises(BadKey) as caught:
        public_key(path)

    form = "a key file holds an ed25519 public key as PEM, which begins with"
    assert str(caught.value) == f"{path} {says}; {form} -----BEGIN PUBLIC KEY-----"


def test_a_key_behind_a_link_that_is_named_is_read(run: Path, tmp_path: Path):
    (tmp_path / "theirs.pub").symlink_to(run / "key.pub")

    assert public_key(tmp_path / "theirs.pub").keyid
