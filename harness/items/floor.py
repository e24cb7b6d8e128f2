"""The best that a session can end with, whatever other plugins make of it.

Any plugin of pytest can swallow an item, end the session, drop what was collected, or set the exit
code. So what was selected is counted here, and what was tried, and the exit code of the command
is no better than they allow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import pytest

_SELECTED, _UNCOLLECTED = "shakeout_selected", "shakeout_uncollected"
_DESELECTED = "shakeout_deselected"


class Floor:
    """Counts trials by the ids of their items, of which two can have the same.

    Attributes:
        interrupted: whether the session, or a process of it, was ended before its end.
        uncollected: whether something could not be collected, here or in another process.
        deselected: how many trials were left out, and said to be.
    """

    def __init__(self) -> None:
        self.interrupted = False
        self._least: int = pytest.ExitCode.OK
        self.uncollected = False
        self.deselected = 0
        self._items: dict[int, pytest.Item] = {}
        self._elsewhere: Counter[str] = Counter()
        self._tried: Counter[str] = Counter()

    @property
    def untried(self) -> list[str]:
        """Ids of what was selected, here or in another process, and not tried."""
        selected = self._elsewhere | Counter(item.nodeid for item in self._items.values())
        return list((selected - self._tried).elements())

    def collected(self, item: pytest.Item) -> None:
        """Count an item that is a trial."""
        self._items[id(item)] = item

    def tried(self, nodeid: str) -> None:
        """Count a trial that was told of."""
        self._tried[nodeid] += 1

    def settle(self, session: pytest.Session, *, good: bool) -> None:
        """Decide what the session can end with, at its end; ``good`` is whether its run was."""
        output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_SELECTED] = [item.nodeid for item in self._items.values()]
            output[_UNCOLLECTED] = self.uncollected
            output[_DESELECTED] = self.deselected
            return
        if session.config.option.collectonly:
            return
        if self.interrupted:
            self._least = pytest.ExitCode.INTERRUPTED
        elif not good or self.uncollected or self.untried:
            self._least = pytest.ExitCode.TESTS_FAILED
        elif not session.testscollected:
            self._least = pytest.ExitCode.NO_TESTS_COLLECTED
        session.exitstatus = session.exitstatus or self._least

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_cmdline_main(self) -> Generator[None, int | None, int | None]:
        """Let the command end with nothing better."""
        result = yield
        return result or self._least

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note that the session was ended; pytest itself does so too, after ``-x``."""
        if not isinstance(excinfo.value, pytest.Session.Interrupted):
            self.interrupted = True
            self._least = pytest.ExitCode.INTERRUPTED  # also before there is a session to settle

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Forget what was left out, and said to be."""
        for item in items:
            self.deselected += self._items.pop(id(item), None) is not None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note that something could not be collected."""
        self.uncollected |= report.failed

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object | None) -> None:
        """Hear what a worker selected, or that it was lost, and with it what it was trying."""
        self.interrupted |= bool(error)
        output: Mapping[str, Any] = getattr(node, "workeroutput", None) or {}
        self._elsewhere |= Counter(output.get(_SELECTED, ()))
        self.uncollected |= output.get(_UNCOLLECTED, False)
        self.deselected = max(
            self.deselected, output.get(_DESELECTED, 0)
        )  # each leaves out the same


FLOOR = pytest.StashKey[Floor]()
