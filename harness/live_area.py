"""The live area of a run on a terminal: what runs now, what came of the rest, how long it took.

Trials that have ended scroll by above it. Names and messages of trials are shown as text: nothing
in them is markup, and no control character of theirs reaches the terminal.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TextIO, cast

from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.report.plain import plain, short
from harness.report.table import STYLES
from sandboxes import clock
from verifiers.verdicts import Verdict

_EVERY: Final = 0.25
#: Trials that are shown as running, and lines of a terminal that are left to what scrolls by.
_MOST, _REST = 12, 4
_VERDICT, _PHASE, _SECONDS = 11, 10, 6
_LONGEST: Final = 400
_LONG: Final = 100
_AS_IT_MUST: Final = "caught"
_MARKED: Final = {_AS_IT_MUST: "green", "known": "cyan", "known-fixed": "bold red"}
_ORDER: Final = ("passed", _AS_IT_MUST, "known")


@dataclass(slots=True)
class _Running:
    begun: float
    phase: str = ""


class LiveArea:
    """Draws itself every quarter of a second, from a thread of its own; no trial waits for it."""

    def __init__(self, out: TextIO, total: int, stopping: Callable[[], bool]) -> None:
        """Take the bottom of the terminal, until :meth:`close`.

        Args:
            out: the terminal.
            total: trials.
            stopping: whether the user has ended the run.
        """
        self._total = total
        self._stopping = stopping
        self._begun = clock.monotonic()
        self._running: dict[str, _Running] = {}
        self._counts: Counter[str] = Counter()
        self._ended: list[Group] = []
        self._lock = threading.Lock()
        self._console = Console(
            file=cast("TextIO", _Unheard(out)),
            force_terminal=True,
            highlight=False,
            markup=False,
            emoji=False,
        )
        self._live = Live(
            get_renderable=self._area,
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )
        self._live.start()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._draw_on, name="shakeout-live", daemon=True)
        self._thread.start()

    def begins(self, trial: str) -> None:
        """Show it as running from now on."""
        with self._lock:
            self._running[trial] = _Running(clock.monotonic())

    def reaches(self, trial: str, phase: str) -> None:
        """Show what it does now."""
        with self._lock:
            if trial in self._running:
                self._running[trial].phase = phase

    def ends(self, trial: str, verdict: Verdict, message: str, label: str = "") -> None:
        """Let it scroll by above, with its message where it is not as it should be."""
        with self._lock:
            running = self._running.pop(trial, _Running(clock.monotonic()))
            self._counts[label or verdict.value] += 1
            word = f"{verdict.value}, {label}" if label else verdict.value
            line = _text(f"{word:<{_VERDICT}} ", _style(label or verdict.value))
            line.append_text(_text(f"{trial} ")).append_text(_text(_took(running.begun), "dim"))
            told = bool(message) and verdict is not Verdict.PASSED and label != _AS_IT_MUST
            why = [Padding(_text(short(message, _LONGEST)), (0, 0, 0, 4))] if told else []
            self._ended.append(Group(line, *why))

    def close(self) -> None:
        """Leave nothing but what has ended on the terminal, and the cursor as it was."""
        self._closed.set()
        self._thread.join()
        self._draw()
        self._live.stop()

    def _draw_on(self) -> None:
        while not self._closed.wait(_EVERY):
            self._draw()

    def _draw(self) -> None:
        """What has ended, and the area beneath it, in one go."""
        with self._lock:
            ended, self._ended = self._ended, []
        with self._console:
            if ended:
                self._console.print(*ended, sep="\n")
            self._live.refresh()

    def _area(self) -> Group:
        with self._lock:
            running = [(name, one.begun, one.phase) for name, one in self._running.items()]
            counts = Counter(self._counts)
        room = max(1, min(_MOST, self._console.height - _REST))
        shown = running if len(running) <= room else running[: room - 1]
        table = Table.grid(padding=(0, 1))
        table.add_column(justify="right", no_wrap=True, width=_SECONDS, style="dim")
        table.add_column(no_wrap=True, width=_PHASE, style="cyan")
        table.add_column(no_wrap=True, overflow="crop")
        rest = max(1, self._console.width - _SECONDS - _PHASE - 2)
        for name, begun, phase in shown:
            table.add_row(_took(begun), _text(phase), _text(without_middle(name, rest)))
        if more := len(running) - len(shown):
            table.add_row("", "", _text(f"and {more} more"))
        return Group(table, Text(" ").join(self._summary(counts)))

    def _summary(self, counts: Counter[str]) -> Iterator[Text]:
        """How far the run is, how many came to what, and how long it has taken."""
        yield Text(f"{counts.total()}/{self._total}", "bold")
        for word in sorted(counts, key=_rank):
            yield _text(f"{counts[word]} {word}", _style(word))
        minutes, seconds = divmod(int(clock.monotonic() - self._begun), 60)
        yield Text(f"{minutes}:{seconds:02}", "dim")
        if self._stopping():
            yield Text("stopping", "bold yellow")


def without_middle(name: str, width: int) -> str:
    """A name of at most so many characters: trials of one case differ at the end."""
    if len(name) <= width:
        return name
    end = width // 2
    return f"{name[: width - end - 1]}…{name[len(name) - end :]}"


def _took(begun: float) -> str:
    seconds = clock.monotonic() - begun
    return f"{seconds:.1f} s" if seconds < _LONG else f"{seconds:.0f} s"


def _style(word: str) -> str:
    return STYLES.get(word) or _MARKED.get(word, "")


def _rank(word: str) -> tuple[int, str]:
    return _ORDER.index(word) if word in _ORDER else len(_ORDER), word


def _text(text: str, style: str = "") -> Text:
    return Text(plain(text, keep=""), style)


class _Unheard:
    """A stream whose reader may be gone: then nobody is told, and nobody is stopped by it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
