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
        ("octal", 0): "".join(f"{byte:03o}" for byte in raw).encode(),
        ("binary", 0): "".join(f"{byte:08b}" for byte in raw).encode(),
    }
    for number, form in enumerate(_packed(raw, base64.b64encode, 3, 6)):
        found["base64", number] = form
    for number, form in enumerate(_packed(raw, base64.b32encode, 5, 5)):
        found["base32", number] = form
    wide = secret.encode("utf-16-le")
    for number, form in enumerate(_packed(wide, base64.b64encode, 3, 6)):
        found["base64", 3 + number] = form
    for number, (encoding, form) in enumerate(_rarer(raw)):
        found[encoding, number] = form
    return found


def _rarer(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Forms that no protocol asks for, and that one call makes in every language."""
    for encode in (base64.b85encode, base64.a85encode):
        yield from (("base85", form) for form in _grouped(raw, encode, 4, 5))
    yield from (("hex-base64", f) for f in _packed(raw.hex().encode(), base64.b64encode, 3, 6))
    for inner in _packed(raw, base64.b64encode, 3, 6):
        yield "base64-hex", inner.hex().encode()
        yield from (("base64-base64", form) for form in _packed(inner, base64.b64encode, 3, 6))


def _packed(raw: bytes, encode: Callable[[bytes], bytes], group: int, bits: int) -> Iterator[bytes]:
    """What each alignment of ``raw`` alone decides of its encoded form."""
    for before in range(group):
        whole = encode(b"\0" * before + raw)
        first = -(-before * 8 // bits)
        last = (before + len(raw)) * 8 // bits
        yield whole[first:last]


def _grouped(
    raw: bytes, encode: Callable[[bytes], bytes], size: int, letters: int
) -> Iterator[bytes]:
    """Likewise, where ``size`` bytes together become ``letters`` characters."""
    for before in range(size):
        whole = encode(b"\0" * before + raw)
        yield whole[-(-before // size) * letters : (before + len(raw)) // size * letters]
