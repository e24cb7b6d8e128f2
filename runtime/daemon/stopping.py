"""That the daemon is to end, and why."""

from __future__ import annotations

import anyio

from runtime.errors import AgentdError


class Stopping:
    """Whoever wants the daemon to end says so here.

    Attributes:
        asked: set once somebody did.
        error: what it ends by, if it is no wish of anybody's.
    """

    def __init__(self) -> None:
        self.asked = anyio.Event()
        self.error: AgentdError | None = None

    def ask(self) -> None:
        """End it in peace."""
        self.asked.set()

    def fail(self, error: AgentdError) -> None:
        """End it, for it cannot go on."""
        self.error = self.error or error
        self.asked.set()
