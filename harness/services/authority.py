"""The authority that a run makes for itself, and the certificates of its services.

It is made when a trial first needs it. Its key never leaves this process.
"""

from __future__ import annotations

import datetime
import hashlib
import ssl
import threading
from typing import TYPE_CHECKING, Final

from sandboxes import base

if TYPE_CHECKING:
    import trustme

#: Kinds of certificates that a client has to turn down.
EXPIRED, WRONG_HOST, UNTRUSTED = "expired", "wrong-host", "untrusted"

_ELSEWHERE: Final = "elsewhere.invalid"
_BEGUN = datetime.datetime(2000, 1, 1)  # noqa: DTZ001 - as the library writes them
_EXPIRED = datetime.datetime(2001, 1, 1)  # noqa: DTZ001


class Authority:
    """One for a run; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._made: trustme.CA | None = None
        self._contexts: dict[tuple[str, str], ssl.SSLContext] = {}

    def trusted(self) -> base.Authority:
        """What a sandbox is to trust."""
        from cryptography import x509  # noqa: PLC0415 - slow, and seldom wanted

        with self._lock:
            pem = self._ca().cert_pem.bytes()
        name = x509.load_pem_x509_certificate(pem).subject
        return base.Authority(pem.decode(), _name_hash(name.public_bytes()))

    def context(self, host: str, kind: str = "") -> ssl.SSLContext:
        """What a service of this name shows to those who connect.

        Args:
            host: its name inside.
            kind: what is wrong with the certificate; nothing by default.
        """
        with self._lock:
            if (host, kind) not in self._contexts:
                self._contexts[host, kind] = self._context(host, kind)
            return self._contexts[host, kind]

    def _ca(self) -> trustme.CA:
        if self._made is None:
            # As OpenSSL compares names: in lower case, so that the hash of it is easily had.
            self._made = _make("shakeout", "authority of a run")
        return self._made

    def _context(self, host: str, kind: str) -> ssl.SSLContext:
        authority = _make("somebody", "somewhere") if kind == UNTRUSTED else self._ca()
        certificate = authority.issue_cert(
            _ELSEWHERE if kind == WRONG_HOST else host,
            not_before=_BEGUN,
            not_after=_EXPIRED if kind == EXPIRED else None,
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        certificate.configure_cert(context)
        return context


def _make(organization: str, unit: str) -> trustme.CA:
    import trustme  # noqa: PLC0415 - slow, and seldom wanted

    return trustme.CA(organization_name=organization, organization_unit_name=unit)


def _name_hash(name: bytes) -> str:
    """The hash by which OpenSSL finds a certificate in a folder; of a name in canonical form.

    It is of what is inside the outer sequence of the encoded name.
    """
    length = name[1]
    inner = name[2:] if length < 0x80 else name[2 + (length & 0x7F) :]
    digest = hashlib.sha1(inner, usedforsecurity=False).digest()
    return digest[:4][::-1].hex()
