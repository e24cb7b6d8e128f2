"""What keeps evidence from being sealed."""

from __future__ import annotations

import enum
import errno
from collections.abc import Iterator
from contextlib import contextmanager


class Cause(enum.StrEnum):
    """Why something cannot be sealed; what a breaker that opened has on record."""

    UNWRITABLE = "unwritable"
    KEY = "key"
    CHAIN = "chain-broken"
    HEAD = "head-gone"
    LENGTH = "log-length"
    CLOCK = "clock-back"
    EVIDENCE = "evidence"
    OPEN = "breaker-open"


class NotSealed(Exception):
    """The evidence cannot be sealed, so it proves nothing.

    Attributes:
        cause: what kind of thing it was.
        what: what was expected and what there is, in words.
        remedy: what a person can do.
    """

    def __init__(self, cause: Cause, what: str, remedy: str = "") -> None:
        super().__init__(f"{what}; {remedy}" if remedy else what)
        self.cause = cause
        self.what = what
        self.remedy = remedy


_REMEDIES = {
    errno.ENOSPC: "make room",
    errno.EDQUOT: "make room",
    errno.EROFS: "let it be written to, or name another folder",
    errno.EACCES: "let its owner run shakeout, or name a folder of your own",
    errno.EPERM: "let its owner run shakeout, or name a folder of your own",
}


@contextmanager
def kept(what: str, cause: Cause = Cause.UNWRITABLE) -> Iterator[None]:
    """Turn an ``OSError`` of the body into :class:`NotSealed`: ``what`` cannot be done."""
    try:
        yield
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "")
        raise NotSealed(cause, f"{what}: {error.strerror or error}", remedy) from error
