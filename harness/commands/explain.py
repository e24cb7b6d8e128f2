"""``shakeout explain``: what can be written in a case, from the schemas themselves.

A name is looked up among faults, oracles, services, subjects, fields (``sandbox.limits``, or
just ``limits``), their parameters, formats, verdicts, reasons and the words about them; one that
is several things at once is explained as each of them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from harness.case.errors import nearest, quoted
from harness.case.schema import documents, rendered
from harness.commands.answers import DONE, listed, refused
from harness.commands.explained import Topic, everything, named
from harness.commands.shown import brief, by_layer, full, wrapped
from harness.errors import UsageError

_TOPICS: Final = {
    "faults": "fault",
    "oracles": "oracle",
    "services": "service",
    "subjects": "subject",
    "fields": "field",
    "forms": "form",
    "formats": "format",
    "verdicts": "verdict",
    "reasons": "reason",
    "words": "word",
}

_PORTS: Final = (
    "Whatever speaks HTTP answers on port 8080, and on 80 where the place allows low ports; with "
    "sandbox.tls on 8443 and 443 too. All other names and addresses lead nowhere."
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "name",
        nargs="*",
        metavar="NAME",
        help="a fault, oracle, service, subject, field, parameter, format, verdict, reason or "
        f"word; or one of {', '.join(_TOPICS)} (default: an overview)",
    )
    parser.add_argument("--json", action="store_true", help="print the topics as JSON")
    parser.add_argument(
        "--schema", action="store_true", help="print the JSON Schema of case files instead"
    )


def run(args: argparse.Namespace) -> int:
    """Explain; 2 where there is no such name."""
    if args.schema:
        sys.stdout.write(rendered(documents()["case.schema.json"]))
        return DONE
    try:
        topics, lines = _answer(" ".join(args.name))
    except UsageError as error:
        return refused(error, as_json=args.json)
    return listed([topic.item() for topic in topics], lines, as_json=args.json)


def _answer(name: str) -> tuple[Sequence[Topic], Iterator[str]]:
    topics = everything()
    if not name:
        return topics, _overview(topics)
    of_kind = [topic for topic in topics if topic.kind == _TOPICS.get(name)]
    chosen = named(name, topics)
    if not of_kind and not chosen:
        last = {topic.name.rpartition(".")[2] for topic in topics}
        known = {*_TOPICS, *last, *(topic.name for topic in topics)}
        raise UsageError(f"nothing is called {quoted(name)}; {nearest(name, known, say='try')}")
    return [*of_kind, *chosen], _lines(name, of_kind, chosen)


def _lines(name: str, of_kind: Sequence[Topic], chosen: Sequence[Topic]) -> Iterator[str]:
    """The list of a kind, and everything that has the name itself."""
    if of_kind:
        yield f"{name}:"
        yield from by_layer(of_kind) if name == "faults" else brief(of_kind)
        if name == "services":
            yield from wrapped("  ", _PORTS)
        yield ""
    for topic in chosen:
        yield from full(topic)


def _overview(topics: Sequence[Topic]) -> Iterator[str]:
    for title, kind in _TOPICS.items():
        yield f"{title}:"
        yield from brief([t for t in topics if t.kind == kind and not _inner(t)])
        yield ""
    yield "shakeout explain NAME says more."


def _inner(topic: Topic) -> bool:
    return topic.kind == "field" and "." in topic.name
