"""``identity.stdin-open``: the standard input neither carries anything nor ends."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place, Stdin
from harness.faults.main_start import INSPECTED, Starts
from harness.faults.schemas import params
from harness.plural import plural

_PIPE = "pipe:["


@dataclass(slots=True)
class _Open:
    starts: Starts
    waited: int = 0

    def sample(self, place: Place) -> None:
        """Look whether somebody waits for it, until somebody has been seen."""
        if not self.waited:
            self.waited = sum(place.sandbox.waiting(pipe) for pipe in self._pipes(place))

    def landing(self, place: Place) -> Landing:
        self.sample(place)
        begun = len(self._pipes(place))
        proof = f"the kernel shows the main process started so {begun}x"
        who = plural(self.waited, "thread") if self.waited else "nobody"
        return Landing(self.waited, f"{proof}; {who} seen waiting for something to read")

    def _pipes(self, place: Place) -> list[int]:
        """The inodes of the inputs that it was started with since."""
        inputs = [began.stdin for began in place.starts[self.starts.before :]]
        return [int(name[len(_PIPE) : -1]) for name in inputs if name.startswith(_PIPE)]

    def heal(self, place: Place) -> None:
        """For the next start; a running program keeps waiting."""
        place.next.stdin = Stdin.EMPTY


class StdinOpen:
    """A pipe whose other end is held open, as a supervisor does that forgot to close it."""

    name = "identity.stdin-open"
    summary = (
        "The standard input of the main process is a pipe that carries nothing and does not "
        "end; it lands when the kernel shows something waiting to read from it."
    )
    layer = Layer.IDENTITY
    needs = (INSPECTED,)
    live = False
    schema = params()

    def inject(self, params: Params, place: Place) -> _Open:
        """Have it start so."""
        del params
        place.next.stdin = Stdin.OPEN
        return _Open(Starts.begin(place))
