"""The cases of a pytest session as one run: its trials, its folder and its record.

Each process of the session keeps up what its own trials share. The first one, which under xdist
tries nothing itself, hears of every trial and makes the record of all.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from sys import argv

from harness.conclude import LOG, conclude
from harness.errors import UsageError
from harness.evidence.documents import Document, TrialRecord
from harness.housekeeping import sweep
from harness.items.choices import Choices
from harness.journal import Journal
from harness.outdir import link_latest, refuse_shown, refuse_shown_state
from harness.plan import Trial, Variation, trials_of
from harness.record import Course, trial_record
from harness.run import probe
from harness.sealing import attach
from harness.shared import Shared
from sandboxes import clock
from verifiers.seals.sealer import Sealer


class ItemRun:
    """One process's part in the run that a session is."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.document: Document | None = None
        self._process = os.getpid()
        self._records: dict[str, TrialRecord] = {}
        self._started = clock.stamp()
        self._stopped = threading.Event()
        self._stack = ExitStack()
        self._log: Journal | None = None
        self._sealer: Sealer | None = None
        self._shared: Shared | None = None
        self._pool: ThreadPoolExecutor | None = None

    def trial(self, variation: Variation, repeat: int) -> Trial:
        """The trial of a variation on this machine."""
        selection = self.choices.selection
        trials = trials_of(variation, probe(selection.backend), selection)
        return next(trial for trial in trials if trial.repeat == repeat)

    def try_one(self, variation: Variation, repeat: int) -> TrialRecord:
        """Run a trial to its verdict; where the user interrupts, it is taken down in order.

        Raises:
            UsageError: its subject would be shown the folder of the run, or the key that seals; or
                another plugin tries it a second time, or in a process that this one cannot hear.
            EvidenceLost: the folder of the run cannot be written.
        """
        if os.getpid() != self._process:
            raise UsageError("a forked process cannot tell of its trial; use -n instead")
        refuse_shown(str(self.choices.folder), variation.case.workspace.mounts)
        refuse_shown_state(variation.case.workspace.mounts)
        shared, pool = self._opened()
        trial = self.trial(variation, repeat)
        if trial.id in self._records:
            raise UsageError("it was tried already; --shakeout-repeat tries each trial again")
        shared.open_site(trial)
        try:
            future = pool.submit(self._tried, shared, trial)
            wait([future])
        except BaseException:  # Ctrl-C at whatever moment, or a time limit of pytest's
            self._stopped.set()
            pool.submit(int).result()  # the pool has one thread, so the trial has ended then
            raise
        return future.result()

    def _tried(self, shared: Shared, trial: Trial) -> TrialRecord:
        """Run a trial and take it into the run, whoever still waits for it."""
        record = trial_record(trial, shared.try_one(trial), self.choices.marks)
        self.heard(record)
        return record

    def heard(self, record: TrialRecord) -> None:
        """Take a trial, of this process or another, into the run."""
        self._records[record.id] = record

    def close(self) -> None:
        """Take down what trials shared."""
        self._stack.close()
        if self.choices.worker and self._log is not None:
            self._log.close()

    def conclude(self, *, interrupted: bool) -> Document | None:
        """Make the record of the run; ``None`` where no case was tried."""
        if not self._records:
            return None
        course = Course(
            run=self.choices.run,
            seed=self.choices.selection.seed,
            started=self._started,
            selected=len({record.case for record in self._records.values()}),
            interrupted=interrupted,
        )
        records = [self._records[name] for name in sorted(self._records)]
        log = self._opened_log()
        self.document = conclude(self._attached(), log, course, records, self.choices.marks)
        return self.document

    def _opened(self) -> tuple[Shared, ThreadPoolExecutor]:
        """What trials share, opened with the first of them."""
        if self._shared is None or self._pool is None:
            sweep()
            choices, stopped = self.choices, self._stopped.is_set
            log = self._opened_log()
            of = (choices.run, choices.folder, log, stopped, self._attached())
            shared = Shared(*of, inject=choices.inject)
            self._shared = self._stack.enter_context(shared)
            self._pool = self._stack.enter_context(ThreadPoolExecutor(1, "shakeout-trial"))
        return self._shared, self._pool

    def _attached(self) -> Sealer:
        """What seals the run, in whichever process it began."""
        if self._sealer is None:
            self._sealer = attach(self.choices.run, self.choices.folder)
        return self._sealer

    def _opened_log(self) -> Journal:
        if self._log is None:
            choices = self.choices
            choices.folder.mkdir(parents=True, exist_ok=True)
            if choices.default and not choices.worker:
                link_latest(choices.folder)
            name = f"log.{choices.worker}.jsonl" if choices.worker else LOG
            self._log = Journal(choices.folder / name)
            asked = choices.marks.on_record()
            seed = choices.selection.seed
            self._log.write("started", run=choices.run, argv=argv[1:], seed=seed, **asked)
        return self._log
