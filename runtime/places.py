"""Where the runtime keeps what is its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HOME_VARIABLE = "AGENTD_HOME"
_DEFAULT = ".agentd"


@dataclass(frozen=True, slots=True)
class Places:
    """The files of one daemon, all in its folder.

    Attributes:
        folder: ``$AGENTD_HOME``, else ``~/.agentd``.
    """

    folder: Path

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Places:
        """Those that the environment names."""
        named = environment.get(HOME_VARIABLE)
        return cls(Path(named) if named else Path(environment.get("HOME", "/")) / _DEFAULT)

    @property
    def settings(self) -> Path:
        """What the user set."""
        return self.folder / "settings.yaml"

    @property
    def database(self) -> Path:
        """The store, where the settings name no other."""
        return self.folder / "agentd.db"

    @property
    def token(self) -> Path:
        """What a client has to show; for the user's eyes alone."""
        return self.folder / "token"

    @property
    def socket(self) -> Path:
        """Where the daemon listens, where the settings name no port."""
        return self.folder / "agentd.sock"

    @property
    def lock(self) -> Path:
        """What tells whether somebody works in the folder."""
        return self.folder / "agentd.lock"

    @property
    def kill_switch(self) -> Path:
        """Whatever is here stops acting before the next attempt."""
        return self.folder / "RESILIENCE_ACT_OFF"

    @property
    def skills(self) -> Path:
        """The folders of skills."""
        return self.folder / "skills"

    def make(self) -> None:
        """Make the folder, for the user alone."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.chmod(self.folder, 0o700)  # noqa: PTH101 - follows no other rule than the mode above
