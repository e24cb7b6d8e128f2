"""What a journal begins with: which trial this is, of what, on what, judged as what.

With it a trial's folder says by itself all that is asked when it is judged again, or run again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from harness.errors import EvidenceLost
from harness.evidence.forms import SCHEMA
from harness.judge.judging import Kind


@dataclass(frozen=True, slots=True)
class Planned:
    """A trial, as it was planned.

    Attributes:
        trial: its id.
        kind: what it is for.
        group: the id without the number of its repeat.
        subject: as the case calls it.
        version: of the subject; empty where it is not installed.
        digest: likewise.
        backend: empty where none was available.
        source: the case file, absolute; what it mounts is relative to it.
        chance: what everything was made from that was chosen by chance.
        breaks: of a sabotage: ids that must break.
        decides: whether it counts at all; a sabotage on another case than its own does not.
        harness: version of the harness.
        harness_digest: of its code.
    """

    trial: str
    kind: Kind
    group: str
    repeat: int
    seed: int
    subject: str
    version: str
    digest: str
    backend: str
    source: str
    chance: str
    breaks: Sequence[str]
    decides: bool
    harness: str
    harness_digest: str

    def event(self) -> dict[str, Any]:
        """The fields of the journal's event ``planned``."""
        return {"schema": SCHEMA, **asdict(self)}


#: Of the fields that are neither a kind nor a list.
_TYPES: Mapping[str, type] = {
    field.name: {"int": int, "bool": bool, "str": str}[str(field.type)]
    for field in fields(Planned)
    if field.name not in {"kind", "breaks"}
}


def planned_of(event: Mapping[str, Any]) -> Planned:
    """The trial that an event ``planned`` tells of.

    Raises:
        EvidenceLost: it tells of none, or was written in a form that is not known here.
    """
    check_schema(event, "the journal")
    try:
        told = {field.name: event[field.name] for field in fields(Planned)}
        told |= {"kind": Kind(event["kind"]), "breaks": tuple(map(_text, event["breaks"]))}
    except (KeyError, TypeError, ValueError) as error:
        raise EvidenceLost(f"the journal does not say what was planned: {error!r}") from error
    for name, kind in _TYPES.items():
        if type(told[name]) is not kind:
            raise EvidenceLost(f"the journal does not say what was planned: {name} is none")
    return Planned(**told)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def check_schema(document: Any, name: str) -> None:
    """Refuse a document that another Shakeout wrote in another form.

    Raises:
        EvidenceLost: it has no schema number, or one that is not known here.
    """
    found = document.get("schema") if isinstance(document, Mapping) else None
    if found is None or isinstance(found, bool) or not isinstance(found, int):
        raise EvidenceLost(f"{name} has no schema number")
    if found > SCHEMA:
        raise EvidenceLost(
            f"{name} has schema {found}, this Shakeout reads {SCHEMA}; use the one that wrote it"
        )
    if found < SCHEMA:
        raise EvidenceLost(f"{name} has schema {found}, which there never was")
