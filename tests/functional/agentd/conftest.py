"""The `agentd` command as people start it, beside a scripted model."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.case.model import ScriptStep
from sandboxes import clock
from tests.functional.model.conftest import Served, host, serve  # noqa: F401 - fixtures

AGENTD = str(Path(sys.executable).with_name("agentd"))
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
KEY = "sk-ant-api03-this-is-the-key-of-the-tests"


class Unix(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("agentd", timeout=30)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


@dataclass
class Agentd:
    """A state folder, and the commands that work in it."""

    home: Path
    workspace: Path
    stack: ExitStack
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def socket(self) -> Path:
        return self.home / "agentd.sock"

    def write(self, **settings: Any) -> None:
        self.settings |= settings
        self.home.mkdir(exist_ok=True)
        (self.home / "settings.yaml").write_text(json.dumps(self.settings))

    def start(self, *words: str) -> subprocess.Popen[str]:
        # Without a key, no time is spent on a model's SDK.
        keys = dict.fromkeys(KEYS, KEY) if "model" in self.settings else {}
        process = subprocess.Popen(
            [AGENTD, *words],
            env={"PATH": os.environ["PATH"], "AGENTD_HOME": str(self.home), **keys},
            cwd=self.workspace,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.stack.callback(process.communicate)
        self.stack.callback(process.kill)
        return process

    def run(self, *words: str) -> tuple[int, str, str]:
        process = self.start(*words)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def serve(self) -> subprocess.Popen[str]:
        """The daemon, once it listens."""
        process = self.start("serve")
        assert process.stderr is not None
        while line := process.stderr.readline():
            if f"listening on {self.socket}" in line:
                return process
        raise AssertionError(process.wait())

    def stop(self, process: subprocess.Popen[str], signum: int = signal.SIGTERM) -> str:
        process.send_signal(signum)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (0, ""), err
        return err

    def connection(self) -> http.client.HTTPConnection:
        connection = Unix(self.socket)
        self.stack.callback(connection.close)
        return connection

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        connection = self.connection()
        headers = {"Authorization": f"Bearer {(self.home / 'token').read_text().strip()}"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def until(self, holds: Callable[[], Any]) -> Any:
        deadline = clock.monotonic() + 30
        while not (found := holds()):
            assert clock.monotonic() < deadline
            clock.sleep(0.02)
        return found


Scripted = Callable[[Sequence[ScriptStep]], Served]


@pytest.fixture
def agentd(tmp_path: Path) -> Iterator[Agentd]:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    with ExitStack() as stack:
        made = Agentd(tmp_path / "home", workspace, stack)
        made.write(workspace=str(workspace))
        yield made
