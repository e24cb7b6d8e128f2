"""What a store can be in the way of: each stops the daemon, and none loses anything."""

from __future__ import annotations

from runtime.errors import AgentdError


class StoreCorrupt(AgentdError):
    """The file is no database, or a damaged one. It is left as it is."""


class StoreLocked(AgentdError):
    """Somebody else holds the database, and went on holding it."""


class StoreTooNew(AgentdError):
    """A later version of agentd wrote it."""


class StoreUnreachable(AgentdError):
    """There is no such database, or it does not let us in."""
