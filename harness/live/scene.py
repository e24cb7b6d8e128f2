"""Everything that has to be up around a sandbox while its trial lives, and down after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from harness.case.model import Case
from harness.errors import Lack, Unavailable
from harness.faults.registry import FAULTS
from harness.journal import Journal
from harness.live import sentinels
from harness.live.arming import Arming
from harness.live.capture import Capture
from harness.live.inbox import Inbox
from harness.live.inside import environment
from harness.live.packets import PacketCounter
from harness.live.realhome import unobservable
from harness.live.stage import Stage
from harness.plan import Trial, shims_clock, speaks_tls, watched
from harness.screen.secrets import Screen
from harness.services.base import HttpService
from harness.services.cast import Cast
from harness.services.host import ServiceHost
from harness.services.model.service import ModelService
from harness.services.plan import Plan
from harness.services.plan import plan as plan_services
from harness.services.record import Shelf
from harness.services.registry import build
from harness.state import exposing, state_folder
from harness.subjects.base import Dialect, Launch
from sandboxes import clock
from sandboxes.base import Mount, Planted, Sandbox, SandboxSpec, Site
from sandboxes.capabilities import NEST
from sandboxes.errors import SandboxError
from verifiers.seals.sealer import Sealer
from verifiers.verdicts import Reason

_UTC = "UTC"
_LOW_PORTS = "network.low-ports"


@dataclass(frozen=True, slots=True)
class Bench:
    """What all trials of a run share.

    Attributes:
        folder: of the run.
        sites: of each backend, by name; the error where it could not be made ready.
        host: serves the services of every trial.
        sealer: seals the evidence of each.
        inject: whether faults are armed at all.
        stopped: whether the user wants the run to end.
    """

    folder: Path
    sites: Mapping[str, Site | SandboxError]
    host: ServiceHost
    sealer: Sealer
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


@dataclass(frozen=True, slots=True)
class Setting:
    """What one trial has of its own.

    Attributes:
        bench: what it shares with the others of the run.
        folder: where its evidence goes.
        canaries: the secrets that are planted, by the name of their variable.
        screen: finds them.
    """

    trial: Trial
    bench: Bench
    folder: Path
    journal: Journal
    canaries: Mapping[str, str]
    screen: Screen


def sandbox_spec(trial: Trial, bench: Bench, launch: Launch, random: Random) -> SandboxSpec:
    """The sandbox that a trial needs; ``random`` makes its sentinels.

    Raises:
        Unavailable: it would show the key that seals.
    """
    case, home = trial.case, Path.home().resolve()
    mounts = {target: source for source, target in case.workspace.mounts.items()}
    mounts |= {mount.target: mount.source for mount in launch.mounts}
    if source := exposing(mounts.values()):
        what = f"the subject would see the state folder {state_folder()} by {source}"
        raise Unavailable([Lack(Reason.CAPABILITY_MISSING, what, "set SHAKEOUT_STATE elsewhere")])
    planted = (*sentinels.sentinels(random), *launch.home, *case.home)
    return SandboxSpec(
        name=trial.id,
        limits=case.sandbox.limits,
        home=_last_of_each(planted),
        workspace=case.workspace.files,
        mounts=tuple(Mount(source, target) for target, source in mounts.items()),
        listens=_addresses(trial).listens,
        trusted=bench.host.authority.trusted() if speaks_tls(case) else None,
        zone=_zone(case),
        wall_clock=shims_clock(case),
        watch=watched(case),
        guarded=None if unobservable(home) else home,
        nest=NEST in case.sandbox.needs,
    )


@contextmanager
def staged(setting: Setting, sandbox: Sandbox, launch: Launch) -> Iterator[Stage]:
    """Capture, services, triggers and counters of one trial, all around its sandbox."""
    loop = setting.bench.host.loop
    case, faults = setting.trial.case, setting.trial.case.faults if setting.bench.inject else ()
    inbox = Inbox()
    arming = Arming(
        [(fault, FAULTS[fault.fault]) for fault in faults],
        inbox,
        setting.journal,
        lambda: stage.place(),  # noqa: PLW0108 - it is made from this
        setting.trial.replay.schedule if setting.trial.replay else None,
    )
    where = _addresses(setting.trial)
    cast = _cast(setting, where, arming, lambda: clock.monotonic() - stage.started)
    services = setting.bench.host.serve(cast, sandbox.listeners)
    arming.attach(services)
    stage = Stage(
        sandbox=sandbox,
        services=services,
        packets=PacketCounter(loop, sandbox.packets),
        arming=arming,
        inbox=inbox,
        journal=setting.journal,
        stdout=Capture(loop, lambda data: arming.heard("stdout", data)),
        stderr=Capture(loop, lambda data: arming.heard("stderr", data)),
        aside=lambda: Capture(loop),
        argv=launch.argv,
        env=environment(case.task, _zone(case), {**launch.env, **case.env}, setting.canaries),
        seconds=case.sandbox.seconds,
        stopped=setting.bench.stopped,
        addresses=where.by_service,
        capabilities=setting.trial.capabilities,
    )
    try:
        yield stage
    finally:
        _take_down(stage)


def _cast(setting: Setting, where: Plan, arming: Arming, since: Callable[[], float]) -> Cast:
    trial = setting.trial
    return Cast(
        services=_services(trial.case, trial.adapter.dialect) if where.addresses else (),
        addresses=where.addresses,
        shelf=Shelf.of_trial(setting.folder),
        redact=setting.screen.redact,
        gatekeeper=arming.gate,
        since=since,
        declared=[fault.id for fault in trial.case.faults],
        context=setting.bench.host.authority.context if speaks_tls(trial.case) else None,
    )


def _take_down(stage: Stage) -> None:
    """End what records; the subject first, so that nothing more can come."""
    with suppress(SandboxError):
        stage.sandbox.kill()
    stage.inbox.close()
    stage.services.close()
    stage.packets.finish({})
    stage.finish_outputs()
    stage.close()


def _addresses(trial: Trial) -> Plan:
    return plan_services(
        trial.case, low_ports=_LOW_PORTS in trial.capabilities, tls=speaks_tls(trial.case)
    )


def _zone(case: Case) -> str:
    return case.sandbox.clock.zone or _UTC


def _services(case: Case, dialect: Dialect) -> Sequence[HttpService]:
    return [ModelService(case.script, dialect), *(build(decl) for decl in case.services)]


def _last_of_each(planted: Sequence[Planted]) -> tuple[Planted, ...]:
    """Each path once; what the case plants wins over the adapter's and the sentinels."""
    return tuple({item.path: item for item in planted}.values())
