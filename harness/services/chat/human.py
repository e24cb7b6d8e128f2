"""The person behind a chat service: she reads what the subject writes, and answers by rules.

Everything that she does is due at a moment, counted from the message that she answers. A fault
may sway her: then an answer is withheld, late, or another one. What she does comes to the
subject the way the service delivers it, and in no other. Whoever has a person like that lives
in the thread of the event loop, and so does she.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from harness.case import grammar
from harness.extension import Schema
from harness.search import search
from sandboxes import clock

SAY: Final = "say"
PRESS: Final = "press"
REACT: Final = "react"


class Act(NamedTuple):
    """Something that she does.

    ``kind`` is ``say``, ``press`` (a button) or ``react``, ``what`` the text, the button or the
    reaction, ``thread`` whether she says it in a thread, where the service has such.
    """

    kind: str
    what: str
    thread: bool = True


@dataclass(frozen=True, slots=True)
class Rule:
    """What she does about a message that matches.

    Attributes:
        act: what she does.
        pattern: a regular expression; ``None``: she does it unasked.
        after: seconds from the message; if unasked, from the first request to the service.
        times: how many messages it answers; ``None``: any number.
    """

    act: Act
    pattern: str | None = None
    after: float = 0.0
    times: int | None = None


class Due(NamedTuple):
    """What she is about to do: the moment on the monotonic clock, and the message it is about."""

    at: float
    act: Act
    about: Any = None


@dataclass(frozen=True, slots=True)
class Sway:
    """How a fault changes her answers.

    Attributes:
        mute: she gives none.
        late: seconds by which they come later.
        instead: what she does instead; the first that the message allows.
    """

    mute: bool = False
    late: float = 0.0
    instead: Sequence[Act] = ()


@dataclass(slots=True, eq=False)
class Swayed:
    """A sway in force, and what it changed.

    Attributes:
        moments: when the answers that it changed would have come.
        looks: how often the subject looked for answers after the first of these.
        looked: when it did so last.
    """

    sway: Sway
    moments: list[float] = field(default_factory=list)
    looks: int = 0
    looked: float = float("-inf")

    def met(self, end: float) -> int:
        """How many of the moments came while there was somebody to notice.

        The subject was there up to ``end``, and beyond that as long as it went on looking.
        """
        last = max(end, self.looked)
        return sum(moment <= last for moment in self.moments)


class Human:
    """The person of one service of one trial."""

    def __init__(self, rules: Sequence[Rule], now: Callable[[], float] = clock.monotonic) -> None:
        self._rules = rules
        self._now = now
        self._used = [0] * len(rules)
        self._awake = False
        self._due: list[Due] = []
        self._swayed: list[Swayed] = []

    def wakes(self) -> None:
        """The subject has come to the service: what she does unasked is counted from now."""
        if self._awake:
            return
        self._awake = True
        for rule in self._rules:
            if rule.pattern is None:
                self._plan(Due(self._now() + rule.after, rule.act))

    def reads(self, text: str, message: Any, allows: Callable[[Act], bool]) -> None:
        """A message has come: the first rule that fits and has ``times`` left answers it.

        Args:
            text: what the rules look at.
            message: the service's own, given back with what is due.
            allows: whether the message lets her do something, such as press a button.
        """
        for place, rule in enumerate(self._rules):
            if self._fits(place, rule, text) and allows(rule.act):
                due = Due(self._now() + rule.after, rule.act, message)
                swayed = self._sway(due, allows)
                if swayed is not None:  # else the rule is left for when the subject asks again
                    self._used[place] += 1
                    self._plan(swayed)
                return

    def acts(self) -> Sequence[Due]:
        """What has become due, in order; given once."""
        count = bisect.bisect_right(self._due, self._now(), key=lambda due: due.at)
        acts, self._due = self._due[:count], self._due[count:]
        return acts

    def patience(self) -> float:
        """Seconds until she does something next."""
        return max(0.0, self._due[0].at - self._now()) if self._due else float("inf")

    def looked_for(self) -> None:
        """The subject looks for what she has said."""
        now = self._now()
        for swayed in self._swayed:
            if any(moment <= now for moment in swayed.moments):
                swayed.looks += 1
                swayed.looked = now

    def sway(self, sway: Sway) -> Swayed:
        """From now on, change the answers to what she is asked."""
        swayed = Swayed(sway)
        self._swayed.append(swayed)
        return swayed

    def unsway(self, swayed: Swayed) -> None:
        """Change those to later messages no more."""
        swayed.sway = Sway()

    def _fits(self, place: int, rule: Rule, text: str) -> bool:
        if rule.pattern is None or (rule.times is not None and self._used[place] >= rule.times):
            return False
        return search(rule.pattern, text) is not None

    def _sway(self, due: Due, allows: Callable[[Act], bool]) -> Due | None:
        for swayed in self._swayed:
            sway = swayed.sway
            if sway == Sway():
                continue
            swayed.moments.append(due.at)
            if sway.mute:
                return None
            instead = next((act for act in sway.instead if allows(act)), due.act)
            act = instead._replace(thread=due.act.thread)
            due = Due(due.at + sway.late, act, due.about)
        return due

    def _plan(self, due: Due) -> None:
        bisect.insort(self._due, due, key=lambda each: each.at)


def rules_schema(**acts: Schema) -> Schema:
    """The schema of ``human``, for a service in which she can do these."""
    return {
        "type": "array",
        "description": "what the person there does; the first rule that fits a message and has "
        "`times` left answers it, and a message that none fits is left without an answer",
        "default": [],
        "items": {
            "type": "object",
            "description": "one rule",
            "additionalProperties": False,
            "properties": {
                "on": {
                    **grammar.REGEX,
                    "description": "matches what the subject says to her: the text, a caption; "
                    "without it she does it once and unasked",
                    "examples": ["approve"],
                },
                **acts,
                "after": {
                    **grammar.DURATION,
                    "description": "how long that takes her, from the message, or unasked from "
                    "the first request to the service",
                    "default": "0s",
                },
                "times": {
                    "description": "how many messages it answers",
                    "oneOf": [{"type": "integer", "minimum": 1}, {"const": "always"}],
                    "default": "always",
                },
            },
            "dependentRequired": {"times": ["on"]},
            "oneOf": [{"required": [act]} for act in acts if act in {SAY, PRESS, REACT}],
        },
    }


def read_rules(written: Sequence[Mapping[str, Any]]) -> tuple[Rule, ...]:
    """The rules that a case writes, validated against :func:`rules_schema`.

    Raises:
        GrammarError: a button is to be pressed that no message offers.
    """
    return tuple(_rule(rule) for rule in written)


def _rule(written: Mapping[str, Any]) -> Rule:
    kind = next(act for act in (SAY, PRESS, REACT) if act in written)
    if kind != SAY and "on" not in written:
        raise grammar.GrammarError(
            f"cannot be what she does unasked: there is nothing to {kind}",
            written[kind],
            "write on, with what the message says",
        )
    times = written.get("times", "always")
    return Rule(
        Act(kind, written[kind], written.get("thread", True)),
        written.get("on"),
        grammar.duration(written.get("after", "0s")),
        None if times == "always" else times,
    )
