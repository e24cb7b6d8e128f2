"""What all trials of a process share, up around them and down after the last."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.journal import Heard, Journal
from harness.live.realhome import observed_home
from harness.live.scene import Bench
from harness.plan import Trial
from harness.services.host import ServiceHost
from harness.trial import Tried, run_trial
from sandboxes import clock
from sandboxes.base import Site
from sandboxes.errors import SandboxError
from sandboxes.registry import BACKENDS
from verifiers.seals.sealer import Sealer


class Shared:
    """The witness of the home, the services' host, and a site of each backend that is used.

    A context manager. Trials are tried from any thread, once :meth:`open_site` was called for
    their backend.
    """

    def __init__(
        self,
        run: str,
        folder: Path,
        log: Journal,
        stopped: Callable[[], bool],
        sealer: Sealer,
        *,
        inject: bool = True,
    ) -> None:
        """Open nothing yet.

        Args:
            run: id of the run.
            folder: of the run.
            log: of the run, or of this process's part in it.
            stopped: whether the user wants the run to end.
            sealer: of the run, attached.
            inject: whether faults are armed.
        """
        self._run = run
        self._log = log
        self._sites: dict[str, Site | SandboxError] = {}
        self._stack = ExitStack()
        host = ServiceHost()
        self._bench = Bench(folder, self._sites, host, sealer, inject=inject, stopped=stopped)

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            opened.enter_context(observed_home(self._bench.folder, self._log))
            opened.enter_context(self._bench.host)
            self._stack = opened.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def open_site(self, trial: Trial) -> None:
        """Get the backend of a trial ready; an error goes to the trials that want it."""
        name = trial.backend
        if not name or trial.lacks or name in self._sites:
            return
        try:
            self._sites[name] = self._stack.enter_context(BACKENDS[name].site(self._run))
        except SandboxError as error:
            self._sites[name] = error

    def try_one(self, trial: Trial, heard: Heard | None = None) -> Tried:
        """Run a trial to its verdict; ``heard`` is told of each event of its journal."""
        self._log.write("begins", trial=trial.id)
        begun = clock.monotonic()
        judged = run_trial(trial, self._bench, heard)
        tried = Tried(judged, clock.monotonic() - begun)
        self._log.write("ends", trial=trial.id, verdict=judged.verdict.value)
        return tried
