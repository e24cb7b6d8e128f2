"""Tools are plugged into a daemon that runs, are there after the next start, and leave nothing."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.functional.agentd.conftest import Agentd
from tests.unit.runtime.hotplug.servers import described, rude
from tests.unit.runtime.hotplug.test_skill import written

pytestmark = pytest.mark.slow


def plugged(agentd: Agentd) -> dict[str, Any]:
    code, out, err = agentd.run("tools", "--json")
    assert code == 0, err
    return {each["name"]: each for each in json.loads(out)["plugs"]}


def test_a_daemon_that_runs_takes_tools_in_and_out(agentd: Agentd, tmp_path: Path):
    agentd.write()
    daemon = agentd.serve()
    command = rude(tmp_path, described("live"), described("stat"))
    code, out, err = agentd.run("tools", "plug", "mcp", "rude", "--", *command)
    assert (code, out) == (0, "mcp rude: up\n  rude__live\n  rude__stat\n"), err
    code, out, err = agentd.run("tools", "plug", "skill", written(tmp_path / "weather")["folder"])
    assert code == 0, err
    assert {name: each["state"] for name, each in plugged(agentd).items()} == {
        "rude": "up",
        "weather": "up",
    }
    code, _, err = agentd.run("tools", "plug", "mcp", "rude", "--", *command)
    assert (code, "'rude' is plugged in" in err) == (2, True)
    assert agentd.run("tools", "unplug", "weather")[:2] == (0, "unplugged weather\n")
    assert agentd.run("tools", "unplug", "weather")[0] == 2

    server = psutil.Process(int((tmp_path / "pids").read_text()))
    agentd.stop(daemon)
    server.wait(10)
    rude(tmp_path, described("live", "Otherwise."), described("stat"))
    again = agentd.serve()
    assert plugged(agentd)["rude"]["changed"] == ["live"]
    assert agentd.run("tools", "accept", "rude")[:2] == (0, "accepted of rude: live\n")
    assert plugged(agentd)["rude"]["tools"] == ["rude__live", "rude__stat"]

    # Killed, it has no chance to end its servers, and they end all the same.
    server = psutil.Process(int((tmp_path / "pids").read_text().split()[-1]))
    again.send_signal(signal.SIGKILL)
    server.wait(10)
