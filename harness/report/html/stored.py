"""What the report reads of a trial's folder: no more than it will show, and never anything else.

A file that is missing, too large or not in its form is named as such; it never ends the report.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from harness.errors import EvidenceLost
from harness.evidence import store
from harness.evidence.documents import SCHEMA
from harness.evidence.stored_file import parsed
from harness.journal import NAME as JOURNAL
from verifiers.seals.reading import FOLDER, Absent, Unfit, beginning, contents, kind

_DOCUMENT = 4 << 20
_LINES = 4 << 20
_CASE = 256 << 10
_HEAD = 4096
ATTESTATION = "attestation.json"
STREAMS = ("stdout", "stderr")
#: Every file that a finished trial leaves.
EXPECTED = (
    store.VERDICT,
    JOURNAL,
    store.CASE,
    store.REQUESTS,
    store.FILES,
    store.PROCESSES,
    store.NETWORK,
    store.EVIDENCE,
    *STREAMS,
)
#: Those that are there only where there was something to write.
_OPTIONAL = frozenset({store.REQUESTS})


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a trial's folder: its size in bytes, ``None`` where it is missing."""

    name: str
    size: int | None


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a stream: its first bytes as text, and how many bytes there are."""

    text: str
    size: int


@dataclass(frozen=True, slots=True)
class Stored:
    """A trial's folder, as far as the report shows it.

    Attributes:
        dir: the folder, relative to the run's.
        verdict: ``verdict.json``; empty where it is lost, like all the others.
        case: ``case.yaml``.
        evidence: ``evidence.json``.
        files: ``files.json``.
        processes: ``processes.json``.
        network: ``network.json``.
        journal: its events.
        requests: lines of ``requests.jsonl``.
        heads: the beginnings of the streams.
        entries: the files that are there, and those that should be.
        lost: what could not be read, and why.
    """

    dir: str
    verdict: Mapping[str, Any] = field(default_factory=dict)
    case: Mapping[str, Any] = field(default_factory=dict)
    evidence: Mapping[str, Any] = field(default_factory=dict)
    files: Sequence[Mapping[str, Any]] = ()
    processes: Mapping[str, Any] = field(default_factory=dict)
    network: Mapping[str, Any] = field(default_factory=dict)
    journal: Sequence[Mapping[str, Any]] = ()
    requests: Sequence[Mapping[str, Any]] = ()
    heads: Mapping[str, Head] = field(default_factory=dict)
    entries: Sequence[Entry] = ()
    lost: Mapping[str, str] = field(default_factory=dict)


class _Lost(Exception):
    """A file that cannot be shown, and why."""


def read_stored(run: Path, folder: str) -> Stored:
    """Read what the report shows of a trial.

    Args:
        run: the run's folder.
        folder: the trial's, relative to it.
    """
    lost: dict[str, str] = {}

    def read(name: str, reader: Callable[[Path, str], Any], default: Any) -> Any:
        try:
            return reader(run, f"{folder}/{name}")
        except Absent:
            if name not in _OPTIONAL:
                lost[name] = "missing"
        except (OSError, Unfit, EvidenceLost, _Lost) as why:
            lost[name] = str(why.strerror if isinstance(why, OSError) else why)
        return default

    return Stored(
        dir=folder,
        verdict=read(store.VERDICT, _document, {}),
        case=read(store.CASE, _case, {}),
        evidence=read(store.EVIDENCE, _document, {}),
        files=read(store.FILES, _list, ()),
        processes=read(store.PROCESSES, _document, {}),
        network=read(store.NETWORK, _document, {}),
        journal=read(JOURNAL, _events, ()),
        requests=read(store.REQUESTS, _events, ()),
        heads={name: read(name, _head, Head("", 0)) for name in STREAMS},
        entries=_entries(run, folder),
        lost=lost,
    )


def read_title(run: Path, folder: str) -> str:
    """The title of a trial's case; empty where that cannot be read."""
    try:
        title = _case(run, f"{folder}/{store.CASE}").get("title")
    except (OSError, Absent, Unfit, _Lost):
        return ""
    return title if isinstance(title, str) else ""


def read_copy(run: Path, name: str, most: int) -> bytes | None:
    """The first bytes of a file of a run; ``None`` where there is no such file."""
    try:
        return beginning(run, name, most)[0]
    except (OSError, Absent, Unfit):
        return None


def _case(run: Path, name: str) -> Mapping[str, Any]:
    try:
        case = yaml.load(contents(run, name, _CASE), yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _Lost("no YAML") from error
    return _mapping(case)


def _document(run: Path, name: str) -> Mapping[str, Any]:
    document = _mapping(parsed(contents(run, name, _DOCUMENT), "it"))
    if document.get("schema") != SCHEMA:
        raise _Lost(f"not of schema {SCHEMA}, which this version reads")
    return document


def _list(run: Path, name: str) -> Sequence[Mapping[str, Any]]:
    found = parsed(contents(run, name, _DOCUMENT), "it")
    if not isinstance(found, list):
        raise _Lost("not in its form")
    return [_mapping(entry) for entry in found]


def _events(run: Path, name: str) -> Sequence[Mapping[str, Any]]:
    """The lines of a file up to a limit; a last one that was torn by a kill is left out."""
    data, _ = beginning(run, name, _LINES)
    whole, _, _torn = data.rpartition(b"\n")
    lines = enumerate(whole.split(b"\n"), 1) if whole else ()
    return [_mapping(parsed(line, f"line {number}")) for number, line in lines]


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _Lost("not in its form")
    return value


def _head(run: Path, name: str) -> Head:
    data, size = beginning(run, name, _HEAD)
    return Head(data.decode("utf-8", "replace"), size)


def _entries(run: Path, folder: str) -> Sequence[Entry]:
    return list(_listed(run, folder))


def _listed(run: Path, folder: str) -> Iterator[Entry]:
    sizes = {}
    if kind(run, folder) == FOLDER:
        with suppress(OSError), os.scandir(run / folder) as found:
            sizes = {
                entry.name: entry.stat(follow_symlinks=False).st_size
                for entry in found
                if entry.is_file(follow_symlinks=False)
            }
    names = dict.fromkeys((*EXPECTED, *sorted(sizes)))
    for name in names:
        if name in sizes or name not in _OPTIONAL:
            yield Entry(name, sizes.get(name))
