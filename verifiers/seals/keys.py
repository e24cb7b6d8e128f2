"""The key that seals: made on first use, and readable by its owner alone."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)
from securesystemslib.exceptions import UnsupportedAlgorithmError
from securesystemslib.signer import CryptoSigner, SSlibKey

from verifiers.seals.errors import Cause, NotSealed, kept
from verifiers.seals.files import write_new
from verifiers.seals.reading import Absent, Unfit, contents

PRIVATE = "seal.key"
PUBLIC = "key.pub"
_ED25519 = "ed25519"
_LONGEST = 1 << 16
_FORM = (
    "a key file holds an ed25519 public key as PEM, which begins with -----BEGIN PUBLIC KEY-----"
)
_OF_PRIVATE = b"PRIVATE KEY-----"
_RESTORE = "put it back as it was, or start anew: shakeout evidence reset --reason TEXT"


class BadKey(Exception):
    """A file is no public key of the kind that seals."""


def make(folder: Path) -> CryptoSigner:
    """Make a key pair in a folder, which is made too where it is not there.

    Raises:
        NotSealed: it cannot be written.
    """
    signer = CryptoSigner.generate_ed25519()
    with kept(f"a key cannot be made in {folder}"):
        folder.mkdir(mode=0o700, exist_ok=True)
        write_new(folder / PRIVATE, signer.private_bytes, mode=0o600)
        write_new(folder / PUBLIC, public_bytes(signer), mode=0o644)
    return signer


def load(folder: Path) -> CryptoSigner:
    """The key pair in a folder.

    Raises:
        NotSealed: it is not there, cannot be read, is no such key, or others may read it.
    """
    path = folder / PRIVATE
    with kept(f"the key {path} cannot be read", Cause.KEY):
        data = path.read_bytes()
        mode = path.stat().st_mode & 0o777
    if mode & 0o077:
        what = f"the key {path} may be read by others: its mode is {mode:04o}"
        raise NotSealed(Cause.KEY, what, f"chmod 600 {path}, and ask who could have read it")
    try:
        signer = CryptoSigner(load_pem_private_key(data, None))
    except (ValueError, TypeError, UnsupportedAlgorithmError) as error:
        raise NotSealed(Cause.KEY, f"{path} is no private key as PEM", _RESTORE) from error
    if signer.public_key.keytype != _ED25519:
        raise NotSealed(Cause.KEY, f"{path} is no ed25519 key", _RESTORE)
    return signer


def public_bytes(signer: CryptoSigner) -> bytes:
    """The public key, PEM."""
    key = load_pem_private_key(signer.private_bytes, None).public_key()
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def public_key(path: Path) -> SSlibKey:
    """The public key in a PEM file.

    Raises:
        OSError: it cannot be read.
        BadKey: it is something else.
    """
    whole = path.resolve()
    key = public_key_in(whole.parent, whole.name)
    if key is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    return key


def public_key_in(folder: Path, name: str = PUBLIC) -> SSlibKey | None:
    """The public key in a file of a folder that may hold anything; ``None`` where there is none.

    Raises:
        OSError: it cannot be read.
        BadKey: it is something else.
    """
    path, data = folder / name, b""
    try:
        data = contents(folder, name, _LONGEST)
        key = SSlibKey.from_crypto(load_pem_public_key(data))
    except Absent:
        return None
    except Unfit as error:
        raise BadKey(f"{path} is no public key: {error}; {_FORM}") from error
    except (ValueError, TypeError, UnsupportedAlgorithm, UnsupportedAlgorithmError) as error:
        what = "holds a private key" if _OF_PRIVATE in data else "is no public key"
        raise BadKey(f"{path} {what}; {_FORM}") from error
    if key.keytype != _ED25519:
        raise BadKey(f"{path} is no ed25519 key; {_FORM}")
    return key


def own_public_key(folder: Path) -> SSlibKey | None:
    """The public key of a folder in which a pair was made; ``None`` where none was.

    Raises:
        OSError: it cannot be read.
        BadKey: it is something else.
    """
    path = folder / PUBLIC
    return public_key(path) if os.path.lexists(path) else None
