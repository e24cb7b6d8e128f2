"""What a run will do: every trial, in order, and what each would lack here.

Planning starts nothing. A trial that cannot be tried is planned all the same, with what it
lacks; it will be reported as unavailable and never left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.case.expand import expand
from harness.case.model import Case, Fault, Sabotage, SandboxDecl, Step, SubjectRef, Where
from harness.errors import Lack
from harness.faults.base import HandshakeFault
from harness.faults.met import ATTEMPTS, WATCHED
from harness.faults.registry import FAULTS
from harness.oracles import look
from harness.sabotage.sabotaged import Sabotaged, sabotaged
from harness.schedule import Replay
from harness.subjects.base import Identity, Missing, Subject
from harness.subjects.registry import SUBJECTS
from sandboxes.base import Capability, Probe, Watch
from sandboxes.capabilities import NEST
from verifiers.verdicts import Reason

_NEST_OR_ROOT = Lack(
    Reason.CAPABILITY_MISSING,
    "no sandbox has nest and user.root together: root could get at the machine's settings "
    "through a /proc that the subject mounts",
    "take out the step as root, or nest",
)
_LIMITS = {"memory": "limits.memory", "pids": "limits.pids", "disk": "limits.disk"}
#: Capabilities that a key of ``sandbox`` asks for under another name.
_SANDBOX = {"network": "network.services", "clock.at": "clock.wall"}


@dataclass(frozen=True, slots=True)
class Trial:
    """One execution to be: case, subject, sandbox and seed.

    Attributes:
        id: name of its folder, unique in the run.
        kind: ``trial``, ``control`` or ``sabotage``.
        case: with one subject and concrete faults.
        ref: what the case says of the subject.
        subject: its adapter.
        identity: what would run; ``None`` where it is not installed.
        backend: name of the sandbox backend; empty where none is available.
        grade: of the backend.
        image: digest of what the sandbox is made of; empty where it is the machine's own.
        capabilities: what the backend can do.
        seed: of everything that is chosen by chance in it.
        repeat: from 1.
        group: the id without the repeat; repeats of a group are compared.
        lacks: what is missing; then it is not tried.
        sabotaged: what is removed from it; ``None``: nothing.
        replay: the earlier trial whose schedule it keeps to; ``None``: it has its own.
    """

    id: str
    kind: str
    case: Case
    ref: SubjectRef
    subject: Subject
    identity: Identity | None
    backend: str
    grade: str
    image: str
    capabilities: frozenset[str]
    seed: int
    repeat: int
    group: str
    lacks: Sequence[Lack] = ()
    sabotaged: Sabotaged | None = None
    replay: Replay | None = None

    @property
    def chance(self) -> str:
        """What everything is made from that is chosen by chance in it."""
        return self.replay.chance if self.replay else f"{self.seed}:{self.id}"

    @property
    def starts(self) -> SubjectRef:
        """What is started: what stands in for the subject, else that."""
        stand_in = self.sabotaged.stand_in if self.sabotaged else None
        return stand_in or self.ref

    @property
    def adapter(self) -> Subject:
        """The adapter of what is started."""
        return SUBJECTS[self.starts.name]


@dataclass(frozen=True, slots=True)
class Selection:
    """How cases become trials.

    Attributes:
        subject: replaces the subject of every case.
        backend: ``auto`` or the name of one.
        repeat: how often each is done.
        seed: of the run.
        control: whether each case's clean control runs beside it.
        sabotage: whether each of its sabotages does too.
    """

    subject: str | None = None
    backend: str = "auto"
    repeat: int = 1
    seed: int = 0
    control: bool = False
    sabotage: bool = False


@dataclass(frozen=True, slots=True)
class Variation:
    """One way in which a case is tried.

    Attributes:
        case: with one subject and concrete faults.
        kind: ``trial``, ``control`` or ``sabotage``.
        number: of the combination of ``each``, from 1; ``None`` without.
        sabotage: what is removed; ``None``: nothing.
        owner: the case that the sabotage is of.
    """

    case: Case
    kind: str
    number: int | None
    sabotage: Sabotage | None = None
    owner: Case | None = None

    @property
    def removed(self) -> Sabotaged | None:
        """The sabotage as a trial has it."""
        if self.sabotage is None or self.owner is None:
            return None
        return sabotaged(self.sabotage, self.case, self.owner)


def plan(
    cases: Sequence[Case], probes: Mapping[str, Probe], selection: Selection
) -> tuple[Trial, ...]:
    """Every trial of these cases, in order.

    Args:
        cases: as loaded.
        probes: what each backend found, by name, in order of preference.
        selection: how to multiply them.
    """
    return tuple(
        trial
        for case in cases
        for variation in variations(case, selection)
        for trial in trials_of(variation, probes, selection)
    )


def variations(case: Case, selection: Selection) -> Iterator[Variation]:
    """Every variation of a case, in order; looks at nothing of this machine."""
    for variant, number in expand(case, selection.subject):
        yield Variation(variant, "trial", number)
        if selection.control:
            yield Variation(clean_control(variant), "control", number)
        if selection.sabotage:
            for sabotage in variant.sabotage:
                yield Variation(variant, "sabotage", number, sabotage, variant)


def clean_control(case: Case) -> Case:
    """The same case with nothing wrong in it: no faults, and what ``control`` says instead."""
    control = case.control
    changed = replace(case, faults=(), each={}, known=(), sabotage=(), control=None)
    if control is None:
        return changed
    if control.script is not None:
        changed = replace(changed, script=control.script, stimulus=())
    if control.stimulus is not None:
        changed = replace(changed, stimulus=control.stimulus)
    if control.expect is not None:
        changed = replace(changed, expect=control.expect)
    return changed


def trials_of(
    variation: Variation, probes: Mapping[str, Probe], selection: Selection
) -> Iterator[Trial]:
    """The trials of a variation here, one for each repeat."""
    case, kind, number = variation.case, variation.kind, variation.number
    removed = variation.removed
    ref = case.subjects[0]
    subject = SUBJECTS[ref.name]
    found = subject.identify(ref, case)
    lacks = [*_subject_lacks(ref, found), *(removed.lacks if removed else ())]
    needed = needs(case)
    asking = _asking(case)
    probe, missing = choose(probes, selection.backend, needed, asking)
    lacks += missing
    if {NEST, "user.root"} <= needed:
        lacks.append(replace(_NEST_OR_ROOT, where=asking.get("user.root")))
    label = removed.label if removed else kind
    group = _group(case, probe.backend if probe else "", label, number)
    for repeat in range(1, selection.repeat + 1):
        yield Trial(
            id=f"{group}.r{repeat}" if selection.repeat > 1 else group,
            kind=kind,
            case=case,
            ref=ref,
            subject=subject,
            identity=found if isinstance(found, Identity) else None,
            backend=probe.backend if probe else "",
            grade=probe.grade if probe else "",
            image=probe.image if probe else "",
            capabilities=_available(probe) if probe else frozenset(),
            seed=selection.seed,
            repeat=repeat,
            group=group,
            lacks=tuple(lacks),
            sabotaged=removed,
        )


def _group(case: Case, backend: str, label: str, number: int | None) -> str:
    """The id of a trial without the number of its repeat."""
    parts = [case.id, case.subjects[0].name, backend or "none"]
    parts += [label] if label != "trial" else []
    parts += [f"m{number}"] if number is not None else []
    return ".".join(parts)


def under(trial: Trial, number: int | None, removed: Sabotaged) -> Trial:
    """The only trial of a case as it is, with something removed; ``number`` as of its variation."""
    group = _group(trial.case, trial.backend, removed.label, number)
    lacks = (*trial.lacks, *removed.lacks)
    return replace(trial, id=group, group=group, kind="sabotage", sabotaged=removed, lacks=lacks)


def _subject_lacks(ref: SubjectRef, found: Identity | Missing) -> Iterator[Lack]:
    if isinstance(found, Missing):
        reason = Reason.TOOL_MISSING if ref.name == "command" else Reason.SUBJECT_MISSING
        yield Lack(reason, found.reason, found.remedy, ref.where)


def needs(case: Case) -> frozenset[str]:
    """The capabilities without which this case cannot be tried."""
    sandbox = case.sandbox
    needed = {*sandbox.needs, "network.none"}
    needed |= {_LIMITS[name] for name in sandbox.written if name in _LIMITS}
    needed |= {"network.services"} if sandbox.network == "services" else set()
    needed |= {"clock.wall"} if sandbox.clock.at is not None else set()
    needed |= {"clock.zone"} if sandbox.clock.zone is not None else set()
    needed |= {"user.root"} if any(_as_root(step) for step in case.steps) else set()
    needed |= {ATTEMPTS} if look.watched((*case.stimulus, *case.expect)) else set()
    for fault in case.faults:
        needed |= set(FAULTS[fault.fault].needs)
    return frozenset(needed)


def _asking(case: Case) -> Mapping[str, Where | None]:
    """Where a capability is asked for, by its name: the first fault, else expectation, else step."""
    expected = [one for one in (*case.stimulus, *case.expect) if look.watched([one])]
    asked = [
        *((name, fault.where) for fault in case.faults for name in FAULTS[fault.fault].needs),
        *((ATTEMPTS, one.where) for one in expected),
        *(("user.root", step.where) for step in case.steps if _as_root(step)),
        *_asked_of_sandbox(case.sandbox),
    ]
    return dict(reversed(asked))


def _asked_of_sandbox(sandbox: SandboxDecl) -> Iterator[tuple[str, Where]]:
    for key, where in sandbox.places.items():
        name = _SANDBOX.get(key) or key.removeprefix("needs.")
        yield name, where


def shims_clock(case: Case) -> bool:
    """Whether the wall clock of this case is moved, at the start or by a fault."""
    return case.sandbox.clock.at is not None or any(_moves_clock(f) for f in case.faults)


def speaks_tls(case: Case) -> bool:
    """Whether the services of this case answer on TLS too: it says so, or a fault is of that."""
    faults = [FAULTS[fault.fault] for fault in case.faults]
    return case.sandbox.tls or any(isinstance(fault, HandshakeFault) for fault in faults)


def watched(case: Case) -> frozenset[Watch]:
    """Which calls of the subject the faults and expectations of this case have to know of."""
    return frozenset(kind for name in needs(case) for kind in WATCHED.get(name, ()))


def _moves_clock(fault: Fault) -> bool:
    return "clock.wall" in FAULTS[fault.fault].needs


def _as_root(step: Step) -> bool:
    return step.kind == "run" and step.user == "root"


def choose(
    probes: Mapping[str, Probe],
    wanted: str,
    needed: frozenset[str],
    asking: Mapping[str, Where | None] | None = None,
) -> tuple[Probe | None, Sequence[Lack]]:
    """The backend to use, and what is missing with it.

    ``auto`` takes the first that has every needed capability, else the first available one,
    whose gaps are then reported, each with the place that asks for it.
    """
    first: Probe | None = None
    lacks = []
    for probe in probes.values():  # which may be looked at only now, one after the other
        if wanted not in ("auto", probe.backend):
            continue
        if not probe.available:
            why = f"{probe.backend}: {probe.reason}"
            lacks.append(Lack(Reason.BACKEND_MISSING, why, probe.remedy))
        elif needed <= _available(probe):
            return probe, ()
        else:
            first = first or probe
    if first is None:
        return None, lacks
    return first, [
        replace(_missing(first, name), where=(asking or {}).get(name))
        for name in sorted(needed - _available(first))
    ]


def _available(probe: Probe) -> frozenset[str]:
    return frozenset(name for name, cap in probe.capabilities.items() if cap.available)


def _missing(probe: Probe, name: str) -> Lack:
    cap = probe.capabilities.get(name, Capability(name, available=False, detail="not known"))
    what = f"{probe.backend} ({probe.grade} grade) lacks {name}: {cap.detail}"
    return Lack(Reason.CAPABILITY_MISSING, what, cap.remedy)
