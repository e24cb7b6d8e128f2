"""The part of a trial that is alive: from an empty place to evidence and a place that is gone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from harness import sentinels
from harness.arming import Arming
from harness.assemble import Recorded, assemble
from harness.capture import Capture
from harness.case.model import Case
from harness.collect import Collected, Wants, collect, watch_processes
from harness.containment import shown, writable_parts
from harness.errors import Lack, Unavailable
from harness.evidence.model import Evidence, FaultRecord, Processes
from harness.faults.registry import FAULTS
from harness.faults.wall_clock import shows
from harness.inbox import Inbox
from harness.inside import environment
from harness.journal import Journal
from harness.oracles.look import wanted
from harness.packets import PacketCounter
from harness.plan import Trial, shims_clock, watches_files
from harness.repository import make_repository
from harness.secrets import Screen
from harness.services.base import HttpService
from harness.services.host import ServiceHost
from harness.services.live import Cast
from harness.services.model.service import ModelService
from harness.services.plan import Plan
from harness.services.plan import plan as plan_services
from harness.services.record import Shelf
from harness.services.registry import build
from harness.stage import Stage
from harness.subjects.base import Dialect, Launch
from sandboxes import clock
from sandboxes.base import Listing, Mount, Planted, Sandbox, SandboxSpec, Site
from sandboxes.errors import SandboxError
from verifiers.verdicts import Reason

Noted = Callable[[], AbstractContextManager[None]]
_UTC = "UTC"
_LOW_PORTS = "network.low-ports"


@dataclass(frozen=True, slots=True)
class Bench:
    """What all trials of a run share.

    Attributes:
        folder: of the run.
        sites: of each backend, by name; the error where it could not be made ready.
        host: serves the services of every trial.
        inject: whether faults are armed at all.
        stopped: whether the user wants the run to end.
    """

    folder: Path
    sites: Mapping[str, Site | SandboxError]
    host: ServiceHost
    inject: bool
    stopped: Callable[[], bool]

    def create(self, backend: str, spec: SandboxSpec) -> Sandbox:
        """Make a sandbox.

        Raises:
            SandboxError: it could not be made, or the backend could not be made ready.
        """
        site = self.sites[backend]
        if isinstance(site, SandboxError):
            raise site
        return site.create(spec)


@dataclass(slots=True)
class Attempt:
    """One trial's live part; what it finds stays here, whatever ends it.

    Attributes:
        evidence: ``None`` until the subject has run and been looked at.
        touched: where the sandbox could reach what it must not, in words; ``None`` where
            that could not be told.
        residue: what could not be removed.
        failure: the first bug of ours that a request brought to light.
    """

    trial: Trial
    bench: Bench
    folder: Path
    journal: Journal
    random: Random
    canaries: Mapping[str, str]
    screen: Screen
    evidence: Evidence | None = None
    touched: Sequence[str] | None = None
    residue: Sequence[str] = ()
    failure: BaseException | None = None

    def live(self, noted: Noted) -> None:
        """Create, serve, play, watch, collect, kill, destroy; ``noted`` notes what a stage raises.

        Raises:
            Unavailable: something that only shows in the sandbox is missing.
            sandboxes.errors.SandboxError: the sandbox could not be made.
        """
        case = self.trial.case
        launch = self.trial.subject.launch(self.trial.ref, case)
        with ExitStack() as stack:
            sandbox = self.bench.create(self.trial.backend, self._spec(launch))
            stack.callback(self._destroy, sandbox)
            self._look_at_mounts(sandbox)
            stage = stack.enter_context(self._staged(sandbox, launch))
            self._prepare(stage)
            before = sandbox.listing()
            self.journal.write("ready", home=len(before.home), workspace=len(before.workspace))
            with noted():
                stage.play(case.steps)
            if stage.main is None:
                return
            processes, collected = Processes(observed=False), None
            with noted():
                processes = watch_processes(stage, _patience(case))
            with noted():
                collected = collect(stage, before, self._wants(launch))
            self._conclude(stage, launch, before, processes, collected)

    # -- before

    def _spec(self, launch: Launch) -> SandboxSpec:
        case = self.trial.case
        mounts = {target: source for source, target in case.workspace.mounts.items()}
        mounts |= {mount.target: mount.source for mount in launch.mounts}
        planted = (*sentinels.sentinels(self.random), *launch.home, *case.home)
        return SandboxSpec(
            name=self.trial.id,
            limits=case.sandbox.limits,
            home=_last_of_each(planted),
            workspace=case.workspace.files,
            mounts=tuple(Mount(source, target) for target, source in mounts.items()),
            listens=self._addresses().listens,
            zone=case.sandbox.clock.zone or _UTC,
            wall_clock=shims_clock(case),
            watch=watches_files(case),
        )

    def _addresses(self) -> Plan:
        low = _LOW_PORTS in self.trial.capabilities
        return plan_services(self.trial.case, low_ports=low)

    @contextmanager
    def _staged(self, sandbox: Sandbox, launch: Launch) -> Iterator[Stage]:
        """Everything that has to be up around the sandbox, and down again after it."""
        case, loop = self.trial.case, self.bench.host.loop
        faults = case.faults if self.bench.inject else ()
        inbox = Inbox()
        arming = Arming(
            [(fault, FAULTS[fault.fault]) for fault in faults],
            inbox,
            self.journal,
            lambda: stage.place(),  # noqa: PLW0108 - it is made from this
        )
        where = self._addresses()
        cast = Cast(
            services=_services(case, self.trial.subject.dialect) if where.addresses else (),
            addresses=where.addresses,
            shelf=Shelf.of_trial(self.folder),
            redact=self.screen.redact,
            gatekeeper=arming.gate,
            since=lambda: clock.monotonic() - stage.started,
            declared=[fault.id for fault in faults],
        )
        packets = PacketCounter(loop, sandbox.packets)
        services = self.bench.host.serve(cast, sandbox.listeners)
        arming.attach(services)
        stage = Stage(
            sandbox=sandbox,
            services=services,
            packets=packets,
            arming=arming,
            inbox=inbox,
            journal=self.journal,
            stdout=Capture(loop, lambda data: arming.heard("stdout", data)),
            stderr=Capture(loop, lambda data: arming.heard("stderr", data)),
            aside=lambda: Capture(loop),
            argv=launch.argv,
            env=environment(
                case.task,
                case.sandbox.clock.zone or _UTC,
                {**launch.env, **case.env},
                self.canaries,
            ),
            seconds=case.sandbox.seconds,
            stopped=self.bench.stopped,
            addresses={
                name: [f"{host}:{port}" for port in where.ports]
                for name, host in where.addresses.items()
            },
            capabilities=self.trial.capabilities,
        )
        try:
            yield stage
        finally:
            with suppress(SandboxError):
                sandbox.kill()
            inbox.close()
            services.close()
            self.failure = services.failure()
            packets.finish({})
            stage.finish_outputs()

    def _prepare(self, stage: Stage) -> None:
        """Set the clock and make the repository, before anything of the subject runs."""
        case = self.trial.case
        if case.sandbox.clock.at is not None:
            stage.wall.offset = case.sandbox.clock.at - clock.wall()
            stage.sandbox.set_wall_clock(round(stage.wall.offset * 1e9))
            if not shows(stage.place(), stage.wall.offset):
                what = "a canary inside does not see the wall clock that was set"
                raise Unavailable([Lack(Reason.CAPABILITY_MISSING, f"clock.wall: {what}")])
        if case.workspace.git:
            make_repository(stage)

    def _look_at_mounts(self, sandbox: Sandbox) -> None:
        inside = sandbox.mounts()
        self.journal.write("mounts", writable=writable_parts(inside))
        here = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape")
        self.touched = shown(inside, here, Path.home().resolve())

    # -- after

    def _wants(self, launch: Launch) -> Wants:
        case = self.trial.case
        paths = wanted((*case.stimulus, *case.expect))
        return Wants(paths, tuple(launch.own), scan=bool(self.canaries))

    def _conclude(
        self,
        stage: Stage,
        launch: Launch,
        before: Listing,
        processes: Processes,
        collected: Collected | None,
    ) -> None:
        """With the subject dead: close what recorded it, and put the evidence together."""
        case = self.trial.case
        stage.services.close()
        stdout, stderr = stage.finish_outputs()
        recorded = Recorded(
            before=before,
            collected=collected,
            whole_system="files.system" in self.trial.capabilities,
            processes=processes,
            requests=stage.services.requests(),
            model=stage.services.model(),
            network=stage.packets.finish(stage.services.names_asked()),
            faults=stage.arming.records() if self.bench.inject else not_injected(case),
            stdout=stdout,
            stderr=stderr,
            ending=stage.ending,
            final_text=self.trial.subject.final_text(stdout.data),
            own=launch.own,
        )
        paths = wanted((*case.stimulus, *case.expect))
        self.evidence = assemble(case, paths, self.screen, recorded)

    def _destroy(self, sandbox: Sandbox) -> None:
        self.residue = sandbox.destroy()
        self.journal.write("destroyed", residue=list(self.residue))


def _services(case: Case, dialect: Dialect) -> Sequence[HttpService]:
    return [ModelService(case.script, dialect), *(build(decl) for decl in case.services)]


def not_injected(case: Case) -> Sequence[FaultRecord]:
    """The record of the faults of a case in which none was armed."""
    return [
        FaultRecord(fault.id, fault.fault, armed=False, landed=False, count=0, proof="never armed")
        for fault in case.faults
    ]


def _last_of_each(planted: Sequence[Planted]) -> tuple[Planted, ...]:
    """Each path once; what the case plants wins over the adapter's and the sentinels."""
    return tuple({item.path: item for item in planted}.values())


def _patience(case: Case) -> float:
    """How long what still runs is watched: as long as an expectation of processes wants."""
    asked = [(e.oracle, e.params) for e in (*case.stimulus, *case.expect)]
    asked += [(yet["oracle"], yet["params"]) for _, p in asked if (yet := p.get("yet"))]
    waits = [float(params["after"]) for oracle, params in asked if oracle == "processes"]
    return max(waits, default=0.0)
