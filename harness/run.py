"""A run: many trials, in parallel, and what becomes of the machine around them.

The user's Ctrl-C, once, ends the run in order: what runs is stopped, taken down and destroyed,
what has not begun is reported as not begun.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from harness.journal import Heard, Journal
from harness.judge.judging import TrialVerdict
from harness.plan import Trial
from harness.progress import PHASES, Progress
from harness.shared import Shared
from harness.trial import Tried
from sandboxes.base import Probe
from sandboxes.registry import BACKENDS
from verifiers.seals.sealer import Sealer

_LOOK = 0.2
_INSISTS = 5


@dataclass(slots=True)
class Interrupt:
    """Whether the user wants the run to end."""

    event: threading.Event = field(default_factory=threading.Event)
    heard: int = 0

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Take SIGINT and SIGTERM as a wish to end, which takes a moment; a fifth one insists."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            for number in before:
                signal.signal(number, self._note)
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - a handler
        self.heard += 1
        if self.heard >= _INSISTS:
            raise KeyboardInterrupt
        self.event.set()


class _Probes(Mapping[str, Probe]):
    """What backends find, looked at when it is asked for: one that is not needed costs nothing."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def __getitem__(self, name: str) -> Probe:
        return BACKENDS[name].probe()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def probe(wanted: str) -> Mapping[str, Probe]:
    """What the backends find, in order of preference; only ``wanted`` unless it is ``auto``."""
    return _Probes([name for name in BACKENDS if wanted in ("auto", name)])


@dataclass(frozen=True, slots=True)
class Settings:
    """How a run goes.

    Attributes:
        run: its id.
        folder: empty, absolute.
        parallel: trials at a time.
        inject: whether faults are armed.
        sealer: of the run, attached.
        label: what to say of a trial beside its verdict, such as ``known``.
    """

    run: str
    folder: Path
    parallel: int
    inject: bool
    sealer: Sealer
    label: Callable[[Trial, TrialVerdict], str]


def run_trials(
    trials: Sequence[Trial],
    settings: Settings,
    log: Journal,
    progress: Progress,
    interrupt: Interrupt,
) -> Mapping[str, Tried]:
    """Run the trials; gives what became of each that began, by its id."""
    tried: dict[str, Tried] = {}
    stopped = interrupt.event.is_set

    def heard(trial: str) -> Heard:
        return lambda event: progress.reaches(trial, PHASES[event]) if event in PHASES else None

    def one(trial: Trial) -> None:
        if stopped():
            return
        progress.begins(trial.id)
        tried[trial.id] = outcome = shared.try_one(trial, heard(trial.id))
        judged = outcome.judged
        progress.ends(trial.id, judged.verdict, judged.message, settings.label(trial, judged))

    with interrupt.caught(), ExitStack() as stack:
        of = (settings.run, settings.folder, log, stopped, settings.sealer)
        shared = stack.enter_context(Shared(*of, inject=settings.inject))
        for trial in trials:
            shared.open_site(trial)
        pool = stack.enter_context(ThreadPoolExecutor(settings.parallel, "shakeout-trial"))
        try:
            pending = {pool.submit(one, trial) for trial in trials}
            while pending:
                done, pending = wait(pending, _LOOK, FIRST_COMPLETED)
                for future in done:
                    future.result()
        except BaseException:
            interrupt.event.set()  # what runs is stopped before anything is taken down
            raise
    return tried
