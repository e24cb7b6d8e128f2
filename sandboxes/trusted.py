"""What programs inside are to trust that they would not trust by themselves."""

from __future__ import annotations

from dataclasses import dataclass

#: Where the authority of a sandbox lies alone; it is in the system's bundle too.
CERTIFICATE = "/etc/ssl/certs/shakeout.pem"


@dataclass(frozen=True, slots=True)
class Authority:
    """An authority for certificates that programs inside trust.

    Attributes:
        pem: its certificate.
        name_hash: of its name, as OpenSSL finds it in a folder of certificates: 8 hex digits.
    """

    pem: str
    name_hash: str
