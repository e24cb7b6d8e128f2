"""Settings of all tests.

Properties have no deadline for a single example: the machine may be busy, and slowness that
matters has tests of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import settings

from tests import few

settings.register_profile("shakeout", deadline=None)
settings.load_profile("shakeout")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Most tests that make containers are long: the default tier has room for a few only."""
    by_file = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        if item.get_closest_marker("engine") and not any(
            item.get_closest_marker(name) for name in ("long", "root")
        ):
            by_file[item.path.relative_to(config.rootpath).as_posix()].append(item)
    for name, tests in by_file.items():
        chosen = few.spread(tests, few.TESTS.get(name, 1))
        for item in tests:
            if item not in chosen:
                item.add_marker("long")
