"""Canaries for a trial's secrets, and the screen that keeps them out of every artefact.

What is written anywhere goes through :class:`Screen`, which replaces each planted secret by
``[secret:NAME:ENCODING]``. It does not look for things that resemble secrets: it knows the
planted ones, so a hit is never a false alarm.

Two looks find a secret. The first is for its bytes as they are. The second looks at what is
left when escapes are undone (percent, JSON, HTML, hex, octal), capitals are small and all but
letters and digits is gone, so that a secret which is wrapped, quoted, spelled out as UTF-16
or split over lines is whole again; each encoding is looked for there. Both run at the speed
of ``bytes.find``; only where there is a hit are places worked out, block by block.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from harness.screen.encodings import forms
from harness.screen.inflate import inflated
from harness.screen.views import bare, bare_with_places

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_PREFIX = "sk-canary-"
_RANDOM = 40
_BLOCK = 1 << 18
_LONGEST_FORM = 16  # times a secret's length, escapes and separators included
_LEAST = 12
_WRITTEN = re.compile(r"\[secret:([^\]:]+):([a-z0-9-]+)\]")
_PACKED = {"base64": (3, rb"[A-Za-z0-9+/_-]"), "base32": (5, rb"[A-Za-z2-7]")}


def plant(names: Iterable[str], random: Random) -> dict[str, str]:
    """A canary for each name: like a real token, different in each trial."""
    return {name: _PREFIX + "".join(random.choices(_ALPHABET, k=_RANDOM)) for name in names}


@dataclass(frozen=True, slots=True)
class Mark:
    """What stands where a secret stood."""

    name: str
    encoding: str

    def __str__(self) -> str:
        return f"[secret:{self.name}:{self.encoding}]"


@dataclass(frozen=True, slots=True)
class _Family:
    """One form of every secret, and bytes that all of these share, to look for first."""

    encoding: str
    variant: int
    needles: Sequence[tuple[str, bytes]]
    probe: bytes


@dataclass(frozen=True, slots=True)
class _Hit:
    start: int
    end: int
    mark: Mark


class Screen:
    """Replaces the planted secrets in whatever passes through it; safe for many threads.

    Without secrets it hands everything back as it is, at no cost.
    """

    def __init__(self, canaries: Mapping[str, str]) -> None:
        """Get ready for these secrets, name to value.

        Raises:
            ValueError: a secret is so short that it would be found where it is not.
        """
        for name, value in canaries.items():
            if len(value) < _LEAST:
                raise ValueError(f"the secret {name} has fewer than {_LEAST} characters")
        self._exact = [(name, value.encode()) for name, value in canaries.items()]
        self._families = _families(canaries)
        self.margin = _LONGEST_FORM * max((len(v) for v in canaries.values()), default=0)

    @property
    def active(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self._exact)

    def screen(self, data: bytes) -> tuple[bytes, tuple[Mark, ...]]:
        """The data with every secret replaced, and the marks in order of appearance."""
        if not self._exact or len(data) < _LEAST:
            return data, ()
        marks: tuple[Mark, ...] = ()
        for start, end, inner in reversed(inflated(data, self._holds)):
            _, found = self.screen(inner)
            packed = tuple(dict.fromkeys(Mark(mark.name, "gzip") for mark in found))
            text = "".join(map(str, packed)).encode()
            data = data[:start] + text + data[end:]
            marks = packed + marks
        if not self._suspects(data):
            return data, marks
        stream = Stream(self)
        blocks = [stream.feed(data[at : at + _BLOCK]) for at in range(0, len(data), _BLOCK)]
        return b"".join([*blocks, stream.close()]), marks + tuple(stream.marks)

    def redact(self, data: bytes) -> tuple[bytes, tuple[str, ...]]:
        """Likewise, the marks as they are written."""
        screened, marks = self.screen(data)
        return screened, tuple(map(str, marks))

    def text(self, text: str) -> tuple[str, tuple[Mark, ...]]:
        """Likewise, for text that may hold surrogate escapes."""
        if not self._exact or (len(text) < _LEAST and text.isascii()):
            return text, ()
        data, marks = self.screen(text.encode("utf-8", "surrogateescape"))
        return (data.decode("utf-8", "surrogateescape") if marks else text), marks

    def written(self, text: str) -> tuple[Mark, ...]:
        """The marks that stand in a text which has been screened already."""
        known = {name for name, _ in self._exact}
        return tuple(Mark(*found) for found in _WRITTEN.findall(text) if found[0] in known)

    def hits(self, data: bytes) -> list[_Hit]:
        """Where the secrets are, in order, overlaps merged; meant for one block of data."""
        found = [
            _Hit(at, at + len(value), Mark(name, "plain"))
            for name, value in self._exact
            for at in _all(data, value)
        ]
        found += self._hits_when_bare(data)
        return _merged(sorted(found, key=lambda hit: (hit.start, -hit.end)))

    def _holds(self, inner: bytes) -> bool:
        """Whether there is a hit in what was compressed, or in what is compressed in that."""
        return self._suspects(inner) or bool(inflated(inner, self._suspects))

    def _suspects(self, data: bytes) -> bool:
        """Whether there is any hit, quickly."""
        if any(value in data for _, value in self._exact):
            return True
        text = bare(data)
        return any(
            needle in text
            for family in self._families
            if family.probe in text
            for _, needle in family.needles
        )

    def _hits_when_bare(self, data: bytes) -> Iterator[_Hit]:
        text = bare(data)
        families = [family for family in self._families if family.probe in text]
        if not families:
            return
        text, starts, ends = bare_with_places(data)
        for family in families:
            for name, needle in family.needles:
                for at in _all(text, needle):
                    span = starts[at], ends[at + len(needle) - 1]
                    yield _hit(data, span, name, family)


class Stream:
    """Screens what arrives in pieces; a secret that is cut by a border is found all the same.

    Attributes:
        marks: of what was found so far.
    """

    def __init__(self, screen: Screen) -> None:
        self.marks: list[Mark] = []
        self._screen = screen
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Take a piece; gives what can be given already, replaced."""
        if not self._screen.active:
            return data
        self._held += data
        if len(self._held) < self._screen.margin + min(_BLOCK, 1 << 16):
            return b""
        return self._give(len(self._held) - self._screen.margin)

    def close(self) -> bytes:
        """The rest."""
        return self._give(len(self._held))

    def _give(self, upto: int) -> bytes:
        out = []
        at = 0
        for hit in self._screen.hits(self._held):
            if hit.start >= upto:
                break
            self.marks.append(hit.mark)
            out += [self._held[at : hit.start], str(hit.mark).encode()]
            at = hit.end
        upto = max(upto, at)
        out.append(self._held[at:upto])
        self._held = self._held[upto:]
        return b"".join(out)


