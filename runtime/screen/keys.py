"""Private keys: whole blocks, blocks that were cut off, and bodies without their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runtime.screen.spans import PRIVATE_KEY, Found

_BLOCKS = (
    (
        "PRIVATE",
        re.compile(r"-{4,5} ?BEGIN[ A-Z0-9]{0,40}PRIVATE\s?KEY(?:\s?BLOCK)?"),
        re.compile(r"-{4,5} ?END[ A-Z0-9]{0,40}PRIVATE\s?KEY(?:\s?BLOCK)? ?(?:-{4,5})?"),
    ),
    (
        "PuTTY-User-Key-File-",
        re.compile(r"PuTTY-User-Key-File-[0-9]"),
        re.compile(r"Private-(?:MAC|Hash): ?[0-9a-f]+"),
    ),
    ("<RSAKeyValue>", re.compile(r"<RSAKeyValue>"), re.compile(r"</RSAKeyValue>")),
)
_FOOTER = _BLOCKS[0][2]
_BODY_LINE = re.compile(r"[A-Za-z0-9+/=]{16,}")
_BODIES = {
    "b3BlbnNzaC1rZXktdjEA": 0,  # "openssh-key-v1" and a zero
    "IBAAKCA": 12,  # PKCS 1
    "ADANBgkqhkiG9w0BAQEFAASC": 12,  # PKCS 8, RSA
    "AgEAMBMGByqGSM49AgEG": 12,  # PKCS 8, elliptic curves
    "MC4CAQAwBQYDK2Vw": 0,  # PKCS 8, Ed25519
    "MHcCAQEE": 0,  # SEC 1
}
"""How the base64 of a private key begins, and how far in front of that it can."""
_HEAD = re.compile(r"MI[A-Za-z0-9+/]{0,12}\Z")
_BODY = re.compile(r"[A-Za-z0-9+/=\s]{40,}+")
_WEB_KEY = re.compile(r"\"(?:d|k|p|q|dp|dq|qi)\"\s{0,8}:\s{0,8}\"([\w-]{40,})")


def private_keys(text: str) -> Iterator[Found]:
    """Every private key in the text; one without its last line goes on to the end."""
    for hint, header, footer in _BLOCKS:
        if hint in text:
            yield from _blocks(text, header, footer)
    if "PRIVATE" in text and "END" in text:
        yield from _tails(text)
    for hint, before in _BODIES.items():
        if hint in text:
            yield from _bodies(text, hint, before)
    if '"' in text:
        yield from (_key(*match.span(1)) for match in _WEB_KEY.finditer(text))


def _key(start: int, end: int) -> Found:
    return Found(start, end, PRIVATE_KEY)


def _blocks(text: str, header: re.Pattern[str], footer: re.Pattern[str]) -> Iterator[Found]:
    at = 0
    while begins := header.search(text, at):
        ends = footer.search(text, begins.end())
        at = ends.end() if ends else len(text)
        yield _key(begins.start(), at)


def _tails(text: str) -> Iterator[Found]:
    """The lines of a key in front of its last one, whose first line may be lost."""
    for match in _FOOTER.finditer(text):
        start = line = match.start()
        while line > 0:
            before = text.rfind("\n", 0, line - 1) + 1
            if not _BODY_LINE.fullmatch(text[before : line - 1].strip()):
                break
            start = line = before
        yield _key(start, match.end())


def _bodies(text: str, hint: str, before: int) -> Iterator[Found]:
    at = text.find(hint)
    while at >= 0:
        start = max(0, at - before)
        head = _HEAD.search(text, start, at) if before else None
        body = _BODY.match(text, at)
        if body and (head or not before):
            yield _key(head.start() if head else at, body.end())
        at = text.find(hint, body.end() if body else at + len(hint))
