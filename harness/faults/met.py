"""What the subject met of a fault in its files: its own attempts, counted from outside.

That a state is in force is not enough. A subject that never comes near the path meets
nothing, and a case that passed then would prove nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.faults.base import Landing, Place
from sandboxes.base import Act, Attempts, Depth, Watch
from sandboxes.errors import SandboxError

#: The capabilities of which the proofs need one or more.
ATTEMPTS = "files.attempts"
LOCKS = "files.locks"
ANSWERS = "files.answers"
HOLDS = "files.holds"
DESCRIPTORS = "process.descriptors"
BINDS = "network.binds"
#: Which calls have to be watched for a capability.
WATCHED: Mapping[str, Sequence[Watch]] = {
    ATTEMPTS: (Watch.NAMES,),
    LOCKS: (Watch.LOCKS,),
    ANSWERS: (Watch.NAMES, Watch.DATA),
    HOLDS: (Watch.HOLD,),
    DESCRIPTORS: (Watch.DESCRIPTORS,),
    BINDS: (Watch.BINDS,),
}

#: What is done by name, and not through a descriptor.
BY_NAME = (Act.LOOK, Act.READ, Act.RUN, Act.WRITE, Act.NAME, Act.LINK)

#: For each depth, the acts that the fault makes fail.
Barred = Mapping[Depth, Sequence[Act]]
EVERYWHERE: Barred = dict.fromkeys(Depth, BY_NAME)


@dataclass(frozen=True, slots=True)
class Met:
    """Counts, from the moment it is made, the attempts that a fault makes fail.

    Attributes:
        path: absolute, as a program inside sees it.
        barred: which attempts those are.
        before: what had been counted when the fault was in force.
    """

    path: str
    barred: Barred
    before: Attempts

    @classmethod
    def begin(cls, place: Place, path: str, barred: Barred = EVERYWHERE) -> Met:
        """Begin to count; the fault is in force."""
        place.sandbox.watch(path)
        return cls(path, barred, place.sandbox.attempts(path))

    def landing(self, place: Place) -> Landing:
        """How often the subject came against it."""
        since = place.sandbox.attempts(self.path).since(self.before)
        counts = {
            act: sum(since.count([act], [depth]) for depth in Depth if act in self.barred[depth])
            for act in Act
        }
        what = ", ".join(f"{act.value} {n}x" for act, n in counts.items() if n)
        return Landing(
            sum(counts.values()),
            f"calls of the subject that met it at {self.path}: {what or 'none'}",
        )


def together(of: Sequence[Met], place: Place) -> Landing:
    """How often the subject came against any of them; of those it met, or of the first."""
    landings = [met.landing(place) for met in of]
    told = [each.proof for each in landings if each.landed] or [landings[0].proof]
    return Landing(sum(each.count for each in landings), "; ".join(told))


def expect(place: Place, argv: Sequence[str], code: int, what: str) -> None:
    """Have a canary show that the state is in force.

    Raises:
        SandboxError: it ended with another code.
    """
    ended, out = place.canary(argv)
    if ended != code:
        said = out.decode("utf-8", "replace").strip()[:200]
        raise SandboxError(f"a canary did not see {what}: {argv[0]} gave {ended} {said}".rstrip())
