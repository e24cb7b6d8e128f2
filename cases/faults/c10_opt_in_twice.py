"""An agentd that acts unasked, for the sabotages of c10-opt-in-twice."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.settings import Settings, load

if TYPE_CHECKING:
    from runtime.recovery.budget import Budget
    from runtime.tools.base import Tool


def one_attempt(path: Path, environment: Mapping[str, str]) -> Settings:
    """An attempt is allowed that nobody allowed."""
    settings = load(path, environment)
    recovery = settings.recovery.model_copy(update={"attempts": settings.recovery.attempts or 1})
    return settings.model_copy(update={"recovery": recovery})


def free(self: Budget, tool: Tool) -> int:
    """What nobody stated a price for costs nothing."""
    stated = self._settings.prices.get(tool.name, tool.price)
    return 0 if stated is None else int(stated * 1_000_000)
