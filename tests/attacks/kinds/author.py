"""The author of a case: one that cannot fail, or in which nothing is tried."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.case import grammar, load
from harness.case.errors import CaseErrors
from harness.case.load import load_case
from harness.case.reading import Reading
from harness.case.validate import flaws
from harness.judge.known import KnownMark, Mark
from tests.attacks.form import Attack, Case, Weaken, both, by_exit_code, python, replaced, wrapped

_FAULT = {"id": "hit", "fault": "model.status", "with": {"status": 500}}
_ZERO = [{"exit": 0}]
_KNOWN = {"subject": "command", "because": "b", "since": "s"}
GOOD = {"case": "good", "title": "good", "subject": {"command": ["true"]}, "expect": _ZERO}


def lets_pass(words: str) -> Weaken:
    """A loader that does not mind one thing."""

    def case_of(doc, path, tables):
        errors = [error for error in doc.errors if words not in error.message]
        r = Reading(doc, tables, path.parent, errors)
        check = load._case_validator(tables)
        r.flawed(flaw for flaw in flaws(check, doc.data) if words not in flaw.message)
        case = load._case(r, path)
        if left := [error for error in r.errors if words not in error.message]:
            raise CaseErrors(left)
        return case

    return replaced("harness.case.load:case_of", case_of)


def _forgets(words: str):
    """A reader who tells everything but one thing."""
    return lambda fail: (
        lambda self, path, message, *hint, **how: (
            None if words in message else fail(self, path, message, *hint, **how)
        )
    )


def _facts(**known: Any) -> Weaken:
    """A judge who takes some facts for granted."""
    return wrapped(
        "harness.judge.facts:Facts", lambda made: lambda **facts: made(**{**facts, **known})
    )


def _case(*words: str, **parts: Any) -> Case:
    return {"subject": {"command": [*(words or ("echo", "hi"))]}, "expect": _ZERO, **parts}


def _attack(
    name: str,
    does: str,
    case: Case,
    ends: str,
    reason: str,
    defence: str,
    weaken: Weaken,
    **more: Any,
) -> Attack:
    return Attack(
        name, does, case, ends, reason, defence, weaken, alone=True, reads=by_exit_code, **more
    )


def _lay(**files: Any):
    def lay(folder: Path) -> None:
        for name, case in files.items():
            (folder / f"{name}.yaml").write_text(json.dumps(case))

    return lay


def _suite_of_links(folder: Path) -> None:
    (folder / "good.yaml").write_text(json.dumps(GOOD))
    (folder / "other.yaml").symlink_to("good.yaml")
    checks = [
        {"id": f"C{n}", "title": name, "case": f"{name}.yaml"}
        for n, name in enumerate(("good", "other"))
    ]
    (folder / "suite.yaml").write_text(json.dumps({"suite": "s", "title": "t", "checks": checks}))


def _of_agents(folder: Path) -> None:
    (folder / "agents").mkdir()
    careless = {"name": "careless", "breaks": ["exit"], "replace_subject": {"command": ["false"]}}
    (folder / "agents" / "good.yaml").write_text(json.dumps({**GOOD, "sabotage": [careless]}))


def _shown(folder: Path) -> None:
    (folder / "m").mkdir()


READS_THE_CASE = """
import glob, re
for path in glob.glob("/opt/m/out/trials/*/case.yaml"):
    text = open(path).read()
    open("report.txt", "w").write(re.search("equals: '?([0-9]+)", text)[1])
