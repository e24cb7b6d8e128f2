"""The table of backends: one line for each. ``auto`` tries them in this order."""

from __future__ import annotations

from collections.abc import Mapping

from sandboxes.backends.bubblewrap import Bubblewrap
from sandboxes.backends.docker import Docker
from sandboxes.base import Backend

BACKENDS: Mapping[str, Backend] = {
    "bubblewrap": Bubblewrap(),
    "docker": Docker(),
}
