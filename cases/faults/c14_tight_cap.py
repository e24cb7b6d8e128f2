"""Hand-offs that get lost, for the sabotages of c14-tight-cap."""

from runtime.recovery.handoff import Handoff, Handoffs
from runtime.recovery.observe import Failed, RunScope


async def not_at_the_cap(
    self: Handoffs,  # noqa: ARG001
    failed: Failed,
    scope: RunScope,  # noqa: ARG001
    why: str,
) -> Handoff:
    """Where the cap is reached, nothing more is done: no hand-off either."""
    return Handoff("none", failed.id, failed.classified.cls.value, why)


async def noted_as_taken(self: Handoffs, name: str, handoff: Handoff, scope: RunScope) -> bool:
    """Whatever a place said, it has had its chance."""
    sink = self.sinks[name]
    try:
        await self._store.writing(lambda connection: sink(connection, handoff, scope))
    except Exception as error:  # noqa: BLE001 - as in the original
        await self._events.emit(
            "handoff.refused", scope.conversation, handoff=handoff.id, sink=name, why=str(error)
        )
    return True
