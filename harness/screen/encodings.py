"""The ways in which a secret is commonly written down, as bytes to look for."""

from __future__ import annotations

import base64
import codecs
from collections.abc import Callable, Iterator, Mapping


def forms(secret: str) -> Mapping[tuple[str, int], bytes]:
    """Every form of ``secret``, by encoding and a number that tells its variants apart.

    An encoding that packs bits (base64, base32) writes a secret differently depending on
    what stands before it; each variant is cut to the characters that the secret alone
    decides. Capitals and punctuation are as they come: who looks for these forms ignores
    both.
    """
    raw = secret.encode()
    found = {
        ("plain", 0): raw,
        ("reversed", 0): raw[::-1],
        ("rot13", 0): codecs.encode(secret, "rot13").encode(),
        ("hex", 0): raw.hex().encode(),
        ("decimal", 0): "".join(map(str, raw)).encode(),
    }
    for number, form in enumerate(_packed(raw, base64.b64encode, 3, 6)):
        found["base64", number] = form
    for number, form in enumerate(_packed(raw, base64.b32encode, 5, 5)):
        found["base32", number] = form
    wide = secret.encode("utf-16-le")
    for number, form in enumerate(_packed(wide, base64.b64encode, 3, 6)):
        found["base64", 3 + number] = form
    return found


def _packed(raw: bytes, encode: Callable[[bytes], bytes], group: int, bits: int) -> Iterator[bytes]:
    """What each alignment of ``raw`` alone decides of its encoded form."""
    for before in range(group):
        whole = encode(b"\0" * before + raw)
        first = -(-before * 8 // bits)
        last = (before + len(raw)) * 8 // bits
        yield whole[first:last]
