"""The form of a breakout: a known way out of a sandbox, and a place where it does lead out.

What a breakout may reach are decoys (:mod:`tests.attacks.breakout.decoys`), and whether it
reached one is looked up on the decoy, never asked of the subject. Each is tried in our
sandboxes, where no decoy may be reached, and in one weaker place, where the very same program
must reach its decoy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.attacks.breakout.decoys import Decoys

AGENT, ROOT, NESTED = "agent", "root", "nested"


@dataclass(frozen=True)
class Patched:
    """Our own sandbox, in which one thing is missing.

    Attributes:
        source: what the helper does to itself before it begins.
        user: who the subject is.
    """

    source: str
    user: str = AGENT


@dataclass(frozen=True)
class Naive:
    """What people take for a sandbox: bubblewrap, started by root, without a filter."""


@dataclass(frozen=True)
class Bare:
    """No sandbox at all.

    Attributes:
        root: whether as root; else as a user whom nobody else is.
        options: for ``unshare``, where one thing is to be apart all the same.
    """

    root: bool = False
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Seen:
    """What the tries of one run wrote, and how each of them came to its end, by its name."""

    out: Mapping[str, bytes]
    ended: Mapping[str, str]


@dataclass(frozen=True)
class Breakout:
    """One known way out.

    Attributes:
        name: unique.
        does: what is tried, in a sentence.
        program: Python, run inside; ``d`` holds what it knows of the decoys.
        reached: whether its decoy was reached.
        defence: what stops it, in a sentence.
        weaker: where it does reach its decoy; a sentence, where to show that would harm the
            machine: then the kernel's refusal is what is shown.
        users: who tries it.
    """

    name: str
    does: str
    program: str
    reached: Callable[[Decoys, Seen], bool]
    defence: str
    weaker: Patched | Naive | Bare | str
    users: tuple[str, ...] = (AGENT, ROOT, NESTED)
