"""The live part of a trial: the sandbox with its services, and the steps of the case.

All of it is driven by the trial's thread. It waits in one place, :meth:`Stage.until`, where
deadlines, triggers, ended processes and the user's Ctrl-C are all looked after.
"""

from __future__ import annotations

import os
import signal as signals
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from harness.case.model import Step
from harness.errors import Interrupted
from harness.evidence.model import Output
from harness.faults.base import Place, Start, Stdin, WallClock
from harness.journal import Journal
from harness.live.arming import Arming
from harness.live.capture import Capture
from harness.live.inbox import Inbox
from harness.live.packets import PacketCounter
from harness.live.witness import HostClock
from harness.services.base import LiveServices
from harness.subjects.programs import programs_at
from sandboxes import clock
from sandboxes.base import AGENT, WORKSPACE, Beginning, Ended, ProcessSpec, Sandbox
from sandboxes.errors import CommandNotFound

GRACE = 2.0
_DRAIN = 2.0
_CANARY = 2.0


class DeadlineReached(Exception):
    """The trial's own limit is over; what is running is stopped."""


@dataclass(slots=True)
class Ending:
    """How the main process came to its end, as far as it did.

    Attributes:
        by: ``exit``, ``signal``, ``deadline``, ``step``, ``oom`` or ``lost``; empty while
            it runs.
        exit_code: ``128+N`` after signal N; ``None`` where the harness stopped it.
    """

    by: str = ""
    exit_code: int | None = None


