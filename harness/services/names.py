"""What names mean inside a sandbox: the services' own have addresses, no other exists.

Messages are those of RFC 1035. Queries come from the subject, so nothing in them is trusted:
a name is read without following pointers, and what cannot be read is answered as malformed.
"""

from __future__ import annotations

import enum
import ipaddress
import struct
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_HEADER: Final = struct.Struct(">HHHHHH")
_RESPONSE: Final = 0x8000
_OPCODE: Final = 0x7800
_AUTHORITATIVE: Final = 0x0400
_RECURSION_DESIRED: Final = 0x0100
_RECURSION_AVAILABLE: Final = 0x0080
_TTL: Final = 0
_IN: Final = 1
_A, _PTR, _ANY = 1, 12, 255
_MOST_LABEL: Final = 63
_MOST_NAME: Final = 255
_MOST_NAMES: Final = 10_000
_MOST_KINDS: Final = 16
_OTHER_KINDS: Final = -1
_OTHERS: Final = "(further names)"

#: How a look-up can be made to fail.
HOWS: Final = ("nxdomain", "servfail", "silent")


class Code(enum.IntEnum):
    """Response codes."""

    NOERROR = 0
    FORMERR = 1
    SERVFAIL = 2
    NXDOMAIN = 3
    NOTIMP = 4


class Malformed(Exception):
    """A message that is no query."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the labels as they came, the type, the bytes to repeat in the answer."""

    labels: tuple[bytes, ...]
    kind: int
    raw: bytes

    @property
    def name(self) -> str:
        r"""The name in lower case; a byte that is no printable ASCII as ``\xNN``."""
        return self.text.lower()

    @property
    def text(self) -> str:
        """The name as it was written."""
        return ".".join("".join(map(_character, label)) for label in self.labels) or "."


def _character(byte: int) -> str:
    plain = 0x21 <= byte <= 0x7E and byte not in b".\\"
    return chr(byte) if plain else f"\\x{byte:02x}"


def parse(message: bytes) -> Question:
    """The one question of a query whose header has been read.

    Raises:
        Malformed: it is cut short, has a label too long or a pointer, or not one question.
    """
    if _HEADER.unpack_from(message)[2] != 1:
        raise Malformed("not one question")
    labels = []
    at = _HEADER.size
    while True:
        if at >= len(message):
            raise Malformed("the name is cut short")
        length = message[at]
        at += 1
        if length == 0:
            break
        if length > _MOST_LABEL:
            raise Malformed("a pointer, or a label that is too long")
        labels.append(message[at : at + length])
        at += length
        if at - _HEADER.size > _MOST_NAME:
            raise Malformed("the name is too long")
    end = at + 4
    if end > len(message):
        raise Malformed("the question is cut short")
    kind = int.from_bytes(message[at : at + 2], "big")
    return Question(tuple(labels), kind, message[_HEADER.size : end])


@dataclass(frozen=True, slots=True)
class Zone:
    """The names that exist: ``forward`` to their addresses, ``reverse`` back to a name."""

    forward: Mapping[str, bytes]
    reverse: Mapping[str, str]

    @classmethod
    def of(cls, addresses: Mapping[str, str]) -> Zone:
        """The zone of a trial's services; ``localhost`` is always there."""
        every = {"localhost": "127.0.0.1", **{n.lower(): a for n, a in addresses.items()}}
        parsed = {name: ipaddress.IPv4Address(address) for name, address in every.items()}
        return cls(
            {name: address.packed for name, address in parsed.items()},
            {address.reverse_pointer: name for name, address in parsed.items()},
        )

    def knows(self, name: str) -> bool:
        """Whether there is such a name, of whatever type."""
        return name in self.forward or name in self.reverse

    def records(self, question: Question) -> Sequence[bytes]:
        """What there is of the type asked for, as resource records."""
        name = question.name
        if name in self.forward and question.kind in (_A, _ANY):
            return (_record(_A, self.forward[name]),)
        if name in self.reverse and question.kind in (_PTR, _ANY):
            return (_record(_PTR, _encoded(self.reverse[name])),)
        return ()


def _record(kind: int, data: bytes) -> bytes:
    # 0xC00C points to the name of the question, right behind the header.
    return struct.pack(">HHHIH", 0xC00C, kind, _IN, _TTL, len(data)) + data


def _encoded(name: str) -> bytes:
    labels = [label.encode("ascii", "replace") for label in name.split(".")]
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


