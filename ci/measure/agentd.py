"""What a task that does nothing costs through a running daemon, over the model's own time."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from ci.measure.figures import Figure, Unavailable, alternate
from runtime.daemon.client import Client
from runtime.places import Places
from sandboxes import clock

ROUNDS = 20
ALWAYS = "- {say: Done., repeat: always}\n"
#: Milliseconds that the daemon may take.
BOUND = 50.0
#: Seconds that the daemon may take to start, on a machine that has other things to do.
START = 60.0


def figures() -> Iterator[Figure | Unavailable]:
    """The median of what the daemon adds, beside what it may add."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        url = stack.enter_context(model(Path(folder), ALWAYS))
        places = stack.enter_context(_daemon(Path(folder), url))
        whole, its = alternate(ROUNDS, lambda: _task(places), lambda: _answer(url))
    note = f"a task takes {whole:.1f} ms, the model {its:.1f} ms of it"
    yield Figure("no-op task, without the model", whole - its, BOUND, "ms", "bound", 1, note=note)


@contextlib.contextmanager
def model(folder: Path, turns: str) -> Iterator[str]:
    """The address of a scripted model with these turns."""
    script = folder / "script.yaml"
    script.write_text(turns)
    with started("shakeout", "model", str(script)) as process:
        assert process.stdout is not None
        yield str(json.loads(process.stdout.readline())["url"])


@contextlib.contextmanager
def _daemon(folder: Path, url: str) -> Iterator[Places]:
    settings = {"workspace": str(folder), "model": {"base_url": url}}
    (folder / "settings.yaml").write_text(json.dumps(settings))
    places = Places(folder)
    environment = {"AGENTD_HOME": str(folder), "ANTHROPIC_API_KEY": "none"}
    with started("agentd", "serve", **environment):
        until = clock.monotonic() + START
        while not places.socket.exists() and clock.monotonic() < until:
            clock.sleep(0.05)
        yield places


@contextlib.contextmanager
def started(name: str, *words: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A program of ours, which is ended with the context."""
    program = str(Path(sys.executable).with_name(name))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(
        [program, *words],
        env={**os.environ, **environment},
        text=True,
        stdin=subprocess.DEVNULL,
        **pipes,  # type: ignore[call-overload]
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


def _task(places: Places) -> None:
    client = Client(places)
    made = client.ask("POST", "/conversations", {"kind": "project", "message": "Do nothing."})
    events = client.events(made["id"], made["after"])
    ended = next(event for kind, event in events if kind == "turn.ended")
    assert ended["data"]["done"], ended


def _answer(url: str) -> None:
    body = {
        "model": "claude-sonnet-5",
        "max_tokens": 100,
        "stream": True,
        "messages": [{"role": "user", "content": "Do nothing."}],
    }
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    connection.request("POST", "/v1/messages", json.dumps(body))
    assert connection.getresponse().read()
    connection.close()
