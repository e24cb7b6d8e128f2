"""Runs cases as items of pytest: ``pytest -p harness.pytest_plugin cases/``.

A file is collected where it is a case, each trial of it is an item, and the session is a run: it
has a folder, ``run.json``, and a verdict by the same rules as ``shakeout run``. What was
unavailable, or what kept the run from passing, never ends as a session that passed.
"""

from __future__ import annotations

import pickle
from collections.abc import Generator, Iterator
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
from harness.items.floor import FLOOR, Floor
from harness.items.mounted import Mounted, guard
from harness.items.session import ItemRun
from harness.items.telling import none_tried, not_passed
from harness.report.table import summary
from verifiers.verdicts import Verdict

_MOUNTED = pytest.StashKey[Mounted]()
_NAMED = 10
_WORDS = {
    Verdict.UNAVAILABLE.value: "UNAVAILABLE",
    Verdict.TIMED_OUT.value: "TIMED OUT",
    Verdict.ERROR.value: "ERROR",
}


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the options, and be there before anything of the session's folders is run."""
    add_options(parser)
    config: Any = pluginmanager.get_plugin("pytestconfig")
    floor, mounted = Floor(), Mounted(config)
    config.stash[FLOOR], config.stash[_MOUNTED] = floor, mounted
    for plugin in (floor, mounted):
        pluginmanager.register(plugin)
    guard(pluginmanager, mounted)


def pytest_configure(config: pytest.Config) -> None:
    """Choose what the whole session shares."""
    code_digest()  # of the files as they were loaded
    run = config.stash[RUN] = ItemRun(choices(config))
    config.pluginmanager.register(Hooks(run, config.stash[FLOOR], config.stash[_MOUNTED]))


class Hooks:
    """What is done in a session, with the run that it is."""

    def __init__(self, run: ItemRun, floor: Floor, mounted: Mounted) -> None:
        self._run = run
        self._floor = floor
        self._mounted = mounted
        self._ended = False
        self._code = int(pytest.ExitCode.OK)

    def pytest_report_header(self) -> str:
        """Say the seed, by which the session can be repeated."""
        return f"shakeout: {__version__}, seed {self._run.choices.selection.seed}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker of xdist what was chosen."""
        node.workerinput["shakeout"] = self._run.choices.for_workers()

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> CaseFile | None:
        """Collect the files that were named, and among others those that are cases."""
        if file_path.suffix not in SUFFIXES or file_path.name == SUITE:
            return None
        named = parent.session.isinitpath(file_path)
        if not named and (in_a_run(file_path) or not is_case(file_path)):
            return None
        return CaseFile.from_parent(parent, path=file_path)

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Expect of each trial that it is tried."""
        if isinstance(item, CaseItem):
            self._floor.collected(item)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Have the report carry the verdict, and from a worker the record of the trial."""
        report = yield
        if isinstance(item, CaseItem) and item.record is not None:
            vars(report)["shakeout_verdict"] = item.record.judged.verdict.value
            if call.when == "setup" and self._run.choices.worker:
                vars(report)["shakeout_record"] = pickle.dumps(item.record)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Hear of a trial that was tried, and from a worker its record."""
        if report.when == "setup" and getattr(report, "shakeout_verdict", None):
            self._floor.tried(report.nodeid)
        if data := getattr(report, "shakeout_record", None):
            self._run.heard(pickle.loads(data))  # noqa: S301 - of a process of this session

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Say in a word what kept a trial from passing."""
        word = _WORDS.get(getattr(report, "shakeout_verdict", ""))
        if word is None or not report.failed:
            return None
        return ("error", "E", word) if report.when == "setup" else ("failed", "F", word)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None]:
        """Judge the run before anyone else ends; a session is no better than its run."""
        ended = {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}
        self._ended = session.exitstatus in ended and not session.config.option.collectonly
        self._run.close()
        worker = self._run.choices.worker
        document = None if worker else self._run.conclude(interrupted=self._floor.interrupted)
        good = not self._mounted.unclear and not (document and document["exit"])
        self._floor.settle(session, good=good)
        self._code = int(session.exitstatus)
        yield

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was not tried, what the run came to, and where its evidence lies."""
        for left_out in self._left_out():
            terminalreporter.write_line(printable(left_out), red=True)
        if (document := self._run.document) is None:
            if self._code == pytest.ExitCode.NO_TESTS_COLLECTED:
                why = none_tried(self._code, self._floor.deselected)
                terminalreporter.write_line(why, red=True)
            return
        terminalreporter.section("shakeout")
        for line in summary(document):
            terminalreporter.write_line(printable(line.plain))
        if why := not_passed(self._code, document):
            terminalreporter.write_line(printable(why), red=True)
        terminalreporter.write_line(f"evidence: {self._run.choices.folder}")

    def _left_out(self) -> Iterator[str]:
        """What of the session was not done, in lines."""
        if self._mounted.unclear:
            yield "the session is not passed: what these files mount cannot be told, so mend or move them"
        yield from self._mounted.unclear
        if self._mounted.left:
            yield f"left alone, since a case mounts them: {self._mounted.left} files with tests"
        untried = self._floor.untried if self._ended else []
        yield from (f"selected, and not tried: {name}" for name in untried[:_NAMED])
        if more := untried[_NAMED:]:
            yield f"selected, and not tried: {len(more)} more"
