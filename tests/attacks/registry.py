"""Every attack, by its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.attacks.breakout import registry as breakout
from tests.attacks.form import Attack
from tests.attacks.kinds import (
    author,
    between,
    collection,
    control,
    eaten,
    escapes,
    forged,
    frozen,
    full,
    much,
    planted,
    secret,
    told,
    tools,
)

KINDS: Mapping[str, Sequence[Attack]] = {
    "forged reports and finish markers": forged.ATTACKS,
    "planted files that run where the judge looks": planted.ATTACKS,
    "broken tools and dead sandboxes": tools.ATTACKS,
    "what a path is when it is looked at": collection.ATTACKS,
    "races against the freeze": frozen.ATTACKS,
    "faults eaten by other requests": eaten.ATTACKS,
    "clock games, and deeds undone in between": between.ATTACKS,
    "a control side to talk to": control.ATTACKS,
    "a full disk on the host": full.ATTACKS,
    "terminal escapes and markup": escapes.ATTACKS,
    "more than anybody can keep": much.ATTACKS,
    "secrets in other words and places": secret.ATTACKS,
    "stories that really happened": told.ATTACKS,
    "the author of a case": author.ATTACKS,
}
ATTACKS: Mapping[str, Attack] = {attack.name: attack for kind in KINDS.values() for attack in kind}

_HEAD = """# Attacks

Whoever is judged may want to be judged well without deserving it, and so may the author of a
case. Each attack here is run against Shakeout twice: as it stands, it must end as the table says;
with the one defence that stops it taken away, the very same attack ends in `passed`. The tests are
in `tests/attacks/`; this page is made by `python -m tests.attacks > docs/attacks.md`.
"""
_TABLE = "| Attack | What is tried | Ends in | What stops it |\n| --- | --- | --- | --- |\n"


def page() -> str:
    """The attacks as a page of the documentation."""
    parts = [_HEAD]
    for kind, attacks in KINDS.items():
        rows = [f"| `{a.name}` | {a.does} | {a.ends} | {a.defence} |\n" for a in attacks]
        parts.append(f"\n## {kind[0].upper()}{kind[1:]}\n\n{_TABLE}{''.join(rows)}")
    return "".join([*parts, breakout.page()])
