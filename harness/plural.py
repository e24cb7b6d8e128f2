"""Numbers of things, in words."""

from __future__ import annotations


def plural(number: int, noun: str) -> str:
    """As ``1 message`` and ``2 messages``, ``1 try`` and ``2 tries``; the noun is given for one."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else many}"
