"""The one screen for secrets that everything which leaves the runtime goes through.

A text is searched in all its forms: as written, with escapes undone, with lines joined, and
with whatever in it is base64 or hex decoded. What is found is replaced where it is written.

The cost is linear in the text's length. A text of more than :data:`LONGEST` characters is
cut to that length; the rest is dropped, and a mark says so. Nothing leaves unscreened.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator, Mapping

from runtime.screen.context import in_context
from runtime.screen.forms import Form, forms
from runtime.screen.keys import private_keys
from runtime.screen.known import Known
from runtime.screen.spans import PRIVATE_KEY, Found, Rank, Span, mark, merged, replaced
from runtime.screen.tokens import tokens
from runtime.screen.values import JSON, screened

LONGEST = 1 << 20
"""Characters of a text that are kept."""
_OVERLAP = 1 << 14  # looked at past the end of what is kept, for what begins before it
_DROPPED = mark("too-long")
_UNREAD = Rank(9, "encoded")
_LOOKS = 8  # at most; a mark can change what is around it, so the text is searched again


class Screen:
    """Finds secrets and replaces them.

    Args:
        known: Secrets that the process was given, by name. The name becomes the kind.
    """

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._known = Known(known or {})

    @property
    def longest_known(self) -> int:
        """Characters of the longest given secret."""
        return self._known.longest

    def spans(self, text: str) -> list[Span]:
        """Where in the text secrets are, in order and without overlaps; marks are none."""
        found: list[Found] = []
        for form in forms(text):
            for start, end, what in self._found(form):
                first, last = form.view.source(start, end)
                found.append(Found(first, last, what))
        return merged(found)

    def text(self, text: str) -> str:
        """The text with every secret replaced; screening it again changes nothing."""
        for _ in range(_LOOKS):
            new = self._looked_at(text)
            if new == text:
                break
            text = new
        return text

    def refuses(self, text: str) -> bool:
        """Whether the text holds a private key, in any form; such a text is not kept at all."""
        return any(found.what == PRIVATE_KEY for form in forms(text) for found in self._found(form))

    def value(self, value: object) -> JSON:
        """The value, which is like JSON, with every secret in it replaced, also in its keys.

        Sequences and sets become lists, keys become strings, what JSON does not know becomes
        its text, and bytes stay bytes. What is nested more than 64 deep, and a container
        inside of itself, become marks.
        """
        return screened(self.text, value)

    def field(self, name: str, value: object) -> JSON:
        """The value that is called ``name``, screened as in a mapping."""
        return screened(self.text, value, name)

    def exception(self, error: BaseException) -> str:
        """The whole traceback, with causes, contexts, notes and groups, screened."""
        return self.text("".join(traceback.format_exception(error)))

    def _looked_at(self, text: str) -> str:
        if len(text) > LONGEST:
            return self._kept(text) + _DROPPED
        return replaced(text, self.spans(text))

    def _kept(self, text: str) -> str:
        """The first part of a text that is too long, cut where no secret is."""
        room = keep = LONGEST - len(_DROPPED)
        window = text[: keep + _OVERLAP]
        spans = self.spans(window)
        while len(kept := replaced(window[:keep], _until(spans, keep))) > room:
            keep -= len(kept) - room
        return kept

    def _found(self, form: Form) -> Iterator[Found]:
        text = form.view.text
        if form.unread:
            return iter([Found(0, len(text), _UNREAD)])
        return self._rules(form, text)

    def _rules(self, form: Form, text: str) -> Iterator[Found]:
        yield from self._known(text)
        yield from private_keys(text)
        yield from tokens(form.view, form.joined)
        if not form.joined:
            yield from in_context(text)


def _until(spans: Iterable[Span], end: int) -> Iterator[Span]:
    for span in spans:
        if span.start < end:
            yield Span(span.start, min(span.end, end), span.kind)
