"""The person behind a service: what she answers, when, and what a fault makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from harness.case.grammar import GrammarError
from harness.services.chat.human import (
    PRESS,
    SAY,
    Act,
    Human,
    Rule,
    Sway,
    read_rules,
    rules_schema,
)
from harness.services.registry import SERVICES


@dataclass
class Time:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def says(
    text: str, pattern: str | None = ".", after: float = 0.0, times: int | None = None
) -> Rule:
    return Rule(Act(SAY, text), pattern, after, times)


def human(*rules: Rule) -> tuple[Human, Time]:
    time = Time()
    return Human(rules, time), time


def ask(person: Human, text: str = "may I?", *, buttons: tuple[str, ...] = ()) -> None:
    def allows(act: Act) -> bool:
        return act.kind == SAY or act.what in buttons

    person.reads(text, text, allows)


def heard(person: Human) -> list[str]:
    return [due.act.what for due in person.acts()]


def test_the_first_rule_that_fits_and_has_times_left_answers():
    person, _ = human(says("no", "del", times=1), says("yes", "^del"), says("what?", "x"))

    for text in ("delete", "delete", "undelete", "nothing", "x"):
        ask(person, text)

    assert heard(person) == ["no", "yes", "what?"]
    assert heard(person) == []


def test_a_rule_that_presses_fits_only_what_has_the_button():
    person, _ = human(Rule(Act(PRESS, "ok"), "."), says("where is the button?"))

    ask(person)
    ask(person, buttons=("ok",))

    assert heard(person) == ["where is the button?", "ok"]


def test_what_she_does_takes_her_time_and_comes_in_order():
    person, time = human(says("slow", "slow", 2.0), says("quick", "quick", 0.5))
    ask(person, "slow")
    ask(person, "quick")

    assert person.patience() == 0.5
    assert heard(person) == []
    time.now += 0.5
    assert heard(person) == ["quick"]
    assert person.patience() == 1.5
    time.now += 10
    assert person.patience() == 0
    assert heard(person) == ["slow"]
    assert person.patience() == float("inf")


def test_what_she_does_unasked_is_counted_from_when_the_subject_comes():
    person, time = human(says("/start", None, 1.0))
    time.now += 100
    assert heard(person) == []
    person.wakes()
    time.now += 0.9
    person.wakes()
    assert heard(person) == []
    time.now += 0.2
    assert heard(person) == ["/start"]


def test_a_muted_answer_leaves_the_rule_for_when_the_subject_asks_again():
    person, time = human(says("yes", times=1, after=1.0))
    swayed = person.sway(Sway(mute=True))
    ask(person)
    assert swayed.moments == [time.now + 1]
    time.now += 2
    assert heard(person) == []

    person.unsway(swayed)
    ask(person)
    time.now += 1

    assert heard(person) == ["yes"]
    assert len(swayed.moments) == 1


def test_a_late_answer_comes_later_and_another_one_instead_of_it():
    person, time = human(says("yes", after=1.0))
    person.sway(Sway(late=2.0))
    person.sway(Sway(instead=(Act(PRESS, "no"), Act(SAY, "nope"))))
    ask(person)
    ask(person, buttons=("no",))

    time.now += 2.9
    assert heard(person) == []
    time.now += 0.2
    assert heard(person) == ["nope", "no"]


def test_nobody_meets_a_sway_who_did_not_ask_or_did_not_stay():
    person, time = human(says("yes", "may", after=1.0), says("hello", None))
    swayed = person.sway(Sway(mute=True))
    person.wakes()
    ask(person, "I tell you")
    person.looked_for()
    assert heard(person) == ["hello"]
    assert swayed.met(float("inf")) == 0

    ask(person, "may I?")
    person.looked_for()

    assert swayed.met(time.now + 0.9) == 0
    assert swayed.met(time.now + 1.0) == 1
    assert swayed.looks == 0
    time.now += 1.5
    person.looked_for()
    assert swayed.looks == 1
    assert swayed.met(float("-inf")) == 1


MOMENTS = st.floats(0, 10, allow_nan=False).map(lambda t: round(t, 3))
WORDS = st.sampled_from(["a", "b", "ab", "c"])


@given(
    rules=st.lists(
        st.builds(says, WORDS, WORDS, MOMENTS, st.sampled_from([None, 1, 2])), max_size=4
    ),
    steps=st.lists(st.tuples(WORDS, MOMENTS), max_size=6),
    late=MOMENTS.filter(bool),
)
def test_she_says_late_what_she_would_have_said_in_time(rules, steps, late):
    prompt, time = human(*rules)
    tardy = Human(rules, time)
    swayed = tardy.sway(Sway(late=late))
    asked = 0
    for text, passed in steps:
        ask(prompt, text)
        ask(tardy, text)
        asked += 1
        time.now += passed
    time.now += 100

    in_time, too_late = prompt.acts(), tardy.acts()

    assert sorted(d.act.what for d in in_time) == sorted(d.act.what for d in too_late)
    assert [d.at for d in in_time] == sorted(d.at for d in in_time)
    assert sorted(swayed.moments) == [d.at for d in in_time]
    assert [d.at + late for d in in_time] == pytest.approx([d.at for d in too_late])
    assert len(in_time) <= asked


TALKING = {name: kind for name, kind in SERVICES.items() if kind.person}


@pytest.mark.parametrize(
    "rule",
    [
        {"on": "x"},
        {"say": "x", "press": "y"},
        {"on": "(", "say": "x"},
        {"on": "x", "say": ""},
        {"say": "x", "times": 2},
        {"on": "x", "say": "x", "times": 0},
        {"on": "x", "say": "x", "when": "1s"},
    ],
)
def test_what_is_no_rule_is_refused_by_the_schema(rule):
    from harness.case.validate import validator

    check = validator(
        rules_schema(say={"type": "string", "minLength": 1}, press={"type": "string"})
    )

    assert not check.is_valid([rule])
    assert check.is_valid([{"on": "x", "say": "x", "times": 2, "after": "1s"}])


def test_nothing_can_be_pressed_unasked():
    with pytest.raises(GrammarError, match="unasked"):
        read_rules([{"press": "ok"}])


@pytest.mark.parametrize("name", sorted(TALKING))
def test_a_case_that_says_nothing_of_a_service_has_one_where_nobody_answers(name):
    kind = TALKING[name]
    Draft202012Validator(dict(kind.schema)).validate({"chat": {}})
    assert kind.parse is not None
    made: Any = kind.parse("chat", {})

    assert made.kind == name
    assert made.params.human == ()
    assert made.params.token is None
