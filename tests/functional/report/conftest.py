"""Pages to look at, and one browser for each process of the tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.report.html.page import NAME, write_page
from tests.functional.report import pages
from tests.functional.report.browser import Browser, browser, missing


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if lacking := missing():
        why = f"not here: {', '.join(lacking)}; Debian's packages are chromium and chromium-driver"
        if os.environ.get("SHAKEOUT_TEST_BROWSER"):
            pytest.fail(why)
        pytest.skip(why)
    with browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


def _written(folder: Path, made: pages.Made) -> Path:
    write_page(made(folder), pages.document(folder))
    return folder / NAME


@pytest.fixture(scope="session")
def hundred(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a hundred busy trials."""
    return _written(tmp_path_factory.mktemp("hundred"), pages.hundred)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run in which every text is an attack."""
    return _written(tmp_path_factory.mktemp("hostile"), pages.hostile)
