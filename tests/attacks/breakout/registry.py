"""Every breakout, by where it leads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.attacks.breakout import kernel, processes, reaching
from tests.attacks.breakout.form import Breakout, Naive, Patched

KINDS: Mapping[str, Sequence[Breakout]] = {
    "processes, terminals and limits": processes.BREAKOUTS,
    "files, sockets and networks": reaching.BREAKOUTS,
    "the kernel": kernel.BREAKOUTS,
}
BREAKOUTS: Sequence[Breakout] = [each for kind in KINDS.values() for each in kind]

_HEAD = """
# Breakouts

Whoever is in a sandbox may want out of it. Each known way is really gone, in a bubblewrap sandbox
and in a container, by the agent, by root inside, and in sandboxes inside (`nest`). What it would
reach is a decoy on the host, and whether it did is looked up there. That the way is one is shown
too: in the weaker place that the table names, the very same program reaches the very same decoy.
"""
_TABLE = "| Breakout | What is tried | What stops it | Where it leads out |\n"
_LINE = "| --- | --- | --- | --- |\n"


def page() -> str:
    """The breakouts as a part of the page of attacks."""
    parts = [_HEAD]
    for kind, breakouts in KINDS.items():
        rows = [f"| `{b.name}` | {b.does} | {b.defence} | {_weaker(b)} |\n" for b in breakouts]
        parts.append(f"\n## {kind[0].upper()}{kind[1:]}\n\n{_TABLE}{_LINE}{''.join(rows)}")
    return "".join(parts)


def _weaker(breakout: Breakout) -> str:
    place = breakout.weaker
    if isinstance(place, str):
        return f"not shown: {place}"
    if isinstance(place, Patched):
        return "our sandbox without this one thing"
    return "plain bubblewrap, started by root" if isinstance(place, Naive) else "the host itself"
