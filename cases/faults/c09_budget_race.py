"""A ledger that looks before it spends, and not while it does, for the sabotage of c09-budget-race."""

import uuid
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select, text

from runtime.recovery.budget import Budget
from runtime.store.tables import ATTEMPTS
from sandboxes import clock

LOOKED = Path("/tmp/looked")  # noqa: S108 - of the sandbox


def look_then_spend(self: Budget, connection: Connection, row: dict[str, Any]) -> bool:
    """The limits are looked at; the attempt is written down when others have looked as well."""
    room = all(connection.execute(select(within)).scalar_one() for within, _ in self._limits(row))
    connection.execute(text("COMMIT"))
    LOOKED.mkdir(exist_ok=True)
    (LOOKED / uuid.uuid4().hex).touch()
    until = clock.monotonic() + 45
    while len(list(LOOKED.iterdir())) < 5 and clock.monotonic() < until:
        clock.sleep(0.1)
    connection.execute(text("BEGIN IMMEDIATE"))
    if room:
        connection.execute(insert(ATTEMPTS), [row])
    return room
