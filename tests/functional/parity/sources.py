"""The cases that every backend must judge alike, and which of them stand for all.

They are this folder's own, one for each fault of a service, those that show the faults of the
place, and the repository's. A sample has every fault and every oracle at least once; it is
chosen by name, so it is the same every time.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from harness.faults.base import Layer
from harness.faults.registry import FAULTS
from tests.functional.faults.test_place_faults import ENTRIES
from tests.house.checkout import ROOT

OWN = Path(__file__).parent / "cases"
REPOSITORY = ROOT / "cases"
OTHERS = ROOT / "tests/functional/services/cases"
ASK = """
import json, os, urllib.request
tool = {"name": "run", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}
turn = {
    "model": "m", "stream": True, "messages": [{"role": "user", "content": "go"}],
    "tools": [{"type": "function", "function": tool}],
}
kind = {"Content-Type": "application/json"}
model = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(turn).encode(), kind
)
for asked in (model, model, "http://upstream/report", "http://upstream/report"):
    try:
        with urllib.request.urlopen(asked, timeout=8) as reply:
            print(reply.status, reply.headers["Content-Type"], len(reply.read()))
    except Exception as error:
        print(type(error).__name__)
"""


@dataclass(frozen=True)
class Source:
    """A case and where it is from.

    Attributes:
        name: its case's id.
        document: the case.
        path: its file, where it has one that other files lie beside.
    """

    name: str
    document: Mapping[str, Any]
    path: Path | None = None

    @property
    def of_agents(self) -> bool:
        """Whether real agents are its subjects: what they say is never twice the same."""
        return "command" not in self.document.get("subject", {})

    @property
    def shows(self) -> frozenset[str]:
        """Its faults, its oracles, and whose it is."""
        faults = {str(fault["fault"]) for fault in self.document.get("faults", ())}
        expected = [*self.document.get("expect", ()), *self.document.get("stimulus", ())]
        oracles = {key for each in expected for key in each if key != "id"}
        return frozenset({*faults, *oracles, *(["agents"] if self.of_agents else [])})

    def file(self, folder: Path) -> Path:
        """Its file, written to a folder where it has none."""
        if self.path is not None:
            return self.path
        path = folder / f"{self.name}.yaml"
        path.write_text(yaml.safe_dump(dict(self.document), sort_keys=False), "utf-8")
        return path


def _of_services() -> Iterator[Source]:
    for name, fault in sorted(FAULTS.items()):
        if fault.layer not in {Layer.MODEL, Layer.UPSTREAM}:
            continue
        given = {"service": "upstream"} if fault.layer is Layer.UPSTREAM else {}
        document: dict[str, Any] = {
            "case": f"service-{name.replace('.', '-')}",
            "title": f"{name} meets a program that asks twice",
            "proves": "faults of services are the same on every backend",
            "subject": {"command": ["python3", "-c", ASK]},
            "task": "none",
            "sandbox": {"limits": {"seconds": 60}},
            "script": [{"run": "true"}, {"say": "Done."}],
            "leftover": "allowed",
            "services": {
                "http": {
                    "upstream": [{"on": "GET /report", "reply": {"status": 200, "body": "42"}}]
                }
            },
            "faults": [{"fault": name, **({"with": given} if given else {})}],
            "expect": [{"exit": 0}, {"requests": {"service": "upstream", "exactly": 2}}],
        }
        yield Source(document["case"], document)


def _of_files(paths: Sequence[Path]) -> Iterator[Source]:
    for path in sorted(paths):
        document = yaml.safe_load(path.read_text("utf-8"))
        if "case" in document:
            yield Source(document["case"], document, path)


@functools.cache
def sources() -> tuple[Source, ...]:
    """All of them."""
    return (
        *_of_files([*OWN.glob("*.yaml")]),
        *_of_services(),
        *(Source(entry.name, entry.document()) for entry in ENTRIES),
        *_of_files([*OTHERS.glob("*.yaml")]),
        *_of_files(list(REPOSITORY.rglob("*.yaml"))),
    )


@functools.cache
def sample() -> tuple[Source, ...]:
    """The folder's own, and each that shows what none before it did."""
    own = {path.stem for path in OWN.glob("*.yaml")}
    seen: set[str] = set()
    chosen = []
    for source in sources():
        if source.name in own or not source.shows <= seen:
            chosen.append(source)
            seen |= source.shows
    return tuple(chosen)
