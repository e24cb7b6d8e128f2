"""A daemon that is killed at moments of chance, in the middle of calls that fail and are retried.

The scripted model has each conversation fetch addresses that nobody fetched before, from a service
that counts. Whatever was on its way when SIGKILL came, afterwards the ledger is what that service
saw: what is settled was made, what was lost may have been, and nothing else was; no limit was
passed; a person has every failure that was not mended; the store is whole, and begins again. A
folder is used for several kills, so that its limits are reached across them.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import random
import signal
import sqlite3
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ci.measure.agentd import model, started
from ci.measure.figures import Figure, Unavailable
from runtime.daemon.client import Client, DaemonGone, Refused
from runtime.places import Places
from sandboxes import clock

KILLS: Final = 200
#: Kills in one folder.
EACH: Final = 10
_SEED: Final = 5
#: The share of kills that come while it starts.
_STARTING: Final = 0.25
_CONVERSATIONS: Final = 3
_PATIENCE: Final = 60.0
_ATTEMPTS: Final = 2
_PRICE: Final = 1000
#: Seconds that the service takes, which is when most kills come.
_WORK: Final = 0.05
_PER_RUN: Final = 3
_PER_DAY: Final = 40
_ROWS: Final = "SELECT failure, conversation, state, settled_micro_usd FROM attempts"
_FAILURES: Final = "SELECT id, json_extract(evidence, '$.arguments.url') FROM failures"
_GIVEN: Final = "SELECT failure, delivered FROM handoffs"
_MENDED: Final = "SELECT failure FROM attempts WHERE outcome = 'ok'"
_CARDS: Final = "SELECT json_extract(content, '$.handoff') FROM messages WHERE role = 'card'"


def figures() -> Iterator[Figure | Unavailable]:
    """What does not add up after so many kills; it must be nothing."""
    found, notes = list[str](), Counter[str]()
    chance = random.Random(_SEED)
    for _ in range(KILLS // EACH):
        problems, seen = folder_of_kills(EACH, chance)
        found += problems
        notes += seen
    said = [", ".join(f"{count} {what}" for what, count in sorted(notes.items())), *found[:3]]
    yield Figure(
        "wrong after kills", len(found), KILLS, "times", "kills", goal=0, note="; ".join(said)
    )


def folder_of_kills(kills: int, chance: random.Random) -> tuple[Sequence[str], Counter[str]]:
    """Kill a daemon that often in one folder; what is wrong, and counts of what was seen."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        meter = stack.enter_context(Meter.listening())
        script = json.dumps(list(_script(meter.url, kills + 1)))
        url = stack.enter_context(model(folder, script))
        session = Session(folder, url, meter)
        ready, busy = session.whole()
        problems: list[str] = []
        for _ in range(kills):
            starting = chance.random() < _STARTING
            session.killed(chance.uniform(0, 1.2) * (ready if starting else busy), starting)
            problems += _whole(folder)
        problems += session.ends_in_peace()
        return [*problems, *_wrong(folder, meter.seen)], _noted(folder, meter.seen)


@dataclass
class Meter:
    """A service that counts who asks it for what, and mostly fails."""

    url: str
    seen: Counter[str] = field(default_factory=Counter)

    @classmethod
    @contextlib.contextmanager
    def listening(cls) -> Iterator[Meter]:
        """One that is up."""
        server = _Server(("127.0.0.1", 0), _Answers)
        meter = cls(f"http://127.0.0.1:{server.server_address[1]}")
        server.meter = meter  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield meter
        server.shutdown()
        server.server_close()


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Whoever asked was killed."""


class _Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Not what was asked for, except where the path says that the second time works."""
        meter: Meter = self.server.meter  # type: ignore[attr-defined]
        address = f"{meter.url}{self.path}"
        meter.seen[address] += 1
        clock.sleep(_WORK)
        mends = self.path.startswith("/mends") and meter.seen[address] > 1
        body = b"{}" if mends else b"<html>"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *values: object) -> None:  # noqa: A002
        """Nobody reads it."""


