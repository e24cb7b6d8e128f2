"""The part of a trial that is alive: from an empty place to evidence and a place that is gone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from harness.case.model import Case
from harness.errors import EvidenceLost, Lack, Unavailable
from harness.evidence.model import Evidence, FaultRecord, Processes
from harness.faults.wall_clock import reads, shows
from harness.live import meters
from harness.live.assemble import Recorded, assemble
from harness.live.collect import Collected, Wants, collect, watch_processes
from harness.live.containment import shown, writable_parts
from harness.live.pictures import Asked, Picture, asked, pairs, photograph
from harness.live.repository import make_repository
from harness.live.scene import Setting, sandbox_spec, staged
from harness.live.stage import Stage
from harness.live.witness import timeline
from harness.oracles.look import wanted, watched
from harness.oracles.seen import UNRECORDED
from harness.plan import shims_clock
from harness.sabotage.tamper import Tamper, tampering
from harness.subjects.base import Launch
from harness.subjects.programs import programs_at
from sandboxes import clock
from sandboxes.base import Listing, Sandbox
from sandboxes.errors import SandboxError
from verifiers.verdicts import Reason

_SETTLE = 10.0
_OFF = "no fault is injected in this trial"
Noted = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Start:
    """What was there before the subject started: the trees, and pictures of repositories."""

    listing: Listing
    pictures: Mapping[str, Picture]


@dataclass(slots=True)
class Attempt:
    """One trial's live part; what it finds stays here, whatever ends it.

    Attributes:
        evidence: ``None`` until the subject has run and been looked at.
        touched: where the sandbox could reach what it must not, in words; ``None`` where
            that could not be told.
        residue: what could not be removed.
        home: how it was looked at whether the sandbox changed the real home, in words.
        failure: the first bug of ours that a request brought to light.
    """

    setting: Setting
    random: Random
    evidence: Evidence | None = None
    touched: Sequence[str] | None = None
    residue: Sequence[str] = ()
    home: str = "not observed"
    failure: BaseException | None = None

    def live(self, noted: Noted) -> None:
        """Create, serve, play, watch, collect, kill, destroy; ``noted`` notes what a stage raises.

        Raises:
            Unavailable: something that only shows in the sandbox is missing.
            sandboxes.errors.SandboxError: the sandbox could not be made.
        """
        trial, case = self.setting.trial, self.setting.trial.case
        launch = trial.adapter.launch(trial.starts, case)
        spec = sandbox_spec(trial, self.setting.bench, launch, self.random)
        with ExitStack() as stack:
            tamper = stack.enter_context(tampering(trial.sabotaged, self.setting.folder))
            sandbox = self.setting.bench.create(trial.backend, tamper.placed(spec))
            stack.callback(self._destroy, sandbox, tamper)
            self._look_at_mounts(sandbox)
            stage = stack.enter_context(staged(self.setting, sandbox, launch))
            stack.callback(self._note_failure, stage)
            tamper.hook(stage.next.env)
            self._prepare(stage)
            tamper.reach(stage.canary)
            before = sandbox.listing()
            repositories = asked((*case.stimulus, *case.expect))
            pictures = photograph(sandbox, before, repositories)
            self.setting.journal.write(
                "ready", home=len(before.home), workspace=len(before.workspace)
            )
            watching = meters.begin(stage, watched((*case.stimulus, *case.expect)))
            wants = self._wants(launch, watching, repositories)
            with noted(), programs_at(trial.starts.where):
                stage.play(case.steps)
            if stage.main is None:
                return
            with noted():
                self._prove_clock(stage)
            processes, collected = Processes(observed=False), None
            with noted():
                processes = watch_processes(stage, _patience(case))
            with noted():
                collected = collect(stage, before, wants)
            with noted():
                self._prove_sabotage(tamper)
            with noted():
                _take_in(stage)
            with noted():
                _keep_schedule(stage)
            self._conclude(stage, wants, Start(before, pictures), processes, collected)

    # -- before

    def _prepare(self, stage: Stage) -> None:
        """Set the clock and make the repository, before anything of the subject runs."""
        case = self.setting.trial.case
        if case.sandbox.clock.at is not None:
            stage.wall.offset = case.sandbox.clock.at - clock.wall()
            stage.sandbox.set_wall_clock(round(stage.wall.offset * 1e9))
            if not shows(stage.place(), stage.wall.offset):
                what = "a canary inside does not see the wall clock that was set"
                raise Unavailable([Lack(Reason.CAPABILITY_MISSING, f"clock.wall: {what}")])
        if case.workspace.git is not None:
            make_repository(stage, case)

    def _prove_clock(self, stage: Stage) -> None:
        """A clock that was set and that nothing of the subject has read has shown nothing."""
        if self.setting.trial.case.sandbox.clock.at is not None and not reads(stage.place()):
            what = "clock.wall: no program of the subject has read the clock that was set"
            remedy = "a static program reads the kernel's clock, which cannot be set"
            raise Unavailable([Lack(Reason.CAPABILITY_MISSING, what, remedy)])

    def _prove_sabotage(self, tamper: Tamper) -> None:
        """What was to be removed is gone, and that is on record."""
        if tamper.what is not None:
            try:
                tamper.prove()
            finally:
                self.setting.journal.write("sabotaged", **tamper.account())

    def _look_at_mounts(self, sandbox: Sandbox) -> None:
        inside = sandbox.mounts()
        self.setting.journal.write("mounts", writable=writable_parts(inside))
        here = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape")
        self.touched = shown(inside, here, Path.home().resolve())

    # -- after

    def _wants(
        self, launch: Launch, watching: meters.Meters, repositories: Sequence[Asked]
    ) -> Wants:
        case = self.setting.trial.case
        return Wants(
            wanted((*case.stimulus, *case.expect)),
            tuple(launch.own),
            scan=bool(self.setting.canaries),
            meters=watching,
            clock=shims_clock(case),
            repositories=repositories,
        )

    def _conclude(
        self,
        stage: Stage,
        wants: Wants,
        start: Start,
        processes: Processes,
        collected: Collected | None,
    ) -> None:
        """With the subject dead: close what recorded it, and put the evidence together."""
        case = self.setting.trial.case
        stage.services.close()
        stdout, stderr = stage.finish_outputs()
        held = stage.services.held()
        recorded = Recorded(
            before=start.listing,
            collected=collected,
            whole_system="files.system" in self.setting.trial.capabilities,
            processes=processes,
            requests=stage.services.requests(),
            model=stage.services.model(),
            network=stage.packets.finish(stage.services.names_asked()),
            faults=stage.arming.records() if self.setting.bench.inject else not_injected(case),
            stdout=stdout,
            stderr=stderr,
            ending=stage.ending,
            final_text=self.setting.trial.adapter.final_text(stdout.data),
            own=wants.own,
            timeline=tuple(timeline(self.setting.journal.past(), stage.started)),
            host_moved=stage.host_clock.moved,
            notes={
                "git": pairs(
                    start.pictures,
                    collected.pictures if collected else None,
                    wants.repositories,
                    held.repositories,
                ),
                "services": held.services,
                **({UNRECORDED: more} if (more := stage.services.unrecorded()) else {}),
            },
        )
        self.evidence = assemble(case, wants.paths, self.setting.screen, recorded)

    def _note_failure(self, stage: Stage) -> None:
        self.failure = stage.services.failure()

    def _look_at_home(self, sandbox: Sandbox, tamper: Tamper) -> None:
        """With everything inside dead: what it changed in the user's real home."""
        touched = sandbox.touched()
        self.home = "told by the kernel" if touched.whole else "not observed"
        foreign = [path for path in touched.paths if path != str(tamper.pipe)]
        changed = [f"{path} was changed from inside" for path in foreign]
        self.setting.journal.write("home", witness=self.home, changed=changed)
        if changed:
            self.touched = [*(self.touched or ()), *changed]

    def _destroy(self, sandbox: Sandbox, tamper: Tamper) -> None:
        with suppress(SandboxError):
            self._look_at_home(sandbox, tamper)
        self.residue = sandbox.destroy()
        self.setting.journal.write("destroyed", residue=list(self.residue))


def _take_in(stage: Stage) -> None:
    """Let everything be recorded that the subject had sent before it died."""
    if not stage.services.settle(_SETTLE):
        raise EvidenceLost("connections of the subject did not end after its death")


def _keep_schedule(stage: Stage) -> None:
    """A replay in which something did not come as recorded is none."""
    if missed := stage.arming.missed():
        stage.journal.write("missed", scheduled=list(missed))
        what = f"the recorded schedule was not met: {'; '.join(missed)}"
        raise Unavailable([Lack(Reason.FAULT_NOT_DELIVERED, what)])


def not_injected(case: Case) -> Sequence[FaultRecord]:
    """The record of the faults of a case in which none was armed."""
    return [
        FaultRecord(fault.id, fault.fault, armed=False, landed=False, count=0, proof=_OFF)
        for fault in case.faults
    ]


def _patience(case: Case) -> float:
    """How long what still runs is watched: as long as an expectation of processes wants."""
    asked = [(e.oracle, e.params) for e in (*case.stimulus, *case.expect)]
    asked += [(yet["oracle"], yet["params"]) for _, p in asked if (yet := p.get("yet"))]
    waits = [float(params["after"]) for oracle, params in asked if oracle == "processes"]
    return max(waits, default=0.0)
