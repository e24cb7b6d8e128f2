"""The model's key is the daemon's own, whatever its variable is called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runtime.daemon.parts import assembled, for_tools
from runtime.settings import ModelSettings

pytestmark = pytest.mark.anyio
VALUE = "wholly unremarkable words"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_no_tool_is_given_it():
    environment = {"PATH": "/bin", "MINE": VALUE, "OPENAI_API_KEY": "x", "OTHER": "y"}

    assert for_tools(environment, ModelSettings(api_key="MINE")) == {"PATH": "/bin", "OTHER": "y"}
    assert "MINE" in for_tools(environment, ModelSettings())


async def test_nothing_that_is_shown_has_it(tmp_path: Path):
    (tmp_path / "settings.yaml").write_text(json.dumps({"model": {"api_key": "MINE"}}))
    environment = {"AGENTD_HOME": str(tmp_path), "MINE": VALUE}

    async with assembled(environment) as parts:
        assert VALUE not in parts.screen.text(f"it is {VALUE}, they say")
        assert parts.screen.text("it is wholly, they say") == "it is wholly, they say"
