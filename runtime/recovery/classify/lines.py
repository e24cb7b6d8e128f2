"""What a line is: a marked error, a plain statement, a warning, or mere narration.

Narration is text in which the words of a failure stand without one having happened: attempts that
went on, names of tests, echoed source, matches of a search, frames of a stack.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Final

from runtime.recovery.classify.rules import REACH
from runtime.recovery.classify.text import Text


class Role(IntEnum):
    """How much a line says about why the call failed; the value weighs beside a rule's rank."""

    NARRATION = -9
    WARNING = -2
    PLAIN = 0
    MARKED = 1


# What programs put in front of each line: frames, times, their own names, levels in brackets.
_PREFIX: Final = re.compile(
    r"(?:[ │╷╵>|*\u00d7✖✘╰─▶#]{1,12}"
    r"|\[?\d{4}[-/]\d\d[-/]\d\d[t ]\d\d:\d\d:\d\d[\d.,:+z ]{0,16}\]?[ :]{0,2}"
    r"|\[\d\d:\d\d:\d\d\] "
    r"|[a-z]{3} [ \d]\d \d\d:\d\d:\d\d \S{1,64} \S{1,64}: "
    r"|npm (?:err!|error) |\[err(?:or)?\] ?|e {2,3}(?=\S)){1,4}"
)
_MARK: Final = re.compile(
    r"(?:^|[ \[(:#|])(?:error|errors|fatal|err!|err|e|emerg|alert|crit|critical|panic|severe|failed|failure|fehler"
    r"|erreur|errore|fout|błąd|ошибка|错误|エラー|오류|erro)(?:\[[\w-]{1,24}\])?(?:\]|:|!|\)|\uff1a| [a-z]{2,6}\d{3,5}:)"
    r"|^(?:\S{1,40} )?(?:error|fatal|panic|fatal error|err)\b"
    r"|^(?:[\w.:$]{0,120})(?:error|exception|exit|interrupt|failure)(?:\[\d+\])?(?:$|:| \()"
    r"|^(?:exception in thread|unhandled exception|uncaught|thread '[^']{0,80}' panicked|caused by:)"
    r"|^called `result::unwrap|uncaught \w{0,40}(?:exception|error):"
)
_WARNING: Final = re.compile(
    r"^(?:\S{1,40} )?[\[(<#]?(?:warn|warning|w|hint|note|help|tip|info|i|debug|trace|notice|verbose|silly|log|"
    r"deprecated|suggestion|context|detail|action|see|try|usage|remarque|hinweis|avertissement|advertencia)"
    r"(?:\]|:|\)|>| (?=\w))(?! error)"
    r"|(?:^|[ \[:])(?:warning|warn|npm warn)(?:\]|:)"
)
_GOES_ON: Final = re.compile(
    r"\b(?:retrying|will retry|will try|using (?:port )?\d|using another|retried|(?<!before )trying again|trying another|trying (?:the )?next|try (?:the )?next"
    r"|trying (?!again)[\w-]{2,12}(?:$|\.\.\.)|trying the \w+|"
    r"attempts? \d+|attempt #\d+|next\b(?= ?(?:$|mirror|server|one))|fall(?:ing|s)? ?back|using the|instead of|"
    r"ignored|ignoring|skipped|skipping|skip\b|"
    r"as expected|by design|continuing|anonymous access|not fatal|non-fatal|harmless|"
    r"is normal\b|will be created|created\)|recovered|second try|on first try|"
    r"hint\b|not up yet|^waiting for\b|waited|cached copy|local copy|pulls left|answered \d|for now)"
)
_TEST: Final = re.compile(
    r"^(?:ok|not ok) \d|^(?:=== |--- )|^[✓✔✗✕●○√]|^\S{0,120}(?:test|spec|::)\S{0,120} (?:\S{1,40} )?(?:passed|failed|skipped|xfail)\b *(?:\[ *\d+%\])?$"
    r"|^failed \S+::|^test \S+ \.\.\. |^\S+\.\w{1,4}::\S+ |^(?:rejects|refuses|returns|should|it|fails|handles) "
    r"|^\d+\) |^(?:left|right|received|got|want|actual|diff|\+\+\+|locator): "
)
_FRAME: Final = re.compile(
    r"^at [\w.$<@/(\[]|^file \"|^from \S{1,200}:\d+:in|^#\d+ |^goroutine \d|^\.\.\. \d+ more|^in [\w:]{1,80}\("
    r"|^at line:\d|^require stack|^referenced from"
)
_SOURCE: Final = re.compile(
    r"^ *>? *\d+ *\|[^|]|^ *\| |^line \d+: \S.*\bfrom\b|^[-+]{1,3}(?!-?(?:ba|z|da|k)?sh: )[^ -]|^\+{1,4} |^ *[~^│╵]+ *$|^> +(?:assert|raise|with )"
    r"|^\|.*\|$|^\[\w+\] (?=\S+: \d)"
)
_HIT: Final = re.compile(
    r"^[\w./-]{1,200}\.\w{1,8}[:-]\d{1,6}[:-](?!\d|in\b| ?(?:error|fatal|undefined))"
)
_ECHO_AFTER: Final = re.compile(r"^ *file \"[^\"]{1,300}\", line \d")
_FOR_NOTHING: Final = re.compile(
    r"\b(?:giv(?:ing|e) up|gave up|after \d+ (?:attempts|tries|retries)|retries exceeded)"
)


