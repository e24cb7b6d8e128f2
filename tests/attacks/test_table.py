"""The table of attacks is whole: every kind is there, and nothing in it is there by name only."""

from __future__ import annotations

from pathlib import Path

from tests.attacks.form import REFUSED
from tests.attacks.registry import ATTACKS, KINDS, page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "attacks.md"
WANTED = {
    "forged reports and finish markers",
    "planted files that run where the judge looks",
    "broken tools and dead sandboxes",
    "what a path is when it is looked at",
    "races against the freeze",
    "faults eaten by other requests",
    "clock games, and deeds undone in between",
    "a control side to talk to",
    "a full disk on the host",
    "terminal escapes and markup",
    "more than anybody can keep",
    "secrets in other words and places",
    "stories that really happened",
    "the author of a case",
}
STORIES = {"B1-08", "B2-09", "B5-05", "B5-06", "B8-06", "B10-06"}


def test_every_kind_of_attack_is_there():
    assert set(KINDS) == WANTED
    assert all(KINDS.values())


def test_there_are_many_and_each_has_a_name_of_its_own():
    assert len(ATTACKS) == sum(map(len, KINDS.values()))
    assert len(ATTACKS) >= 80


def test_each_says_what_stops_it_and_can_be_run_without():
    for attack in ATTACKS.values():
        assert attack.does, attack.name
        assert attack.defence, attack.name
        assert attack.reason, attack.name
        assert callable(attack.weaken), attack.name
        assert attack.ends in {"failed", "timed_out", "unavailable", "error", REFUSED}, attack.name


def test_the_stories_are_told():
    told = " ".join(attack.does for attack in KINDS["stories that really happened"])

    assert all(f"[{story}]" in told for story in STORIES)


def test_containers_are_tried_where_the_place_matters():
    in_containers = {kind for kind, attacks in KINDS.items() if any(a.docker for a in attacks)}

    assert in_containers >= {
        "broken tools and dead sandboxes",
        "what a path is when it is looked at",
        "races against the freeze",
        "more than anybody can keep",
    }


def test_the_page_is_that_of_the_table():
    assert PAGE.read_text() == page(), "run python -m tests.attacks > docs/attacks.md"