"""
_EVERY_CODE = [{"exit": list(range(256))}]
_SUITE = {"suite": "s", "title": "t"}
_CHECKS = [{"id": "C0", "title": "t", "case": "good.yaml"}, {"id": "C1", "title": "t"}]

ATTACKS = (
    _attack(
        "nothing-expected",
        "expects nothing",
        _case(expect=[]),
        "unavailable",
        "nothing-expected",
        "a verdict needs an expectation of the case's own",
        wrapped(
            "harness.judge.judging:_grounds",
            lambda grounds: (
                lambda *facts: (
                    ground for ground in grounds(*facts) if ground.reason != "nothing-expected"
                )
            ),
        ),
    ),
    _attack(
        "pattern-found-in-everything",
        "expects output to match a pattern that is found in every text",
        _case(expect=[{"output": {"matches": "(all fine)?"}}]),
        "refused",
        "is found in every text",
        "a pattern that must be found may not be found in nothing",
        replaced("harness.oracles.output:wanted", grammar.regex),
    ),
    _attack(
        "contents-of-any-kind",
        "expects a file to match a pattern that is found in every text",
        _case("touch", "a.txt", expect=[{"file": {"path": "a.txt", "matches": ".*"}}]),
        "refused",
        "is found in every text",
        "a pattern that must be found may not be found in nothing",
        replaced("harness.oracles.file:wanted", grammar.regex),
    ),
    _attack(
        "every-path-may-change",
        "allows every path to change in every way",
        _case(
            "rm",
            "a.txt",
            expect=[{"files": {"changed_only": ["**"]}}],
            workspace={"files": {"a.txt": ""}},
        ),
        "refused",
        "nothing could break it",
        "globs that name all paths bound nothing, and are not taken",
        replaced("harness.oracles.files:_can_break", lambda params: None),
    ),
    _attack(
        "at-least-none",
        "expects at least no request",
        _case(expect=[{"requests": {"at_least": 0}}]),
        "refused",
        "nothing could break it",
        "a lower bound is 1 or more",
        replaced("harness.oracles.requests:counting.bounds", lambda value: {"at_least": 0}),
    ),
    _attack(
        "every-exit-code",
        "expects any of all the exit codes that there are",
        _case("false", expect=_EVERY_CODE),
        "refused",
        "at most 255",
        "one exit code at least must be wrong",
        lets_pass("at most 255"),
    ),
    _attack(
        "written-twice",
        "writes what is expected a second time, which some readers let win",
        '{"case": "twice", "title": "t", "subject": {"command": ["false"]},\n'
        '"expect": [{"exit": 1}],\n"expect": [{"exit": 0}]}',
        "refused",
        "a second time",
        "a key that stands twice is an error",
        lets_pass("a second time"),
    ),
    _attack(
        "misspelt",
        "misspells the oracle that would find it out",
        _case("false", expect=[{"home": "untouched"}, {"exti": 0}]),
        "refused",
        "unknown oracle",
        "whatever is not known is an error",
        lets_pass("unknown oracle"),
    ),
    _attack(
        "trigger-that-never-comes",
        "waits with its fault for a request that nobody makes",
        _case(faults=[{**_FAULT, "when": {"request": 99}}]),
        "unavailable",
        "fault-not-delivered",
        "a fault that has not landed has tried nothing",
        _facts(faults=()),
    ),
    _attack(
        "injection-off",
        "runs its case with injection switched off",
        _case(faults=[_FAULT]),
        "unavailable",
        "fault-not-delivered",
        "a fault that has not landed has tried nothing",
        _facts(faults=()),
        argv=["--no-inject"],
    ),
    _attack(
        "never-provoked",
        "declares a provocation that does not happen",
        _case(stimulus=[{"requests": {"at_least": 1}}]),
        "unavailable",
        "not-provoked",
        "a provocation must have been seen",
        _facts(stimulus=()),
    ),
    _attack(
        "script-left-over",
        "has a model with something to say whom nobody asks",
        _case(script=[{"run": "rm -rf ~"}, {"say": "Done."}]),
        "unavailable",
        "script-not-finished",
        "a script that was not played to its end has tried nothing",
        _facts(left=0),
    ),
    _attack(
        "nothing-selected",
        "selects no case at all",
        _case(),
        "unavailable",
        "nothing-ran",
        "a run of nothing is no success",
        replaced("harness.judge.exitcode:NOTHING_COUNTS", 0),
        argv=["-k", "no-such-case"],
    ),
    _attack(
        "in-quarantine-for-ever",
        "puts the only case into quarantine until the end of time",
        _case("false", quarantine={"owner": "o", "reason": "r", "until": "9999-12-31"}),
        "unavailable",
        "broke:exit",
        "a run in which nothing counts is no success",
        replaced("harness.judge.exitcode:NOTHING_COUNTS", 0),
    ),
    _attack(
        "known-of-another-version",
        "has a defect known of versions that are not these",
        _case("false", known=[{**_KNOWN, "version": ">=99", "breaks": ["exit"]}]),
        "failed",
        "broke:exit",
        "a known defect is one of the versions that it names",
        replaced("harness.judge.known:version_within", lambda version, versions: True),
    ),
    _attack(
        "known-and-something-else",
        "breaks more than its known defect says",
        _case(
            "sh",
            "-c",
            "rm ~/.profile; exit 1",
            expect=[*_ZERO, {"home": "untouched"}],
            known=[{**_KNOWN, "version": ">=0", "breaks": ["exit"]}],
        ),
        "failed",
        "broke:home",
        "a known defect covers what it names and nothing else",
        replaced(
            "harness.record:known_mark",
            lambda judged, kind, entries, *_: KnownMark(Mark.KNOWN, entries) if entries else None,
        ),
    ),
    _attack(
        "known-to-hang",
        "is stopped by the limit, and has a known defect",
        _case(
            "sleep",
            "60",
            sandbox={"limits": {"seconds": 1}},
            known=[{**_KNOWN, "version": ">=0", "breaks": ["exit"]}],
        ),
        "failed",
        "limit",
        "no known defect covers a time-out",
        both(
            replaced(
                "harness.record:known_mark",
                lambda judged, kind, entries, *_: KnownMark(Mark.KNOWN, entries),
            ),
            replaced("harness.judge.exitcode:_beside_the_breaks", lambda outcome: None),
        ),
    ),
    _attack(
        "leak-under-another-name",
        "calls an expectation like the harness's own and has it known",
        _case(
            "sh",
            "-c",
            "echo $TOKEN; exit 1",
            secrets=["TOKEN"],
            expect=[{"id": "secrets", "exit": 0}],
            known=[{**_KNOWN, "version": ">=0", "breaks": ["secrets"]}],
        ),
        "refused",
        "belongs to the harness",
        "names that the harness judges by are its own",
        lets_pass("belongs to the harness"),
    ),
    _attack(
        "same-id-twice",
        "has a second case of the same id, which passes",
        _case("false", case="good"),
        "refused",
        "in use already",
        "ids are unique in a run",
        replaced(
            "harness.commands.run:load_cases",
            lambda files: tuple({case.id: case for case in map(load_case, files)}.values()),
        ),
        lay=_lay(good=GOOD, bad={**GOOD, "subject": {"command": ["false"]}}),
        paths=["bad.yaml", "good.yaml"],
    ),
    _attack(
        "suite-of-one-case",
        "lets two checks of a suite have one case, the second by a link",
        _case(),
        "refused",
        "a second time",
        "each check has a case of its own, whatever it is called",
        wrapped("harness.case.suite:Reading.fail", _forgets("a second time")),
        lay=_suite_of_links,
        paths=["suite.yaml"],
    ),
    _attack(
        "suite-half-written",
        "has a suite of which one check is not written",
        _case(),
        "unavailable",
        "not-written",
        "a check without a case is reported, and counts",
        replaced("harness.commands.run:missing", lambda found, args: ()),
        lay=_lay(good=GOOD, suite={**_SUITE, "checks": _CHECKS}),
        paths=["suite.yaml"],
    ),
    _attack(
        "suite-without-teeth",
        "has a suite with a case that no sabotage is known to turn",
        _case(),
        "refused",
        "has no sabotage",
        "a case of the suite needs a sabotage, and `check` says so",
        replaced("harness.case.find:Found.of_suites", frozenset[Path]()),
        lay=_lay(good=GOOD, suite={**_SUITE, "checks": _CHECKS[:1]}),
        paths=["suite.yaml"],
        verb="check",
    ),
    _attack(
        "control-like-the-case",
        "has no fault, and a control that is the case once more",
        _case(),
        "refused",
        "no script of its own for its clean control",
        "a case without faults says what its control does instead",
        replaced("harness.commands.check:_controlled", lambda case: True),
        lay=_of_agents,
        paths=["agents"],
        verb="check",
    ),
    _attack(
        "evidence-in-the-mount",
        "has the run's folder lie in what its subject is shown, who reads there what is expected",
        python(
            READS_THE_CASE,
            [{"file": {"path": "report.txt", "equals": "42"}}],
            workspace={"mount": {"./m": "/opt/m"}},
        ),
        "refused",
        "could read what is expected of it",
        "no run's folder lies in a mount; and what is mounted may not change meanwhile",
        both(
            replaced("harness.commands.run:refuse_shown", lambda wanted, shown: None),
            replaced("harness.subjects.command:tree.digest", lambda source: ""),
        ),
        lay=_shown,
        argv=["--out", "m/out"],
    ),
)
