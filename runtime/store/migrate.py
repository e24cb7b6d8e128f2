"""The tables' revisions, by alembic."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

_SCRIPTS = Path(__file__).with_name("migrations")


def upgrade(engine: Engine) -> None:
    """Bring the tables to the newest revision, in one transaction."""
    with engine.begin() as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def known(revision: str) -> bool:
    """Whether this version knows a revision."""
    scripts = ScriptDirectory.from_config(_config())
    return revision in {script.revision for script in scripts.walk_revisions()}


def newest() -> str | None:
    """The revision that :func:`upgrade` leads to."""
    return ScriptDirectory.from_config(_config()).get_current_head()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    return config
