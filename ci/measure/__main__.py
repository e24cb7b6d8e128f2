"""Take the figures that were asked for, print a table and, as JSON, all of them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from ci.measure import (
    agentd,
    classifier,
    endurance,
    engine,
    killed,
    lag,
    ledger,
    model,
    sandbox,
    seals,
    startup,
    trials,
)
from ci.measure.figures import Figure, Unavailable

PARTS: Mapping[str, Callable[[], Iterator[Figure | Unavailable]]] = {
    "startup": startup.figures,
    "sandbox": sandbox.figures,
    "engine": engine.figures,
    "trials": trials.figures,
    "seals": seals.figures,
    "model": model.figures,
    "classifier": classifier.figures,
    "agentd": agentd.figures,
    "ledger": ledger.figures,
    "lag": lag.figures,
    "killed": killed.figures,
    "endurance": endurance.figures,
}
USUAL = [name for name in PARTS if name not in ("killed", "endurance")]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure; 3 where something could not be measured, 0 otherwise, goals reached or not."""
    parser = argparse.ArgumentParser(prog="ci/bench", description=__doc__)
    parser.add_argument(
        "part", nargs="*", help=f"of {', '.join(PARTS)}; default: all but the last two"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    asked = parser.parse_args(argv)
    if unknown := set(asked.part) - set(PARTS):
        parser.error(f"unknown part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    taken: list[Figure | Unavailable] = []
    for name in asked.part or USUAL:
        for figure in PARTS[name]():
            taken.append(figure)
            print(line(figure), flush=True)
    if asked.json:
        asked.json.write_text(json.dumps([document(figure) for figure in taken], indent=2) + "\n")
    return 3 if any(isinstance(figure, Unavailable) for figure in taken) else 0


def line(figure: Figure | Unavailable) -> str:
    """One row of the table."""
    if isinstance(figure, Unavailable):
        return f"{figure.what:<38} unavailable: {figure.reason}"
    bound = f"{'>=' if figure.more_is_better else '<='} {figure.goal:g}"
    return (
        f"{figure.what:<38}{figure.ours:>10.1f}{figure.beside:>10.1f} {figure.unit:<9}"
        f"x{figure.ratio:<7.2f}{bound:<9}{'reached' if figure.reached else 'MISSED':<9}"
        f"{figure.against}{'; ' + figure.note if figure.note else ''}"
    )


def document(figure: Figure | Unavailable) -> dict[str, object]:
    """The same for machines."""
    if isinstance(figure, Unavailable):
        return asdict(figure)
    return {**asdict(figure), "ratio": round(figure.ratio, 3), "reached": figure.reached}


if __name__ == "__main__":
    sys.exit(main())