@dataclass(frozen=True)
class Line:
    """One line.

    Attributes:
        start: where its text starts, not more than `REACH` letters before what was looked for.
        body: where it goes on behind times, frames and the like.
        end: behind its last letter, or `REACH` letters behind what was looked for.
        text: the text it is in.
        searched: whether the stream is normal output, where matches of a search are likely.
    """

    start: int
    body: int
    end: int
    text: Text
    searched: bool

    @cached_property
    def role(self) -> Role:
        """What kind of line it is."""
        whole = self.text.lower[self.start : self.end]
        body = self.text.lower[self.body : self.end]
        if self._narrates(whole, body):
            return Role.NARRATION
        framed = whole[: self.body - self.start]
        if _WARNING.search(body[:120]) or "npm warn" in whole[:12]:
            return Role.WARNING
        if _MARK.search(body[:160]) or "err" in framed or framed.startswith("e "):
            return Role.MARKED
        return Role.PLAIN

    def _narrates(self, whole: str, body: str) -> bool:
        if self.searched and _HIT.match(whole):
            return True
        if _SOURCE.match(whole) or _FRAME.match(body) or _TEST.search(body[:200]):
            return True
        if _GOES_ON.search(body) and not _FOR_NOTHING.search(body):
            return True
        return self._echoes()

    def _echoes(self) -> bool:
        """Whether a traceback shows its source here."""
        before = self.text.lower.rfind("\n", 0, max(self.start - 1, 0)) + 1
        return (
            self.start > 0
            and self.text.lower.startswith("    ", self.start)
            and _ECHO_AFTER.match(self.text.lower[before : self.start]) is not None
        )


def line_at(text: Text, place: int, *, searched: bool) -> Line:
    """The line around a place."""
    start = max(text.lower.rfind("\n", 0, place) + 1, place - REACH)
    end = text.lower.find("\n", place, place + REACH)
    end = min(place + REACH, len(text.lower)) if end < 0 else end
    prefix = _PREFIX.match(text.lower, start, min(end, start + 200))
    return Line(start, prefix.end() if prefix else start, end, text, searched)


def lines_of(text: Text, *, searched: bool, most: int = 400) -> list[Line]:
    """The last lines that are not blank, in order."""
    found: list[Line] = []
    end = len(text.lower)
    while end >= 0 and len(found) < most:
        start = text.lower.rfind("\n", 0, end) + 1
        if text.lower[start:end].strip():
            found.append(line_at(text, start, searched=searched))
        end = start - 1
    return found[::-1]
