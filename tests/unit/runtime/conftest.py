"""Stores to test on: SQLite always, PostgreSQL where its programs are."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.store.engine import url_of
from runtime.store.store import Store, open_store
from tests.postgres import Server, missing

WANTED = "SHAKEOUT_TEST_POSTGRES"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    if why := missing():
        assert not os.environ.get(WANTED), why
        pytest.skip(why)
    with Server.started() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Of a database that is not there yet, or has nothing in it."""
    if request.param == "sqlite":
        return url_of(tmp_path / "state" / "agentd.db")
    server: Server = request.getfixturevalue("postgres")
    return server.database(f"t{uuid.uuid4().hex}")


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = open_store(url)
    yield opened
    opened.close()
