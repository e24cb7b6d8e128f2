"""What is plugged in, looked at and changed where no daemon runs: for the next start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runtime.clock import SystemClock
from runtime.daemon.parts import core_tools
from runtime.daemon.shown import tool
from runtime.places import Places
from runtime.screen.known import environment_secrets
from runtime.screen.screen import Screen
from runtime.settings import load
from runtime.store.engine import url_of
from runtime.store.store import open_store
from runtime.tools.hotplug import rows
from runtime.tools.hotplug.manifest import manifest_of
from runtime.tools.hotplug.pins import Pins
from runtime.tools.hotplug.plugs import refuse_secrets
from runtime.tools.hotplug.specs import SkillSpec, spec_of


class Offline:
    """The store of a state folder.

    Args:
        places: the folder.
        environment: in which the daemon would be.
    """

    def __init__(self, places: Places, environment: Mapping[str, str]) -> None:
        places.make()
        self._settings = load(places.settings, environment)
        self._screen = Screen(environment_secrets(environment))
        self._store = open_store(self._settings.store or url_of(places.database))

    def close(self) -> None:
        """Give it back."""
        self._store.close()

    def list(self) -> dict[str, Any]:
        """The tools that are built in, and what comes up with the daemon."""
        with self._store.read() as connection:
            found = rows.saved(connection)
        disabled = self._settings.tools.disabled
        return {
            "tools": [tool(each, disabled) for each in core_tools()],
            "plugs": [_report(each) for each in found],
        }

    def plug(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Plug something in; its tools are seen for the first time at the next start.

        Raises:
            BadPlug: it cannot be used, as far as that can be seen now.
        """
        spec = spec_of(given)
        refuse_secrets(spec, self._screen.value)
        if isinstance(spec, SkillSpec):
            manifest_of(spec.folder)
        with self._store.write() as connection:
            rows.save(connection, spec, Pins(), SystemClock())
        return {"name": spec.name, "kind": spec.kind, "state": "stored", "why": "", "tools": []}

    def unplug(self, name: str) -> dict[str, Any]:
        """Take something out.

        Raises:
            UnknownPlug: nothing has that name.
        """
        with self._store.write() as connection:
            rows.forget(connection, name)
        return {"name": name, "tools": [], "running": 0}

    def accept(self, name: str) -> dict[str, Any]:
        """Let the definitions be used that the last daemon saw.

        Raises:
            UnknownPlug: nothing has that name.
        """
        with self._store.write() as connection:
            return {"name": name, "accepted": list(rows.accept(connection, name))}


def _report(each: rows.Saved) -> dict[str, Any]:
    return {
        "name": each.name,
        "kind": each.kind,
        "state": "down" if each.problem else "stored",
        "why": each.problem,
        "tools": [],
        "changed": sorted(each.pins.changed),
        "unfit": {},
    }
