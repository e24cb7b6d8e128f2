"""Whether a text, as SQL or as a database client's command, writes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runtime.recovery.guard.commands import SQL_WRITES
from runtime.recovery.guard.spelled import plain
from runtime.recovery.guard.table import Effect

_COMMENT = re.compile(r"/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|--[^\n]*")
# MySQL runs what is in such a comment.
_HINT = re.compile(r"/\*!\d*|\*/")
_QUOTED = re.compile(r"'(?:[^']|'')*'")
_WORD = re.compile(r"[a-z]+")


def effects(text: str) -> Iterator[Effect]:
    """A database, where any word of it, outside of quotes, is one that writes.

    A comment is looked at both as nothing and as a gap, and in what MySQL runs as code.
    """
    said = plain(text)
    forms = (_COMMENT.sub("", said), _COMMENT.sub(" ", said), _HINT.sub(" ", said))
    words = {word for form in forms for word in _WORD.findall(_QUOTED.sub(" ", form))}
    if words & SQL_WRITES:
        yield Effect.DATABASE
