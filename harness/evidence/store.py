"""Writes the evidence of a trial to its folder, and reads it back.

What is read back is judged exactly as what was written. Nothing that the subject named or
made can reach beyond the folder: its paths are only ever text, its files are stored under
names of ours, and no link is made. Everything passes the screen, so no planted secret is in
any of the files.

``requests.jsonl`` and the bodies are written by the services as requests come in, the journal
as the trial goes on; they lie in the same folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from harness.case.yaml_build import NUMBER
from harness.errors import EvidenceLost
from harness.evidence import forms
from harness.evidence.model import Evidence, Output, Request
from harness.evidence.names import stored_name
from harness.evidence.planned import check_schema
from harness.evidence.published import refuse_unlike
from harness.evidence.stored_file import read_json, read_lines, read_stored
from harness.screen.secrets import Screen
from sandboxes.base import Root

CASE = "case.yaml"
EVIDENCE = "evidence.json"
FILES = "files.json"
NETWORK = "network.json"
PROCESSES = "processes.json"
REQUESTS = "requests.jsonl"
SUBJECT = "subject"
VERDICT = "verdict.json"


class _Dumper(yaml.CSafeDumper):
    """Puts in quotes also what only our own reading of YAML takes for a number."""


_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", NUMBER, list("+-.0123456789"))


def write_evidence(folder: Path, evidence: Evidence, screen: Screen) -> Sequence[str]:
    """Write all of it, requests and journal apart.

    Returns:
        The files that were withheld, see :func:`write_json`; nobody can judge them again.

    Raises:
        EvidenceLost: something could not be written; what is there proves nothing.
    """
    evidence = _screened_outputs(evidence, screen)
    write_bytes(folder / "stdout", evidence.stdout.data + _cut_notice(evidence.stdout))
    write_bytes(folder / "stderr", evidence.stderr.data + _cut_notice(evidence.stderr))
    names = {
        (root, path): f"{SUBJECT}/{stored_name(root, screen.text(path)[0])}"
        for root, path in evidence.contents
    }
    for key, data in evidence.contents.items():
        write_bytes(folder / names[key], screen.screen(data)[0])
    documents = {
        FILES: [forms.change_form(change) for change in evidence.changes],
        PROCESSES: forms.processes_form(evidence.processes),
        NETWORK: forms.network_form(evidence.network),
        EVIDENCE: forms.rest_form(evidence, names),
    }
    return [name for name, form in documents.items() if not write_json(folder / name, form, screen)]


def load_evidence(folder: Path) -> Evidence:
    """The evidence of a stored trial.

    Raises:
        EvidenceLost: a file is missing or not what it should be.
    """
    read = {name: read_document(folder, name) for name in (EVIDENCE, FILES, PROCESSES, NETWORK)}
    try:
        stored = forms.Stored(
            files=read[FILES],
            processes=read[PROCESSES],
            network=read[NETWORK],
            rest=read[EVIDENCE],
            requests=_read_requests(folder),
            outputs={name: read_stored(folder, name) for name in ("stdout", "stderr")},
            contents=_read_contents(folder, read[EVIDENCE]),
        )
        return forms.evidence_of(stored)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise EvidenceLost(f"the evidence in {folder} is not in its form: {error!r}") from error


def write_case(folder: Path, document: Mapping[str, Any], screen: Screen) -> None:
    """Write the resolved case, in the order in which it was written.

    Raises:
        EvidenceLost: it could not be written.
    """
    text = yaml.dump(dict(document), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    write_bytes(folder / CASE, screen.screen(text.encode())[0])


def write_json(path: Path, value: object, screen: Screen) -> bool:
    """Write a document: each string screened, and the whole again.

    A secret that was cut up over several strings would show only in the whole; there is no
    form that keeps both the document and the secret out, so the document is withheld.

    Returns:
        Whether the document was written and not withheld.

    Raises:
        EvidenceLost: it could not be written.
    """
    text = json.dumps(_screened(value, screen), indent=1, ensure_ascii=False) + "\n"
    data = text.encode("utf-8", "backslashreplace")  # writes half a surrogate as JSON does
    _, marks = screen.redact(data)
    if marks:
        data = json.dumps({"withheld": marks}).encode() + b"\n"
    write_bytes(path, data)
    return not marks


def write_bytes(path: Path, data: bytes) -> None:
    """Write a new file.

    Raises:
        EvidenceLost: it exists, or could not be written whole.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
    except OSError as error:
        raise EvidenceLost(f"{path.name} could not be written: {error}") from error


def read_document(folder: Path, name: str) -> Any:
    """A document of the evidence, which is in the form that is published for it.

    Raises:
        EvidenceLost: it is not, or cannot be read.
    """
    document = read_json(folder, name)
    if name != FILES:
        check_schema(document, name)
    refuse_unlike(name, document)
    return document


def _screened(value: object, screen: Screen) -> object:
    match value:
        case str():
            return screen.text(value)[0]
        case Mapping():
            return {screen.text(str(key))[0]: _screened(v, screen) for key, v in value.items()}
        case list() | tuple():
            return [_screened(item, screen) for item in value]
        case _:
            return value


def _cut_notice(output: Output) -> bytes:
    if not output.capped:
        return b""
    return f"\n[cut: the first {len(output.data)} of {output.total} bytes]\n".encode()


def _screened_outputs(evidence: Evidence, screen: Screen) -> Evidence:
    def clean(output: Output) -> Output:
        return replace(output, data=screen.screen(output.data)[0])

    return replace(evidence, stdout=clean(evidence.stdout), stderr=clean(evidence.stderr))


def _read_contents(folder: Path, rest: Any) -> Mapping[tuple[Root, str], bytes]:
    found = {}
    for entry in rest["contents"]:
        name = stored_name(Root(entry["root"]), entry["path"])
        if entry["file"] != f"{SUBJECT}/{name}":
            raise EvidenceLost(f"{folder / EVIDENCE} names a file that is not of the evidence")
        found[Root(entry["root"]), entry["path"]] = read_stored(folder, entry["file"])
    return found


def _read_requests(folder: Path) -> tuple[Request, ...]:
    requests = []
    for place, line in read_lines(folder, REQUESTS):
        refuse_unlike(f"{REQUESTS} line", line, told=place)
        requests.append(Request(**{**line, "secrets": tuple(line["secrets"])}))
    return tuple(sorted(requests, key=lambda request: request.seq))
