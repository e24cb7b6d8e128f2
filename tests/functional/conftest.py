"""Whatever the command runs here, its evidence gives the same verdicts again."""

from tests.judged_again import _judged_again  # noqa: F401 - a fixture
