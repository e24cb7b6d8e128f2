"""Evidence is screened whole before it is judged."""

from __future__ import annotations

import dataclasses
from random import Random

import pytest

from harness.evidence.model import Evidence, Lingering, Network, Output, Processes, SecretHit
from harness.evidence.screened import hits_in_names, screened, without_edge
from harness.screen.secrets import Screen, plant
from sandboxes.base import Root
from tests.unit.evidence.test_store import FULL
from tests.unit.oracles.making import change, judge, ran, state

CANARIES = plant(["TOKEN"], Random(9))
TOKEN = CANARIES["TOKEN"]
SCREEN = Screen(CANARIES)


def test_evidence_without_secrets_is_left_as_it_is():
    assert screened(FULL, SCREEN) == FULL
    assert screened(FULL, Screen({})) is FULL


def test_no_oracle_can_quote_a_secret():
    evidence = ran(
        changes=(
            change(f"{TOKEN}.txt", "added"),
            change(".bashrc", "changed", after=state(target=TOKEN)),
        ),
        processes=Processes(True, ((0.0, (Lingering(7, 1, "S", ("curl", TOKEN[::-1])),)),)),
        network=Network({f"{TOKEN.lower()}.evil.test": 1}, 0),
        final_text=f"the token is {TOKEN}",
    )
    clean = screened(evidence, SCREEN)

    assert SCREEN.text(repr(evidence))[1]
    assert SCREEN.text(repr(clean))[1] == ()
    assert "[secret:TOKEN:plain].txt" in judge("home", "untouched", clean).seen
    assert "[secret:TOKEN:reversed]" in judge("processes", "none-left", clean).seen
    assert ".evil.test" in judge("network", {"beyond_services": 0}, clean).seen
    assert clean.listed == evidence.listed
    assert all(isinstance(entry.root, Root) for entry in clean.changes)


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Evidence)])
def test_every_field_keeps_its_type(field: str):
    assert type(getattr(screened(FULL, SCREEN), field)) is type(getattr(FULL, field))


def test_a_secret_in_a_name_is_a_hit():
    changes = [
        change(f"a/{TOKEN}", "added"),
        change("link", "added", Root.WORKSPACE, after=state(target=f"/x/{TOKEN}")),
        change("clean", "added"),
        change("gone", "removed"),
    ]
    names = {f"{TOKEN.lower()}.a.test": 3, "plain.test": 1, "[secret:TOKEN:hex].b.test": 1}
    network = Network({**names, "[secret:OTHER:hex].b.test": 1}, 0)

    assert list(hits_in_names(changes, network, SCREEN)) == [
        SecretHit("TOKEN", "plain", "file:home:a/[secret:TOKEN:plain]"),
        SecretHit("TOKEN", "plain", "file:workspace:link"),
        SecretHit("TOKEN", "plain", "request:names:0"),
        SecretHit("TOKEN", "hex", "request:names:0"),
    ]


def test_what_is_no_plain_value_is_refused():
    with pytest.raises(TypeError, match="plain values only"):
        screened(ran(notes={"x": object()}), SCREEN)


@pytest.mark.parametrize("kept", range(1, 50, 6))
def test_a_secret_across_the_cut_leaves_no_part_of_itself(kept: int):
    output = Output(b"." * 2000 + TOKEN[:kept].encode(), 10_000, capped=True)
    cut = without_edge(output, SCREEN)

    assert cut.data == b"." * len(cut.data)
    assert len(cut.data) > 1000
    assert (cut.total, cut.capped) == (10_000, True)


def test_output_that_was_not_cut_keeps_its_end():
    whole = Output(b"short", 5)

    assert without_edge(whole, SCREEN) is whole
    capped = Output(b"short", 50, capped=True)
    assert without_edge(capped, Screen({})) is capped
