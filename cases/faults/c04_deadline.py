"""A supervisor without patience, for the sabotage of c04-deadline."""

from runtime.recovery.observe import Failed
from runtime.recovery.supervise import Supervisor


async def no_wait(self: Supervisor, failed: Failed, until: float) -> None:
    """Nobody waits, and no time is ever over."""
