"""What the faults of programs share: where a program is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.faults.base import Place
from harness.faults.schemas import text
from sandboxes.errors import SandboxError

#: The parameter that names one.
PROGRAM = text(
    "its name, looked up in the subject's PATH, or an absolute path",
    pattern="^(/.*[^/]|[^/]+)$",
)


def found(place: Place, program: str) -> Sequence[str]:
    """Every place where the subject could find it.

    Raises:
        SandboxError: there is none.
    """
    places = place.sandbox.programs(program, place.next.env.get("PATH", ""))
    if not places:
        what = f"there is no program {program!r} inside, nor was there one"
        raise SandboxError(f"{what}; name one of the subject's PATH")
    return places


def each(place: Place, places: Sequence[str], act: Callable[[str], int]) -> Sequence[int]:
    """Do something to every place of a program, or to none; gives the numbers to undo it by."""
    numbers: list[int] = []
    try:
        numbers.extend(map(act, places))  # one by one, so those that were done are known
    except BaseException:
        undo(place, numbers)
        raise
    return numbers


def undo(place: Place, numbers: Sequence[int]) -> None:
    """Take back all of them, the last one first."""
    for number in reversed(numbers):
        place.sandbox.undo(number)