class Session:
    """A daemon's folder, and the conversations that it is given each time it lives."""

    def __init__(self, folder: Path, model_url: str, meter: Meter) -> None:
        self._meter = meter
        settings = {
            "workspace": str(folder),
            "model": {"base_url": model_url, "retries": 0},
            "recovery": {
                "act": True,
                "attempts": _ATTEMPTS,
                "usd_per_run": _PER_RUN * _PRICE / 1e6,
                "usd_per_day": _PER_DAY * _PRICE / 1e6,
                "prices": {"http_get": _PRICE / 1e6},
            },
        }
        (folder / "settings.yaml").write_text(json.dumps(settings))
        self._places = Places(folder)
        self._environment = {"AGENTD_HOME": str(folder), "ANTHROPIC_API_KEY": "none"}

    def whole(self) -> tuple[float, float]:
        """Seconds until it takes conversations, and from its first call to the end of the turns."""
        began = clock.monotonic()
        with self._daemon() as daemon:
            until = began + _PATIENCE
            while not self._converse() and clock.monotonic() < until:
                clock.sleep(0.02)
            ready = clock.monotonic() - began
            self._first_call(0)
            called = clock.monotonic()
            while self._running() and clock.monotonic() < until:
                clock.sleep(0.02)
            busy = clock.monotonic() - called
            daemon.kill()
        return ready, busy

    def killed(self, seconds: float, starting: bool) -> None:
        """Be killed that long after the start, or after the first call of a life."""
        began, seen = clock.monotonic(), self._meter.seen.total()
        with self._daemon() as daemon:
            until = began + (seconds if starting else _PATIENCE)
            while clock.monotonic() < until and not self._converse():
                clock.sleep(0.01)
            if not starting:
                self._first_call(seen)
            clock.sleep(max(until - clock.monotonic(), 0) if starting else seconds)
            daemon.kill()

    def _first_call(self, seen: int) -> None:
        """Wait for one; a life whose turns end before any has none."""
        until = clock.monotonic() + _PATIENCE
        while self._meter.seen.total() == seen and clock.monotonic() < until:
            if not self._running():
                return
            clock.sleep(0.005)

    def ends_in_peace(self) -> Sequence[str]:
        """Begin once more, and stop; what is wrong with that."""
        with self._daemon() as daemon:
            until = clock.monotonic() + _PATIENCE
            while not self._answers() and clock.monotonic() < until:
                clock.sleep(0.05)
            answered = self._answers()
            daemon.send_signal(signal.SIGTERM)
            code = daemon.wait(_PATIENCE)
        return [] if answered and code == 0 else [f"a restart answered {answered}, ended {code}"]

    def _daemon(self) -> contextlib.AbstractContextManager[subprocess.Popen[str]]:
        return started("agentd", "serve", **self._environment)

    def _converse(self) -> bool:
        """Begin the conversations, if it listens."""
        body = {"kind": "project", "message": "Fetch them."}
        try:
            for _ in range(_CONVERSATIONS):
                Client(self._places).ask("POST", "/conversations", body)
        except (OSError, DaemonGone, Refused):
            return False
        return True

    def _answers(self) -> bool:
        with contextlib.suppress(OSError, DaemonGone):
            return bool(Client(self._places).ask("GET", "/handoffs"))
        return False

    def _running(self) -> bool:
        found = Client(self._places).ask("GET", "/conversations")["conversations"]
        return any(each["state"] == "running" for each in found)


def _script(url: str, lives: int) -> Iterator[Mapping[str, Any]]:
    """Turns enough for every life: two calls that fail, then the end of a conversation."""
    for number in range(lives * _CONVERSATIONS):
        for kind in ("mends", "fails"):
            given = {"url": f"{url}/{kind}/{number}", "json": True}
            yield {"call": {"http_get": given}}
        yield {"say": "Done."}
    yield {"say": "Done.", "repeat": "always"}


def _whole(folder: Path) -> Sequence[str]:
    if not (folder / "agentd.db").exists():
        return []
    with contextlib.closing(sqlite3.connect(folder / "agentd.db")) as database:
        [(said,)] = database.execute("PRAGMA quick_check")
    return [] if said == "ok" else [f"the store is damaged: {said}"]


def _rows(folder: Path, query: str) -> Sequence[tuple[Any, ...]]:
    with contextlib.closing(sqlite3.connect(folder / "agentd.db")) as database:
        return database.execute(query).fetchall()


def _wrong(folder: Path, seen: Mapping[str, int]) -> Iterator[str]:
    """Where the ledger, the limits and what people were given are not as they must be."""
    attempts, failures = _rows(folder, _ROWS), dict(_rows(folder, _FAILURES))
    settled, spent, runs = Counter[str](), Counter[str](), Counter[str]()
    for failure, conversation, state, cost in attempts:
        counts = state != "released"
        settled[failures[failure]] += state == "settled"
        spent[failures[failure]] += counts
        runs[conversation] += counts
        if state == "reserved" or cost != counts * _PRICE:
            yield f"an attempt is {state} at {cost}"
    for address, times in seen.items():
        made = times - 1
        if not settled[address] <= made <= spent[address]:
            yield f"{address}: {settled[address]} settled, {made} made, {spent[address]} spent"
        if made > _ATTEMPTS:
            yield f"{address}: {made} attempts"
    yield from (f"run {run}: {each} attempts" for run, each in runs.items() if each > _PER_RUN)
    if runs.total() > _PER_DAY:
        yield f"{runs.total()} attempts in a day"
    yield from _not_given(folder, set(failures))


def _not_given(folder: Path, failures: set[str]) -> Iterator[str]:
    given = dict(_rows(folder, _GIVEN))
    mended = {failure for (failure,) in _rows(folder, _MENDED)}
    yield from (f"nobody was given {failure}" for failure in failures - mended - set(given))
    yield from (f"not delivered: {failure}" for failure, done in given.items() if not done)
    if (cards := len(set(_rows(folder, _CARDS)))) != len(given):
        yield f"{cards} cards for {len(given)} hand-offs"


def _noted(folder: Path, seen: Mapping[str, int]) -> Counter[str]:
    counted = Counter(f"attempts {state}" for _, _, state, _ in _rows(folder, _ROWS))
    given = len(_rows(folder, _GIVEN))
    return counted + Counter({"attempts seen": sum(seen.values()) - len(seen), "hand-offs": given})
