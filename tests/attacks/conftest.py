"""Attacks go through the command, as a user's case would."""

from tests.functional.run.conftest import shakeout, verdict_of  # noqa: F401 - fixtures
