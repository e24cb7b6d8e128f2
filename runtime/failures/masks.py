"""What failures of the same kind have in common: their line, without what differs each time."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 200

# In this order, each over what the ones before left. What a mask hides is shown nowhere, so that a
# secret in a failure does not come out by its cluster.
_MASKS: Final = tuple(
    (re.compile(pattern), mask)
    for pattern, mask in (
        (r"\x1b\[[0-?]*[ -/]*[@-~]", ""),
        (r"[a-z][a-z0-9+.-]{1,15}://[^\s'\"<>]+", "<url>"),
        (r"(?<=\")[^\"\n]{1,300}(?=\")|(?<=')[^'\n]{1,300}(?=')|(?<=`)[^`'\n]{1,300}(?=[`'])", "<quoted>"),
        (r"\b(?:\w+[-_])?(?:key|token|secret|password|passwd|authorization)\b\s*[:=]\s*\S+(?: \S+)?", "<secret>"),
        (r"[\w.+-]+@[\w.-]+", "<address>"),
        (r"(?<!\w)(?:[a-z]:)?[\\/~.][^\s:'\",;()\[\]]*[\\/][^\s:'\",;()\[\]]*", "<path>"),
        (r"(?=[\w+=-]*\d)[\w+=-]{20,}", "<token>"),
        (r"\b(?:0x)?(?=[0-9a-f]*\d)[0-9a-f]{6,}\b", "<hex>"),
        (r"\d+(?:[.:,]\d+)*", "<n>"),
        (r"\s+", " "),
    )
)  # fmt: skip


def masked(line: str) -> str:
    """A line with numbers, paths, hexadecimal, quoted text, addresses and tokens masked."""
    text = line[: 4 * LONGEST].lower()
    for pattern, mask in _MASKS:
        text = pattern.sub(mask, text)
    return text.strip()[:LONGEST]
