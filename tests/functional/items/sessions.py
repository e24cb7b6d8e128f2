"""A folder of cases, and pytest on it."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from typing import Any

import pytest

import harness.pytest_plugin  # noqa: F401 - so that it stays, over sessions in this process

HOLDS = '{file: {path: report.txt, equals: "42\\n"}}'
#: Prints what a terminal would obey.
BREAKS = "echo 41 > report.txt; printf 'all \\033[31mis \\342\\200\\256well'"
KNOWN = """
known:
  - {subject: command, version: ">=0", breaks: [file], because: theirs, since: 2031-01-02}
"""
QUARANTINE = "quarantine: {owner: ops, reason: it races, until: 2999-01-01}"


def case(name: str, command: str, more: str = "", expect: str = HOLDS) -> str:
    return (
        f"case: {name}\ntitle: Writes a report\n"
        f"subject: {{command: [sh, -c, {json.dumps(command)}]}}\n"
        f"expect: [{expect}]\n{textwrap.dedent(more)}\n"
    )


GOOD = case("good", "echo 42 > report.txt", "tags: [recovery, skip]")
CASES = {
    "good": GOOD,
    "bad": case("bad", BREAKS, expect=f"{HOLDS}, {{output: {{lacks: well}}}}"),
    "lacks": "case: lacks\nsubject: {command: [no-such-program]}\nexpect: [{exit: 0}]\n",
    "hangs": case("hangs", "sleep 60", "sandbox: {limits: {seconds: 1}}"),
    "known": case("known", "echo 41 > report.txt", KNOWN),
    "fixed": case("fixed", "echo 42 > report.txt", KNOWN),
    "aside": case("aside", "echo 41 > report.txt", QUARANTINE),
}


@dataclass
class Session:
    """A folder of cases, and pytest on them."""

    pytester: pytest.Pytester

    def write(self, **cases: str) -> None:
        folder = self.pytester.path / "cases"
        folder.mkdir(exist_ok=True)
        for name, text in cases.items():
            (folder / f"{name}.yaml").write_text(text)

    def __call__(self, *words: str) -> pytest.RunResult:
        arguments = ("-p", "harness.pytest_plugin", *words, "cases")
        return self.pytester.runpytest_subprocess(*arguments, timeout=100)

    @property
    def run(self) -> Any:
        return json.loads((self.pytester.path / "out" / "latest" / "run.json").read_text())
