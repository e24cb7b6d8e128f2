"""Where the events of a trial are drawn: pure geometry, in percent of the picture's width.

A lane has a number of slots; what falls into one slot is drawn as one mark that says how many it
stands for, so that a picture of a thousand requests is as readable as one of three.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.plural import plural
from harness.report.html import events
from harness.report.html.events import Event

SLOTS = 60
ROWS = 200
_EDGE = 2.0
_FREE = 5
_LETTER = 2.0
_TOLD = 4
_INTERVALS = 6
_LEAST = 0.001
_THIN = 0.3
_MINUTE = 60.0
_STEPS = (1, 2, 5, 10)
_WORST = ("alarm", "bad", "hit", "turn", "point", "minor")


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment, or several that lie too close to be told apart.

    Attributes:
        x: percent of the width.
        shape: of the gravest event in it.
        words: what it says.
        file: of the trial's folder.
        count: how many events it stands for.
        label: the number, where there is room for it.
    """

    x: float
    shape: str
    words: str
    file: str
    count: int
    label: str


@dataclass(frozen=True, slots=True)
class Span:
    """Something that lasted; ``x`` and ``width`` in percent."""

    x: float
    width: float
    shape: str
    words: str
    file: str
    label: str


@dataclass(frozen=True, slots=True)
class Strip:
    """A lane as it is drawn."""

    name: str
    note: str
    spans: Sequence[Span]
    marks: Sequence[Mark]


@dataclass(frozen=True, slots=True)
class Tick:
    """A label of the axis; ``anchor`` is start, middle or end."""

    x: float
    label: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Told:
    """A line of the table that says the same in words."""

    at: str
    lane: str
    words: str
    file: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """The picture, and its table.

    Attributes:
        strips: from top to bottom.
        ticks: of the axis.
        told: the table, in the order of time.
        untold: how many events more there are than the table tells.
    """

    strips: Sequence[Strip]
    ticks: Sequence[Tick]
    told: Sequence[Told]
    untold: int

    @property
    def shapes(self) -> frozenset[str]:
        """What a legend has to explain."""
        marks = {mark.shape for strip in self.strips for mark in strip.marks}
        return frozenset(marks | {span.shape for strip in self.strips for span in strip.spans})

    @property
    def several(self) -> bool:
        """Whether a mark stands for more than one event."""
        return any(mark.count > 1 for strip in self.strips for mark in strip.marks)


@dataclass(frozen=True, slots=True)
class _Axis:
    low: float
    high: float

    def x(self, t: float) -> float:
        share = (t - self.low) / (self.high - self.low)
        return round(_EDGE + (100 - 2 * _EDGE) * min(1.0, max(0.0, share)), 2)


def timeline(lanes: Sequence[events.Lane], rows: int = ROWS) -> Timeline | None:
    """Draw the lanes; ``None`` where nothing happened.

    Args:
        lanes: what happened.
        rows: how many lines the table may have.
    """
    if not lanes:
        return None
    axis = _axis([event for lane in lanes for event in lane.events])
    told = sorted(((event, lane.name) for lane in lanes for event in lane.events), key=_when)
    return Timeline(
        strips=[_strip(lane, axis) for lane in lanes],
        ticks=list(_ticks(axis)),
        told=[Told(_at(e.t), name, _in_words(e), e.file) for e, name in told[:rows]],
        untold=max(0, len(told) - rows),
    )


def _when(entry: tuple[Event, str]) -> float:
    return entry[0].t


def _at(t: float) -> str:
    return f"{round(t, 3) + 0.0:.3f} s"  # never minus nothing


def _in_words(event: Event) -> str:
    if event.end is None or event.end == event.t:
        return event.words
    return f"{event.words} (until {event.end:.3f} s)"


def _axis(every: Sequence[Event]) -> _Axis:
    low = min(0.0, *(event.t for event in every))
    high = max(event.t if event.end is None else event.end for event in every)
    return _Axis(low, max(high, low + _LEAST))


def _strip(lane: events.Lane, axis: _Axis) -> Strip:
    slots: dict[int, list[Event]] = {}
    for event in lane.events:
        if event.end is None:
            slots.setdefault(int(axis.x(event.t) * SLOTS / 100), []).append(event)
    marks = list(_marks(sorted(slots.items()), axis))
    taken = [mark.x for mark in marks]
    spans = [_span(event, axis, taken) for event in lane.events if event.end is not None]
    return Strip(lane.name, lane.note, spans, marks)


def _span(event: Event, axis: _Axis, taken: Sequence[float]) -> Span:
    """A span; its label is left out where it would not fit, or lie beneath a mark."""
    x = axis.x(event.t)
    width = round(axis.x(event.end if event.end is not None else event.t) - x, 2)
    room = _LETTER * len(event.label) + _LETTER
    fits = width > room and not any(x - _LETTER < other < x + room for other in taken)
    words = f"{_at(event.t)}: {_in_words(event)}"
    label = event.label if fits else ""
    return Span(x, max(width, _THIN), event.shape, words, event.file, label)


def _marks(slots: Sequence[tuple[int, Sequence[Event]]], axis: _Axis) -> Iterator[Mark]:
    labelled = -SLOTS
    for slot, inside in slots:
        first, count = inside[0], len(inside)
        told = count > 1 and slot - labelled >= _FREE
        labelled = slot if told else labelled
        yield Mark(
            x=axis.x(first.t) if count == 1 else round((slot + 0.5) * 100 / SLOTS, 2),
            shape=min((event.shape for event in inside), key=_WORST.index),
            words=f"{_at(first.t)}: {first.words}" if count == 1 else _summed(inside),
            file=first.file,
            count=count,
            label=str(count) if told else "",
        )


def _summed(inside: Sequence[Event]) -> str:
    when = f"{inside[0].t:.3f} to {inside[-1].t:.3f} s"
    told = "; ".join(event.words for event in inside[:_TOLD])
    more = f"; and {len(inside) - _TOLD} more" if len(inside) > _TOLD else ""
    return f"{when}: {plural(len(inside), 'event')}: {told}{more}"


def _ticks(axis: _Axis) -> Iterator[Tick]:
    step = _step(axis.high - axis.low)
    number = math.ceil(axis.low / step)
    while number * step <= axis.high:
        x = axis.x(number * step)
        anchor = "start" if x < 5 else "end" if x > 94 else "middle"
        yield Tick(x, _label(number * step, step), anchor)
        number += 1


def _step(length: float) -> float:
    """The least round step that cuts the axis into no more than a few intervals."""
    unit = _MINUTE if length > 2 * _MINUTE else 1.0
    rough = length / unit / _INTERVALS
    power = 10.0 ** math.floor(math.log10(rough))
    return next(unit * power * step for step in _STEPS if power * step >= rough * 0.999)


def _label(t: float, step: float) -> str:
    if t == 0:
        return "0"
    if step >= _MINUTE:
        return f"{t / _MINUTE:g} min"
    return f"{round(t, 3):g} s" if step >= 0.1 else f"{round(t * 1000, 3):g} ms"
