"""A folder of cases with a small Python subject, and ``shakeout teeth`` on it."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sandboxes.registry import BACKENDS
from tests.functional.verbs.shakeout import Ended, shakeout

TOP = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((TOP / "cases" / "schema" / "teeth.schema.json").read_text())

RULES = """\
import enum
from types import MappingProxyType

class Kind(enum.Enum):
    RATE = "rate_limit"

TABLE = {"rate_limit": 1, "network": 2}
FROZEN = MappingProxyType({Kind.RATE: 1})
LIMIT = 3

class Guard:
    def allows(self, what):
        return what == "good"
"""
AGENT = """\
import subprocess
import sys

if len(sys.argv) < 2:
    sys.exit(subprocess.run([sys.executable, __file__, "child"]).returncode)
sys.path.insert(0, "/opt/lib")
from rules import FROZEN, LIMIT, TABLE, Guard

print("table", *sorted(TABLE))
print("frozen", len(FROZEN))
print("limit", LIMIT)
print("bad", Guard().allows("bad"))
print("data", open("/opt/lib/data.txt").read().strip())
print("mine", open("mine.txt").read().strip())
print("config", open("/home/agent/.agent").read().strip())
"""
EXPECTED = {
    "table": "^table network rate_limit$",
    "frozen": "^frozen 1$",
    "limit": "^limit 3$",
    "bad": "^bad False$",
    "data": "^data plain$",
    "mine": "^mine own$",
    "config": "^config set$",
}


@dataclass(frozen=True)
class Bench:
    folder: Path

    def case(self, name: str, sabotage: str, more: str = "", task: str = "") -> None:
        """A case that expects all that the agent prints."""
        expect = "".join(
            f"  - {{id: {key}, output: {{stream: stdout, matches: '{value}'}}}}\n"
            for key, value in EXPECTED.items()
        )
        text = (
            f"case: {name}\nsubject: {{command: [python3, /opt/lib/agent.py]}}\ntask: {task or name}\n"
            "home: {.agent: set}\n"
            "workspace: {files: {mine.txt: own}, mount: {./lib: /opt/lib}}\n"
            f"expect:\n{expect}{more}"
        )
        text += f"sabotage:\n{textwrap.dedent(sabotage)}" if sabotage else ""
        (self.folder / "cases" / f"{name}.yaml").write_text(text)

    def teeth(self, *words: object) -> tuple[Ended, Any]:
        """Run it on all of the cases, in the user's home; gives ``teeth.json`` too."""
        out, home = self.folder / "out", str(self.folder)
        argv = ("teeth", "cases", "--out", str(out), *map(str, words))
        ended = shakeout(*argv, cwd=self.folder, HOME=home)
        document = json.loads((out / "teeth.json").read_text())
        Draft202012Validator(SCHEMA).validate(document)
        assert ended.code == document["exit"], ended.err
        return ended, document

    def journal(self, trial: Mapping[str, Any]) -> list[Any]:
        text = (self.folder / "out" / trial["dir"] / "journal.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    @property
    def run(self) -> Any:
        return json.loads((self.folder / "out" / "run.json").read_text())


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    if not any(backend.probe().available for backend in BACKENDS.values()):
        pytest.skip("no sandbox can be made here; see shakeout doctor")
    lib = tmp_path / "cases" / "lib"
    lib.mkdir(parents=True)
    (lib / "rules.py").write_text(RULES)
    (lib / "agent.py").write_text(AGENT)
    (lib / "data.txt").write_text("plain\n")
    (tmp_path / "cases" / "with.py").write_text(
        "def allows(self, what): return True\ndef same(self, what): return what == 'good'\n"
    )
    return Bench(tmp_path)
