"""Whether evidence that is judged again is what the run sealed, as far as that can be told here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.again.run_folder import RunFolder
from harness.conclude import RUN
from harness.errors import UsageError
from harness.state import state_folder
from verifiers.seals.keys import BadKey, public_key
from verifiers.seals.state import State
from verifiers.seals.verify import verify

if TYPE_CHECKING:
    from securesystemslib.signer import Key

INTACT = "intact"
BROKEN = "broken"
UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class Seal:
    """What the seal of a folder says.

    Attributes:
        state: ``intact``, ``broken``, or ``unchecked``: nothing shows what the run wrote.
        told: the same in words.
        problems: everything that is not as it was sealed.
    """

    state: str
    told: str
    problems: Sequence[str] = ()


def check_seal(run: RunFolder, key: Path | None) -> Seal:
    """Check the seal of a run's folder, before its evidence is judged.

    Args:
        run: the folder.
        key: of whoever sealed; ``None``: the one of the state folder.

    Raises:
        UsageError: there is no such key.
    """
    try:
        known, state = _known(key)
    except (BadKey, OSError) as error:
        raise UsageError(f"{error}; name the key.pub of whoever sealed") from error
    if not (run.folder / RUN).is_file():
        return _unchecked("what is sealed is the folder of a run, not that of a trial")
    if known is None:
        return _unchecked("no key is known here; name the key.pub of whoever sealed: --key FILE")
    try:
        checked = verify(run.folder, known, state)
    except OSError as error:
        return Seal(BROKEN, "the seal cannot be read", [str(error)])
    if checked.problems:
        told = "the evidence is not as it was sealed, or not sealed by this key"
        return Seal(BROKEN, told, [str(problem) for problem in checked.problems])
    return Seal(INTACT, "the evidence is as it was sealed")


def _known(key: Path | None) -> tuple[Key | None, State | None]:
    if key is not None:
        return public_key(key), None
    state = State(state_folder().absolute())
    return state.public_key(), state


def _unchecked(why: str) -> Seal:
    return Seal(UNCHECKED, f"nothing shows that the evidence is what the run wrote: {why}")