@dataclass(slots=True)
class Stage:
    """What is up while the steps run.

    Attributes:
        sandbox: the place.
        services: what the subject talks to.
        packets: counts what it sends.
        argv: of the main process.
        env: of whatever is started inside, but for what faults make of the main process.
        seconds: the trial's limit, from the first step.
        stopped: whether the user wants the run to end.
        addresses: of each service.
        capabilities: names of what the place can do.
        bystanders: numbers of programs that are not the subject's.
    """

    sandbox: Sandbox
    services: LiveServices
    packets: PacketCounter
    arming: Arming
    inbox: Inbox
    journal: Journal
    stdout: Capture
    stderr: Capture
    aside: Callable[[], Capture]
    argv: Sequence[str]
    env: Mapping[str, str]
    seconds: float
    stopped: Callable[[], bool]
    addresses: Mapping[str, Sequence[str]]
    capabilities: frozenset[str]
    main: int | None = None
    ending: Ending = field(default_factory=Ending)
    deadline: float = float("inf")
    started: float = 0.0
    wall: WallClock = field(default_factory=WallClock)
    host_clock: HostClock = field(default_factory=HostClock)
    bystanders: set[int] = field(default_factory=set)
    next: Start = field(init=False)
    _starts: list[Beginning] = field(default_factory=list)
    _open: list[int] = field(default_factory=list)  # our ends of inputs that must not end
    _ended: dict[int, Ended] = field(default_factory=dict)
    _outputs: tuple[Output, Output] | None = None

    def __post_init__(self) -> None:
        self.next = Start(dict(self.env))

    # -- steps

    def play(self, steps: Sequence[Step]) -> None:
        """Run the steps of the case in order; on return the main process may still run."""
        self.started = clock.monotonic()
        self.deadline = self.started + self.seconds
        self.arming.clock_starts()
        try:
            for number, step in enumerate(steps, 1):
                self.journal.write("step", number=number, kind=step.kind)
                self.arming.step(number)
                self._step(step)
        except DeadlineReached:
            self.ending = Ending("deadline")
            self.journal.write("deadline", seconds=self.seconds)
        except Interrupted:
            self.ending = Ending("step")  # stopped by us, like any step that stops it
            raise
        self._note_end()
        if not self.ending.by:
            self.ending = Ending("step")

    def _step(self, step: Step) -> None:
        match step.kind:
            case "start":
                self.arming.start(live=False)
                self._start_main()
                self.arming.start(live=True)
            case "restart":
                self.arming.tick()
                self._start_main()
            case "wait":
                self._wait_main(step)
            case "run":
                self._run_aside(step)
            case "kill":
                if self.main is not None:
                    self.sandbox.signal(self.main, step.signal)
            case _:
                raise ValueError(f"no such step: {step.kind}")

    def _start_main(self) -> None:
        self.ending = Ending()
        while self.next.before:
            self.next.before.pop(0)()
        spec = self._spec(self.argv, AGENT, self.stdout, self.stderr)
        spec = replace(spec, env=self.next.env, watched=True, inspected=self.next.inspected)
        if self.next.stdin is Stdin.OPEN:
            spec = replace(spec, stdin=self._endless())
        self.main = self._start(spec)
        began = self.sandbox.beginning(self.main)
        self._starts += [] if began is None else [began]
        self.journal.write("started", process=self.main, argv=list(self.argv))

    def _endless(self) -> int:
        """The reading end of a pipe in which nothing comes, and which does not end."""
        reading, writing = os.pipe2(os.O_CLOEXEC)
        os.fchmod(reading, 0o644)  # the agent may open /dev/stdin
        self._open.append(writing)
        return reading

    def _wait_main(self, step: Step) -> None:
        if self.main is None:
            return
        if self.until(self._main_is_over, step.at_most):
            self._note_end()
            return
        if step.then == "continue":
            return
        self.ending = Ending("step")
        self.journal.write("stopped", by="step", how=step.then)
        self.stop_main(gently=step.then == "terminate")

    def stop_main(self, *, gently: bool) -> None:
        """End the main process by our own hand."""
        if self.main is None:
            return
        if gently:
            self.sandbox.signal(self.main, signals.SIGTERM)
            if self.until(self._main_is_over, GRACE):
                return
        self.sandbox.signal(self.main, signals.SIGKILL)
        self.until(self._main_is_over, GRACE)

    def _run_aside(self, step: Step) -> None:
        with programs_at(step.where), self._reads_aside():  # which programs it starts is not known
            code, _ = self.run(step.argv, step.user)
        self.journal.write("ran", argv=list(step.argv), exit_code=code)

    # -- processes

    def _spec(
        self, argv: Sequence[str], user: str, stdout: Capture, stderr: Capture
    ) -> ProcessSpec:
        return ProcessSpec(argv, self.env, stdout.pipe(), stderr.pipe(), WORKSPACE, user)

    def _start(self, spec: ProcessSpec) -> int:
        try:
            return self.sandbox.start(spec)
        finally:
            os.close(spec.stdout)
            os.close(spec.stderr)
            if spec.stdin is not None:
                os.close(spec.stdin)

    def run(
        self,
        argv: Sequence[str],
        user: str = AGENT,
        at_most: float | None = None,
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[int | None, bytes]:
        """Run a program of the harness's own inside and wait for it.

        Returns:
            Its exit code (``None``: a signal, or it was killed after ``at_most`` seconds)
            and what it printed.
        """
        capture = self.aside()
        spec = self._spec(argv, user, capture, capture)
        number = self._start(replace(spec, env={**self.env, **more}))
        if not self.until(lambda: number in self._ended, at_most):
            self.sandbox.signal(number, signals.SIGKILL)
            self.until(lambda: number in self._ended, GRACE)
        ended = self._ended.get(number)
        return (ended.exit_code if ended else None), capture.finish(0.5).data

    def canary(
        self, argv: Sequence[str], more: Mapping[str, str] = MappingProxyType({})
    ) -> tuple[int | None, bytes]:
        """Run a canary, see :class:`~harness.faults.base.Place`."""
        name = os.path.basename(argv[0])[:15]  # noqa: PTH119 - as the shim does it
        try:
            with self._reads_aside(name):
                return self.run(argv, at_most=_CANARY, more=more)
        except CommandNotFound as error:
            return 127, str(error).encode()

    @contextmanager
    def _reads_aside(self, program: str | None = None) -> Iterator[None]:
        """Leave out what is read of the clock meanwhile, by one program or by all of them."""
        before = [self.sandbox.wall_clock_reads(late=late) for late in (False, True)]
        try:
            yield
        finally:
            asides = (self.wall.aside, self.wall.aside_late)
            for late, aside, old in zip((False, True), asides, before, strict=True):
                for name, count in self.sandbox.wall_clock_reads(late=late).items():
                    if program in (None, name):
                        aside[name] += count - old.get(name, 0)

    def place(self) -> Place:
        """What a fault may work on, now."""
        return Place(
            self.sandbox,
            self.services,
            self.main,
            self.next,
            self._starts,
            self.capabilities,
            self.canary,
            self.packets.syns,
            self.addresses,
            self._ended,
            self.wall,
            self.bystanders,
        )

    def close(self) -> None:
        """Let go of what only the main process read from; to be called when it is dead."""
        while self._open:
            os.close(self._open.pop())

    def finish_outputs(self) -> tuple[Output, Output]:
        """What the main process printed; to be asked when every writer is dead."""
        if self._outputs is None:
            self._outputs = self.stdout.finish(_DRAIN), self.stderr.finish(_DRAIN)
        return self._outputs

    # -- waiting

    def pause(self, seconds: float) -> None:
        """Let ``seconds`` go by, everything looked after; the trial's limit is over by now."""
        self.deadline = float("inf")
        self.until(lambda: False, seconds)

    def until(self, done: Callable[[], bool], at_most: float | None = None) -> bool:
        """Wait until ``done``; ``False`` after ``at_most`` seconds.

        Raises:
            DeadlineReached: the trial's limit is over.
            Interrupted: the user stopped the run.
        """
        end = float("inf") if at_most is None else clock.monotonic() + at_most
        while not done():
            if self.stopped():
                raise Interrupted("stopped by the user")
            self.host_clock.look()
            now = clock.monotonic()
            if now >= end:
                return False
            if now >= self.deadline:
                raise DeadlineReached
            self.arming.tick()
            rest = min(end, self.deadline) - clock.monotonic()
            self._hear(min(max(rest, 0.0), self.arming.patience()))
        return True

    def catch_up(self) -> None:
        """Hear of every process that has ended so far, also of a main process just dying."""
        while self._hear(0.0):
            pass
        if self.main is not None and not self._main_is_over():
            live = [p for p in self.sandbox.processes() if p.main == self.main and p.state != "Z"]
            if not live:
                self._hear(GRACE)

    def _hear(self, timeout: float) -> bool:
        ended = self.sandbox.wait(timeout, self.inbox.fd)
        if ended is None:
            return False
        self._ended[ended.process] = ended
        self.journal.write(
            "ended", process=ended.process, exit_code=ended.exit_code, signal=ended.signal
        )
        return True

    def _main_is_over(self) -> bool:
        return self.main in self._ended

    def _note_end(self) -> None:
        """Put down how the main process ended, unless the harness stopped it."""
        if self.main is None or self.ending.by:
            return
        ended = self._ended.get(self.main)
        if ended is None:
            return
        if ended.signal is None:
            self.ending = Ending("exit", ended.exit_code)
            return
        killed = ended.signal == signals.SIGKILL
        out_of_memory = killed and bool(self.sandbox.usage().oom_kills)
        self.ending = Ending("oom" if out_of_memory else "signal", 128 + ended.signal)
