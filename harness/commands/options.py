"""Options that several ways to run or to judge cases have in common."""

from __future__ import annotations

from collections.abc import Callable
from random import SystemRandom
from typing import Any, Final

from harness.judge.exitcode import FailOn

_SEEDS: Final = 1 << 32


def add_weighing(add: Callable[..., Any], prefix: str = "--") -> None:
    """Add what says how trials weigh in the exit code.

    Args:
        add: adds an option, as ``argparse`` and pytest do.
        prefix: what the options' names begin with.
    """
    add(
        f"{prefix}no-known",
        action="store_true",
        help="let defects that cases list under known count as failures",
    )
    add(
        f"{prefix}fail-on",
        action="append",
        default=[],
        choices=[word.value for word in FailOn],
        help="let this count as failed too; may be repeated",
    )


def seed_of(wanted: int | None) -> int:
    """The seed that is asked for, else one by chance."""
    return wanted if wanted is not None else SystemRandom().randrange(_SEEDS)
