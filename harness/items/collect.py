"""Collects case files: a collector for each file, an item for each trial of its case."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from harness.case.errors import CaseError, CaseErrors
from harness.case.load import load_case
from harness.case.model import Case
from harness.commands.answers import printable
from harness.errors import EvidenceLost, UsageError
from harness.evidence.documents import TrialRecord
from harness.items.floor import FLOOR
from harness.items.session import ItemRun
from harness.items.telling import left_out, told
from harness.judge.exitcode import judge_run
from harness.plan import Variation, variations
from verifiers.verdicts import Verdict

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr

RUN = pytest.StashKey[ItemRun]()
_CASES = pytest.StashKey[dict[str, Path]]()


class CaseFile(pytest.File):
    """A case file."""

    def collect(self) -> Iterator[pytest.Item]:
        """An item for each subject, each combination of ``each`` and each repeat.

        Raises:
            CaseErrors: the file is invalid, or its id is another file's.
        """
        case = self._loaded()
        selection = self.config.stash[RUN].choices.selection
        for variation in variations(case, selection):
            for repeat in range(1, selection.repeat + 1):
                again = repeat if selection.repeat > 1 else None
                name = _name(variation, again)
                yield CaseItem.from_parent(
                    self,
                    name=name,
                    nodeid=f"{self.nodeid}::{name}",  # as --lf will read it from its file
                    variation=variation,
                    repeat=repeat,
                )

    def _loaded(self) -> Case:
        try:
            case = load_case(self.path)
            self._claim(case)
        except CaseErrors:
            self.config.stash[FLOOR].uncollected = True
            raise
        return case

    def _claim(self, case: Case) -> None:
        """Two files with one id would write into the same folder of evidence."""
        seen = self.session.stash.setdefault(_CASES, {})
        if seen.setdefault(case.id, self.path) != self.path:
            message = f"the case id {case.id} is in use already, in {seen[case.id]}"
            raise CaseErrors([CaseError(case.where, message, "give each case an id of its own")])

    def repr_failure(  # type: ignore[override]  # as pytest documents it
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> str | TerminalRepr:
        """Every error of the file, each with its place."""
        if isinstance(excinfo.value, CaseErrors):
            return "\n".join(printable(str(error)) for error in excinfo.value.errors)
        if isinstance(excinfo.value, UsageError):
            return printable(str(excinfo.value))
        return super().repr_failure(excinfo)


def _name(variation: Variation, repeat: int | None) -> str:
    parts = [variation.case.subjects[0].name]
    parts += [variation.kind] if variation.kind != "trial" else []
    parts += [f"m{variation.number}"] if variation.number is not None else []
    parts += [f"r{repeat}"] if repeat is not None else []
    return f"{variation.case.id}[{'-'.join(parts)}]"


class CaseItem(pytest.Item):
    """A trial.

    It is tried as the item's set-up: what could not be tried or observed is an error of the item,
    and no failure of what was tested. What it came to is told as its call.
    """

    def __init__(self, *, variation: Variation, repeat: int, **rest: Any) -> None:
        super().__init__(**rest)
        self._variation = variation
        self._repeat = repeat
        self.record: TrialRecord | None = None
        case = variation.case
        self.extra_keyword_matches.update({case.title, *case.tags})
        for tag in case.tags:
            if _may_be_a_mark(self.config, tag):
                self.add_marker(tag)

    @property
    def _run(self) -> ItemRun:
        return self.config.stash[RUN]

    def setup(self) -> None:
        """Try it; what is unavailable or an error ends here."""
        try:
            self.record = self._run.try_one(self._variation, self._repeat)
        except (UsageError, EvidenceLost) as error:
            pytest.fail(printable(str(error)), pytrace=False)
        self.user_properties += [
            ("shakeout.verdict", self.record.judged.verdict.value),
            ("shakeout.evidence", str(self._run.choices.folder / self.record.dir)),
        ]
        if self._weight(self.record) in {Verdict.UNAVAILABLE, Verdict.ERROR}:
            self._fail(self.record)

    def runtest(self) -> None:
        """Tell what it came to."""
        if self.record is None:
            pytest.fail("the trial was not tried: its set-up was left out", pytrace=False)
        match self._weight(self.record):
            case Verdict.PASSED:
                return
            case None:
                pytest.xfail(left_out(self.record))
            case _:
                self._fail(self.record)

    def _fail(self, record: TrialRecord) -> NoReturn:
        """Fail with what was expected, what was seen, and where the evidence lies."""
        pytest.fail(told(record, self._run.choices.folder), pytrace=False)

    def _weight(self, record: TrialRecord) -> Verdict | None:
        fail_on = self._run.choices.marks.fail_on
        return judge_run([record.outcome], fail_on=fail_on).weights[0]

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the case stands in its file."""
        return self.path, self._variation.case.where.line - 1, self.name


def _may_be_a_mark(config: pytest.Config, tag: str) -> bool:
    """Whether a tag can be a mark: one of a mark that takes arguments would switch something.

    A case with the tag ``skip`` would never be tried.
    """
    lines = config.getini("markers")
    if tag.startswith("_") or any(line.startswith(f"{tag}(") for line in lines):
        return False
    if not any(line.partition(":")[0].strip() == tag for line in lines):
        config.addinivalue_line("markers", f"{tag}: a tag of cases")
    return True
