"""Whether evidence that is judged again is what the run sealed, as far as that can be told here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.again.run_folder import RunFolder
from harness.errors import UsageError
from harness.state import state_folder
from verifiers.seals.chain import Problem
from verifiers.seals.keys import PUBLIC, BadKey, public_key, public_key_in
from verifiers.seals.state import State
from verifiers.seals.verify import Checked, verify

if TYPE_CHECKING:
    from securesystemslib.signer import Key

INTACT = "intact"
UNPROVEN = "unproven"
BROKEN = "broken"
UNCHECKED = "unchecked"
_NAME_KEY = "use --key FILE, the key.pub of whoever sealed"


@dataclass(frozen=True, slots=True)
class Seal:
    """What the seal of a folder says.

    Attributes:
        state: ``intact``; ``unproven``: intact by the key that lies beside the evidence, which
            anybody could have put there; ``broken``; or ``unchecked``: nothing shows what the
            run wrote.
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
        key: of whoever sealed; ``None``: the one of the state folder, else that of the run's folder.

    Raises:
        UsageError: there is no such key.
    """
    try:
        known, state = _known(key)
    except FileNotFoundError as error:
        raise UsageError(
            f"there is no key {key or error.filename}; name the key.pub of whoever sealed"
        ) from error
    except OSError as error:
        what = f"the key {key or error.filename} cannot be read: {error.strerror}"
        raise UsageError(f"{what}; name the key.pub of whoever sealed") from error
    except BadKey as error:
        raise UsageError(f"{error}; name the key.pub of whoever sealed") from error
    if run.alone:
        return _unchecked("what is sealed is the folder of a run, not that of a trial")
    try:
        return _by_own_key(run) if known is None else _checked(verify(run.folder, known, state))
    except OSError as error:
        return Seal(BROKEN, "the seal cannot be read", [str(error)])


def _checked(checked: Checked) -> Seal:
    problems = [str(problem) for problem in checked.problems]
    if checked.other and len(problems) == 1:
        return Seal(BROKEN, f"the run is signed by another key; {_NAME_KEY}", problems)
    if problems:
        return Seal(BROKEN, "the evidence is not as it was sealed", problems)
    return Seal(INTACT, "the evidence is as it was sealed")


def _by_own_key(run: RunFolder) -> Seal:
    """By the key that lies in the folder: it shows changes, and not who sealed."""
    try:
        own = public_key_in(run.folder)
    except BadKey as error:
        return Seal(BROKEN, "the evidence is not as it was sealed", [str(error)])
    if own is None and run.document.get("sealed") is False:
        return _unchecked("the run was not sealed, as it says itself")
    if own is None:
        lost = str(Problem(PUBLIC, "the key that sealed the run", "nothing"))
        return Seal(BROKEN, "the evidence is not as it was sealed", [lost])
    seal = _checked(verify(run.folder, own))
    if seal.problems:
        return seal
    who = f"by whom is not proven, since no key is known here: {_NAME_KEY}"
    return Seal(UNPROVEN, f"{seal.told} by the key that lies in it, {own.keyid}; {who}")


def _known(key: Path | None) -> tuple[Key | None, State | None]:
    if key is not None:
        return public_key(key), None
    state = State(state_folder().absolute())
    return state.public_key(), state


def _unchecked(why: str) -> Seal:
    return Seal(UNCHECKED, f"nothing shows that the evidence is what the run wrote: {why}")
