"""What every test of a session of cases starts with."""

from __future__ import annotations

import pytest

from tests.functional.items.sessions import Session


@pytest.fixture
def session(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setenv("SHAKEOUT_STATE", str(pytester.path / "state"))
    monkeypatch.setenv("HOME", f"{pytester.path}-home")  # around a home no case is looked for
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytester.makeini("[pytest]\naddopts = --strict-markers -ra\nfilterwarnings = error\n")
    return Session(pytester)
