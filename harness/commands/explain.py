"""``shakeout explain``: what can be written in a case, from the schemas themselves.

A name is looked up among faults, oracles, services, subjects, fields (``sandbox.limits``, or
just ``limits``), layers of faults, their parameters, formats, verdicts, reasons and the words about them; one that
is several things at once is explained as each of them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from harness.case.errors import closest, quoted
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
_REGISTERED: Final = frozenset({"fault", "oracle", "service", "subject"})

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
        topics, lines = _answer(args.name)
    except UsageError as error:
        return refused(error, as_json=args.json)
    return listed([topic.item() for topic in topics], lines, as_json=args.json)


def _answer(names: Sequence[str]) -> tuple[Sequence[Topic], Iterator[str]]:
    """What is printed of the names: one name of several words, or one after the other."""
    topics = everything()
    if not names:
        return topics, _overview(topics)
    whole = " ".join(names)
    found = [(whole, *_find(whole, topics))]
    if len(names) > 1 and not any(found[0][1:]):
        found = [(name, *_find(name, topics)) for name in names]
    for name, listed_ones, chosen in found:
        if not listed_ones and not chosen:
            raise UsageError(f"nothing is called {quoted(name)}; {_instead(name, topics)}")
    every = [topic for _, *groups in found for group in groups for topic in group]
    return every, (line for each in found for line in _lines(*each))


def _find(name: str, topics: Sequence[Topic]) -> tuple[list[Topic], list[Topic]]:
    """All of the kind, or of the layer, that is called so; and what has the name itself."""
    kind = _TOPICS.get(name)
    group = [topic for topic in topics if topic.kind == kind or topic.facts.get("layer") == name]
    chosen = named(name, topics)
    before, _, rest = name.partition(".")
    if not group and not chosen and rest:  # subject.command, faults.model.status
        chosen = [one for one in named(rest, topics) if one.kind in (before, _TOPICS.get(before))]
    return group, chosen


def _instead(name: str, topics: Sequence[Topic]) -> str:
    """Everything registered that has the word in its name, else the nearest of all names."""
    within = [one.name for one in topics if one.kind in _REGISTERED and name.casefold() in one.name]
    if within:
        return f"did you mean {' or '.join(within)}?"
    last = {topic.name.rpartition(".")[2] for topic in topics}
    near = closest(name, {*_TOPICS, *last, *(topic.name for topic in topics)})
    return f"did you mean {near}?" if near else f"try one of {', '.join(_TOPICS)}"


def _lines(name: str, of_kind: Sequence[Topic], chosen: Sequence[Topic]) -> Iterator[str]:
    """The list of a kind, and everything that has the name itself."""
    if of_kind:
        yield f"{name}:"
        yield from by_layer(of_kind) if of_kind[0].kind == "fault" else brief(of_kind)
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