def _families(canaries: Mapping[str, str]) -> list[_Family]:
    by_form: dict[tuple[str, int], list[tuple[str, bytes]]] = {}
    for name, value in canaries.items():
        for key, form in forms(value).items():
            needle = bare(form)
            if len(needle) >= _LEAST:
                by_form.setdefault(key, []).append((name, needle))
    return [
        _Family(encoding, variant, needles, _shared([needle for _, needle in needles]))
        for (encoding, variant), needles in by_form.items()
    ]


def _shared(needles: Sequence[bytes]) -> bytes:
    """The longer of what all begin with and what all end with."""
    head = _common(needles)
    tail = _common([needle[::-1] for needle in needles])[::-1]
    return max(head, tail, key=len)


def _common(needles: Sequence[bytes]) -> bytes:
    low, high = min(needles), max(needles)
    length = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    return low[:length]


def _all(data: bytes, needle: bytes) -> Iterator[int]:
    at = data.find(needle)
    while at >= 0:
        yield at
        at = data.find(needle, at + len(needle))


def _hit(data: bytes, span: tuple[int, int], name: str, family: _Family) -> _Hit:
    start, end = span
    encoding = family.encoding
    if encoding in _PACKED:
        # the characters next to it hold some bits of the secret and some of its neighbours
        group, letter = _PACKED[encoding]
        after = re.compile(letter + rb"?={0,6}").match(data, end)
        end = after.end() if after else end
        if family.variant % group and start and re.match(letter, data[start - 1 : start]):
            start -= 1
    if encoding == "plain":
        encoding = _manner(data[start:end])
    return _Hit(start, end, Mark(name, encoding))


def _manner(found: bytes) -> str:
    """How a secret was written that is plain when its escapes are undone."""
    for sign, encoding in (
        (b"%", "url"),
        (b"\\u", "json"),
        (b"\\x", "hex"),
        (b"0x", "hex"),
        (b"&#", "html"),
        (b"\0", "utf-16"),
        (b"\\", "escaped"),
    ):
        if sign in found:
            return encoding
    return "split" if re.search(rb"\s|[^\x00-\x7f]|[\"'+,]", found) else "plain"


def _merged(hits: Sequence[_Hit]) -> list[_Hit]:
    kept: list[_Hit] = []
    for hit in hits:
        if kept and hit.start < kept[-1].end:
            last = kept[-1]
            kept[-1] = _Hit(last.start, max(last.end, hit.end), last.mark)
        else:
            kept.append(hit)
    return kept
