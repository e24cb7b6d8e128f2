"""What is plugged in, as the store has it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from runtime.clock import Clock, micros
from runtime.store.tables import PLUGS
from runtime.tools.hotplug.pins import Pins
from runtime.tools.hotplug.specs import BadPlug, Spec, UnknownPlug, as_json, spec_of


@dataclass(frozen=True, slots=True)
class Saved:
    """A row.

    Attributes:
        name: the plug's.
        kind: ``package``, ``mcp`` or ``skill``.
        spec: what it is, or ``None`` where what is stored is none.
        pins: its definitions.
        problem: what is wrong with the row.
    """

    name: str
    kind: str
    spec: Spec | None
    pins: Pins
    problem: str = ""


def saved(connection: Connection) -> list[Saved]:
    """All of them, in the order in which they came."""
    found = []
    for row in connection.execute(select(PLUGS).order_by(PLUGS.c.created, PLUGS.c.name)).mappings():
        name, kind, pins = row["name"], row["kind"], Pins(row["pinned"])
        try:
            found.append(Saved(name, kind, spec_of(row["spec"]), pins))
        except BadPlug as error:
            found.append(Saved(name, kind, None, pins, str(error)))
    return found


def save(connection: Connection, spec: Spec, pins: Pins, clock: Clock) -> None:
    """Add one.

    Raises:
        BadPlug: there is one of that name.
    """
    row = {
        "name": spec.name,
        "kind": spec.kind,
        "spec": as_json(spec),
        "pinned": pins.as_json(),
        "created": micros(clock.now()),
    }
    try:
        connection.execute(insert(PLUGS), [row])
    except IntegrityError:
        raise taken(spec.name) from None


def keep(connection: Connection, name: str, pins: Pins) -> None:
    """Write down its definitions, where it is stored."""
    connection.execute(update(PLUGS).where(PLUGS.c.name == name).values(pinned=pins.as_json()))


def forget(connection: Connection, name: str) -> None:
    """Take one out.

    Raises:
        UnknownPlug: there is none of that name.
    """
    if not connection.execute(delete(PLUGS).where(PLUGS.c.name == name)).rowcount:
        raise unknown(name)


def accept(connection: Connection, name: str) -> tuple[str, ...]:
    """Let the definitions be used that were seen last; which of them are new.

    Raises:
        UnknownPlug: there is none of that name.
    """
    for each in saved(connection):
        if each.name == name:
            accepted = each.pins.accept()
            keep(connection, name, each.pins)
            return accepted
    raise unknown(name)


def unknown(name: str) -> UnknownPlug:
    """What to say of a name that nothing has."""
    return UnknownPlug(f"nothing called {name!r} is plugged in", "see `agentd tools`")


def taken(name: str) -> BadPlug:
    """What to say of a name that something has."""
    return BadPlug(f"something called {name!r} is plugged in", "unplug it first, or choose a name")
