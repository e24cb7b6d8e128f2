"""What a store can be in the way of: each stops the daemon, and none loses anything."""

from __future__ import annotations

from runtime.errors import AgentdError


class StoreError(AgentdError):
    """The store cannot be worked with."""


class StoreCorrupt(StoreError):
    """The file is no database, or a damaged one. It is left as it is."""


class StoreLocked(StoreError):
    """Somebody else holds the database, and went on holding it."""


class StoreTooNew(StoreError):
    """A later version of agentd wrote it."""


class StoreUnreachable(StoreError):
    """There is no such database, or it does not let us in."""
