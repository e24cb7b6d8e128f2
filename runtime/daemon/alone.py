"""One task without a daemon, with everything that the daemon has."""

from __future__ import annotations

from collections.abc import Mapping

from runtime.agent.loop import Ended
from runtime.daemon.folder import Share
from runtime.daemon.parts import assembled
from runtime.daemon.turns import carry_on
from runtime.model.base import Said
from runtime.model.reading import sound


async def project(environment: Mapping[str, str], task: str, share: Share) -> Ended:
    """Carry a task out in a conversation of its own, as a project run."""
    async with assembled(environment, alone=share.first) as parts:
        if share.first:
            share.settle()
        said = Said("user", sound(task))
        made = await parts.conversations.begin("project", parts.settings.model.name, said)
        return await carry_on(parts, made)
