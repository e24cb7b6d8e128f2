"""The command, as its user runs it."""

from tests.functional.run.conftest import shakeout  # noqa: F401 - a fixture
