"""What is to be told of a run beside its trials: where verdicts waver, what a replay has not kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Document = Mapping[str, Any]


def beside(run: Document) -> Iterator[str]:
    """Every line to tell, for people."""
    for flaky in run["flaky"]:
        yield f"flaky: {flaky['trial']} {wavering(flaky)}"
    for trial in run["trials"]:
        if trial["replay"]:
            for name, two in trial["replay"]["differs"].items():
                was = f"recorded {two['recorded']}, now {two['now']}"
                yield f"{trial['id']}: another {name} than was recorded: {was}"


def wavering(flaky: Document) -> str:
    """The verdicts of a flaky trial, each with a journal that shows how it came to it."""
    seen = [f"{verdict} in {where or 'no journal'}" for verdict, where in flaky["journals"].items()]
    return f"came to different verdicts: {', '.join(seen)}"


def wavering_of(run: Document) -> Mapping[str, str]:
    """The same of each trial that is a repeat of a flaky one, by its id."""
    told = {flaky["trial"]: wavering(flaky) for flaky in run["flaky"]}
    return {
        trial["id"]: told[group]
        for trial in run["trials"]
        if trial["flaky"] and (group := trial["id"].rpartition(".r")[0]) in told
    }
