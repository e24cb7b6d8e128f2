"""A small assembler for classic BPF, the language of seccomp and of packet filters."""

from __future__ import annotations

import struct

LOAD_WORD = 0x20
LOAD_HALF = 0x28
LOAD_BYTE = 0x30
LOAD_BYTE_INDEXED = 0x50
LOAD_HEADER_LENGTH = 0xB1
MASK = 0x54
_EQUAL = 0x15
_AT_LEAST = 0x35
_ANY_BIT = 0x45
_RETURN = 0x06


class Program:
    """Instructions with named places to jump to; jumps only go forward, as BPF demands."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, str, str, int]] = []
        self._places: dict[str, int] = {}

    def do(self, code: int, value: int = 0) -> None:
        """An instruction that goes on to the next one."""
        self._lines.append((code, "", "", value))

    def equal(self, value: int, yes: str = "", no: str = "") -> None:
        """Compare the accumulator; an empty name means the next instruction."""
        self._lines.append((_EQUAL, yes, no, value))

    def at_least(self, value: int, yes: str = "", no: str = "") -> None:
        """Compare the accumulator as an unsigned number."""
        self._lines.append((_AT_LEAST, yes, no, value))

    def any_bit(self, value: int, yes: str = "", no: str = "") -> None:
        """Test the accumulator for any of the bits."""
        self._lines.append((_ANY_BIT, yes, no, value))

    def answer(self, value: int) -> None:
        """End with a result."""
        self._lines.append((_RETURN, "", "", value))

    def place(self, name: str) -> None:
        """Name the next instruction."""
        self._places[name] = len(self._lines)

    def code(self) -> bytes:
        """The program as the kernel reads it."""
        return b"".join(
            struct.pack("=HBBI", code, self._jump(at, yes), self._jump(at, no), value)
            for at, (code, yes, no, value) in enumerate(self._lines)
        )

    def _jump(self, at: int, name: str) -> int:
        return self._places[name] - at - 1 if name else 0
