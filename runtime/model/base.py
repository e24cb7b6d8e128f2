"""The contract of a model: what it is asked, and what an answer is, whatever the protocol."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias

from runtime.errors import AgentdError

#: What is done with each piece of text as it arrives.
Hear: TypeAlias = Callable[[str], Awaitable[None]]
Stop: TypeAlias = Literal["end", "calls", "length", "refusal", "other"]
#: Characters of a single reply; what is longer is ended here, for no one reads it.
LONGEST: Final = 1 << 18
#: Calls in a single reply.
MOST_CALLS: Final = 100


class ModelError(AgentdError):
    """The model could not be asked, or gave no whole answer.

    Attributes:
        kind: ``auth``, ``rate_limit``, ``unreachable``, ``refused`` for a request that it does not
            take, ``broken`` for an answer that cannot be read, or ``incomplete`` for one that
            ended before its end.
    """

    def __init__(self, kind: str, what: str, remedy: str = "") -> None:
        super().__init__(what, remedy)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that the model asks for.

    Attributes:
        id: unique in its conversation; made up where the model's own is not.
        name: as the model wrote it, whether or not there is such a tool.
        arguments: the object, or ``None`` where what it wrote is none.
        problem: what is wrong with what it wrote.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """One entry of a conversation, as a model is shown it.

    Attributes:
        role: who said it.
        text: what.
        calls: of an assistant: the calls that it asked for.
        call: of a tool: the id of the call that this answers.
        failed: of a tool: whether the call failed.
    """

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    calls: tuple[Asked, ...] = ()
    call: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool, as a model is shown it."""

    name: str
    summary: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, as the model counts them; 0 where it does not say."""

    input: int = 0
    output: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer: one whose end was seen."""

    text: str
    calls: tuple[Asked, ...]
    stop: Stop
    usage: Usage = Usage()


class Model(Protocol):
    """A model behind some protocol."""

    async def ask(
        self, system: str, conversation: Sequence[Said], tools: Sequence[Offer], hear: Hear
    ) -> Reply:
        """Ask for the next entry.

        Raises:
            ModelError: nothing whole came; nothing of it is to be acted on.
        """

    async def close(self) -> None:
        """Give its connections back."""
