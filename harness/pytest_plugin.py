"""Runs cases as items of pytest: ``pytest -p harness.pytest_plugin cases/``.

A file is collected where it is a case, each trial of it is an item, and the session is a run: it
has a folder, ``run.json``, and a verdict by the same rules as ``shakeout run``. What was
unavailable, or what kept the run from passing, never ends as a session that passed.
"""

from __future__ import annotations

import pickle
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from harness import __version__
from harness.case.find import SUFFIXES, in_a_run, is_case
from harness.case.suite import NAME as SUITE
from harness.code import code_digest
from harness.commands.answers import printable
from harness.items.choices import add_options, choices
from harness.items.collect import RUN, CaseFile, CaseItem
from harness.items.mounted import Mounted, named
from harness.items.session import ItemRun
from harness.report.table import summary
from verifiers.verdicts import Verdict

_WORDS = {
    Verdict.UNAVAILABLE.value: "UNAVAILABLE",
    Verdict.TIMED_OUT.value: "TIMED OUT",
    Verdict.ERROR.value: "ERROR",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    add_options(parser)


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Refuse where pytest itself would now run a subject's file on the host.

    Of every folder that is named it takes the ``conftest.py`` at once, and those of the folders
    in it whose name begins with test.
    """
    words = [str(word) for word in early_config.known_args_namespace.file_or_dir]
    places = [path for path in named(early_config, words or ["."]) if path.is_dir()]
    mounted = Mounted(places)
    for path in (found for place in places for found in (place, *place.glob("test*"))):
        if (path / "conftest.py").exists() and path in mounted:
            message = f"{path} is mounted by a case, and pytest would run its conftest.py here"
            raise pytest.UsageError(f"{message}; give the folder another name, or --noconftest")


def pytest_configure(config: pytest.Config) -> None:
    """Choose what the whole session shares."""
    code_digest()  # of the files as they were loaded
    run = config.stash[RUN] = ItemRun(choices(config))
    mounted = Mounted(named(config, config.args))
    config.pluginmanager.register(Hooks(run, mounted), "shakeout-hooks")


class Hooks:
    """What is done in a session, with the run that it is."""

    def __init__(self, run: ItemRun, mounted: Mounted) -> None:
        self._run = run
        self._mounted = mounted
        self._untried: list[str] = []

    def pytest_report_header(self) -> str:
        """Say the seed, by which the session can be repeated."""
        return f"shakeout: {__version__}, seed {self._run.choices.selection.seed}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker of xdist what was chosen."""
        node.workerinput["shakeout"] = self._run.choices.for_workers()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, error: object | None) -> None:
        """Note that a worker was lost, and with it what it was trying."""
        self._run.interrupted |= bool(error)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note that the user ended the session; pytest itself does so too, after ``-x``."""
        self._run.interrupted |= not isinstance(excinfo.value, pytest.Session.Interrupted)

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave alone what cases mount: it is the subject's."""
        return True if collection_path in self._mounted else None

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> CaseFile | None:
        """Collect the files that were named, and among others those that are cases."""
        if file_path.suffix not in SUFFIXES or file_path.name == SUITE:
            return None
        named = parent.session.isinitpath(file_path)
        if not named and (in_a_run(file_path) or not is_case(file_path)):
            return None
        return CaseFile.from_parent(parent, path=file_path)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Have the report carry the verdict, and from a worker the record of the trial."""
        report = yield
        if isinstance(item, CaseItem) and item.record is None and call.when == "teardown":
            vars(report)["shakeout_untried"] = True
        if isinstance(item, CaseItem) and item.record is not None:
            vars(report)["shakeout_verdict"] = item.record.judged.verdict.value
            if call.when == "setup" and self._run.choices.worker:
                vars(report)["shakeout_record"] = pickle.dumps(item.record)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Hear of a trial that a worker tried, and of what nobody tried."""
        if getattr(report, "shakeout_untried", False):
            self._untried.append(report.nodeid)
        if data := getattr(report, "shakeout_record", None):
            self._run.heard(pickle.loads(data))  # noqa: S301 - of a process of this session

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Say in a word what kept a trial from passing."""
        word = _WORDS.get(getattr(report, "shakeout_verdict", ""))
        if word is None or not report.failed:
            return None
        return ("error", "E", word) if report.when == "setup" else ("failed", "F", word)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Judge the run; a session is no better than its run."""
        self._run.close()
        if self._run.choices.worker:
            return
        document = self._run.conclude()
        good = not self._untried and not (document and document["exit"])
        if not good and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was not tried, what the run came to, and where its evidence lies."""
        for name in self._untried:
            terminalreporter.write_line(f"selected, and not tried: {printable(name)}", red=True)
        if (document := self._run.document) is None:
            return
        terminalreporter.section("shakeout")
        for line in summary(document):
            terminalreporter.write_line(printable(line.plain))
        terminalreporter.write_line(f"evidence: {self._run.choices.folder}")
