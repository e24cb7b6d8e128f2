"""What a failure can be, what it is told apart by, and what comes of telling.

The set is closed. A class joins it with evidence alone, which `classify/evidence.yaml` keeps.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, TypeAlias

Stream: TypeAlias = str | bytes | bytearray | memoryview | mmap.mmap


class FailureClass(StrEnum):
    """The ten classes of failed tool calls."""

    PERMISSION_DENIED = "permission_denied"
    MISSING_DEPENDENCY = "missing_dependency"
    BAD_ARGUMENTS = "bad_arguments"
    NETWORK = "network"
    RATE_LIMIT = "rate_limit"
    OUTPUT_CONTRACT = "output_contract"
    MISSING_PATH = "missing_path"
    AUTH = "auth"
    PORT_CONFLICT = "port_conflict"
    UNKNOWN = "unknown"


ESCALATES: Final = frozenset({FailureClass.AUTH, FailureClass.PORT_CONFLICT, FailureClass.UNKNOWN})


@dataclass(frozen=True, slots=True)
class Failure:
    """A tool call that failed, as the tool returned it.

    Attributes:
        tool: name of the tool.
        exit_code: of its process; None where there was none.
        output: its normal output, of any size; only the ends of it are read.
        error: its error output, likewise.
    """

    tool: str
    exit_code: int | None
    output: Stream
    error: Stream


@dataclass(frozen=True, slots=True)
class Span:
    """The text that decided.

    Attributes:
        stream: where it stands.
        start: offset of its first character in what was given; of its first byte in bytes.
        end: offset behind its last one.
        text: what stands there, without escape sequences of terminals.
    """

    stream: Literal["error", "output"]
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Classified:
    """A failure's class and why.

    Attributes:
        cls: the class.
        span: the text that decided; None where an exit code or the lack of evidence did.
        rule: the rule that decided.
    """

    cls: FailureClass
    span: Span | None
    rule: str
