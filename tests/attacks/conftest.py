"""Attacks go through the command, as a user's case would."""

from tests.functional.run.conftest import shakeout, verdict_of  # noqa: F401 - fixtures
from tests.judged_again import _judged_again  # noqa: F401 - a fixture