class Names:
    """The names of one trial: what was asked, and which look-ups are made to fail.

    Args:
        zone: the names that exist.
        screen: makes an undeclared name fit to be stored: a secret can leave through one.
    """

    def __init__(self, zone: Zone, screen: Callable[[str], tuple[str, Sequence[str]]]) -> None:
        self._zone = zone
        self._screen = screen
        self._asked: dict[str, Counter[int]] = {}
        self._failing: dict[str, str] = {}
        self._failed: Counter[str] = Counter()

    def asked(self) -> Mapping[str, int]:
        """Undeclared names and how often each was looked up.

        Resolvers ask for IPv4 and IPv6 addresses at once; the type asked most often counts.
        """
        return {name: max(kinds.values()) for name, kinds in self._asked.items()}

    def fail(self, name: str, how: str | None) -> None:
        """Make look-ups of a name (``*``: all) fail from now on, or ``None``: no longer."""
        if how is None:
            self._failing.pop(name.lower(), None)
        elif how in HOWS:
            self._failing[name.lower()] = how
        else:
            raise ValueError(f"a look-up fails as one of {', '.join(HOWS)}, not as {how!r}")

    def failed(self, name: str) -> int:
        """How many queries for it were made to fail, by that name or ``*``."""
        return self._failed[name.lower()]

    def reply(self, message: bytes) -> bytes | None:
        """The answer to one message; ``None``: none is given."""
        answer, question = self._answered(message)
        self._overhear(message[_HEADER.size + len(question.raw) :] if question else message)
        return answer

    def _answered(self, message: bytes) -> tuple[bytes | None, Question | None]:
        """Likewise, and the question if there was one."""
        if len(message) < _HEADER.size:
            return None, None
        flags = _HEADER.unpack_from(message)[1]
        if flags & _RESPONSE:
            return None, None
        if flags & _OPCODE:
            return _answer(message, Code.NOTIMP), None
        try:
            question = parse(message)
        except Malformed:
            return _answer(message, Code.FORMERR), None
        return self._resolve(message, question), question

    def _resolve(self, message: bytes, question: Question) -> bytes | None:
        name = question.name
        known = self._zone.knows(name)
        if not known:
            self._log(question)
        rule = name if name in self._failing else "*"
        how = self._failing.get(rule)
        if how is not None:
            if known or how != "nxdomain":  # else it is the answer that there would be anyway
                self._failed[rule] += 1
            if how == "silent":
                return None
            code = Code.SERVFAIL if how == "servfail" else Code.NXDOMAIN
            return _answer(message, code, question)
        if not known:
            return _answer(message, Code.NXDOMAIN, question)
        return _answer(message, Code.NOERROR, question, self._zone.records(question))

    def _log(self, question: Question) -> None:
        name, marks = self._shown(question)
        if name not in self._asked and len(self._asked) >= _MOST_NAMES:
            if marks:  # a secret is told also where no name is any more
                self._tell(marks)
                return
            name = _OTHERS
        kinds = self._asked.setdefault(name, Counter())
        kinds[question.kind if len(kinds) < _MOST_KINDS else _OTHER_KINDS] += 1

    def _tell(self, marks: Sequence[str]) -> None:
        """Put down secrets that came with no name that can be kept."""
        for mark in marks:
            self._asked.setdefault(mark, Counter())[0] += 1

    def _shown(self, question: Question) -> tuple[str, Sequence[str]]:
        """The name without secrets, also one that is spread over its labels, and their marks."""
        for text in (question.text, question.name, question.text.replace(".", "")):
            screened, marks = self._screen(text)
            if marks:
                return screened, marks
        return question.name, ()

    def _overhear(self, data: bytes) -> None:
        """Put down the secrets in what was sent to us and is no name that is asked for."""
        marks = self._screen(data.decode("latin-1"))[1] if data else ()
        self._tell(marks)


def _answer(
    message: bytes, code: Code, question: Question | None = None, records: Sequence[bytes] = ()
) -> bytes:
    number, flags = _HEADER.unpack_from(message)[:2]
    kept = flags & (_OPCODE | _RECURSION_DESIRED)
    flags = _RESPONSE | _AUTHORITATIVE | _RECURSION_AVAILABLE | kept | code
    header = _HEADER.pack(number, flags, 1 if question else 0, len(records), 0, 0)
    return header + (question.raw if question else b"") + b"".join(records)
