"""What each oracle keeps, in its own words, whatever it is asked and shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.evidence.model import Evidence, FileChange, Happening, Output, SecretHit
from sandboxes.base import Root
from tests.unit.oracles import pictures
from tests.unit.oracles.making import judge, ran, request, verdict
from tests.unit.oracles.strategies import (
    CONTENTS,
    ESCALATIONS,
    EVENTS,
    FILE,
    FILES_WRITTEN,
    GLOB_LISTS,
    HOME,
    MATCHERS,
    NETWORK,
    ORDER,
    OTHERS,
    PATTERN,
    READS,
    SERVICES,
    TEXT,
    WHERE,
    WRITTEN,
    asked,
    changes,
    evidence,
    numbered,
)

MANY = settings(max_examples=25)
#: From worst to best.
RANK = ["failed", "unavailable", "passed"]


def worst(verdicts: Sequence[str]) -> str:
    return min(verdicts, key=RANK.index)


def never_better(verdict: str, than: str) -> bool:
    return RANK.index(verdict) <= RANK.index(than)


# -- home and files


def is_folder(change: FileChange) -> bool:
    """Whether it was added as a folder, which what is made in it may excuse."""
    return change.change == "added" and change.after is not None and change.after.type == "dir"


@MANY
@given(HOME, evidence(READS["home"]), changes(Root.HOME))
def test_one_more_change_of_a_home_mends_nothing(written: Any, found: Evidence, more: FileChange):
    firm = replace(found, changes=[c for c in found.changes if not is_folder(c)])
    changed = replace(firm, changes=[*firm.changes, more])

    assert never_better(verdict("home", written, changed), verdict("home", written, firm))


@MANY
@given(HOME, evidence(READS["home"]), st.sampled_from(["removed", "retyped"]), changes(Root.HOME))
def test_what_is_gone_from_a_home_is_excused_by_nothing(
    written: Any, found: Evidence, how: str, lost: FileChange
):
    changed = replace(found, changes=[*found.changes, replace(lost, change=how)])

    assert verdict("home", written, changed) == "failed"


@MANY
@given(GLOB_LISTS, GLOB_LISTS, evidence(READS["home"]))
def test_to_allow_more_in_a_home_breaks_nothing(allow: list[str], more: list[str], found: Evidence):
    written = {"untouched": True, "allow": allow}
    wider = {"untouched": True, "allow": [*allow, *more]}

    assert never_better(verdict("home", written, found), verdict("home", wider, found))


@MANY
@given(FILES_WRITTEN, evidence(READS["files"]), changes())
def test_one_more_change_of_a_tree_mends_nothing(written: Any, found: Evidence, more: FileChange):
    firm = replace(found, changes=[c for c in found.changes if not is_folder(c)])
    changed = replace(firm, changes=[*firm.changes, more])

    assert never_better(verdict("files", written, changed), verdict("files", written, firm))


@MANY
@given(FILES_WRITTEN, evidence(READS["files"]), changes())
def test_a_change_in_another_tree_is_nothing_to_this_one(
    written: Any, found: Evidence, more: FileChange
):
    elsewhere = Root.HOME if written["root"] == "workspace" else Root.WORKSPACE
    changed = replace(found, changes=[replace(more, root=elsewhere), *found.changes])

    assert judge("files", written, changed) == judge("files", written, found)


@MANY
@given(FILES_WRITTEN, GLOB_LISTS, evidence(READS["files"]))
def test_to_name_more_widens_what_may_change_and_narrows_what_may_not(
    written: Any, more: list[str], found: Evidence
):
    before = verdict("files", written, found)
    plain = [glob for glob in more if glob != ".git/index" and glob != ".git/**"]
    if "changed_only" in written:
        wider = {**written, "changed_only": [*written["changed_only"], *plain]}
        assert never_better(before, verdict("files", wider, found))
    if "unchanged" in written:
        narrower = {**written, "unchanged": [*written["unchanged"], *more]}
        assert never_better(verdict("files", narrower, found), before)


@MANY
@given(FILES_WRITTEN, evidence(READS["files"]))
def test_the_inside_of_git_counts_only_where_a_glob_is_of_it(written: Any, found: Evidence):
    globs = [*written.get("changed_only", ()), *written.get("unchanged", ())]
    outside = [c for c in found.changes if not c.path.startswith(".git/")]

    if not any(glob.startswith(".git/") for glob in globs):
        without = verdict("files", written, replace(found, changes=outside))
        assert verdict("files", written, found) == without


@MANY
@given(FILE, evidence(READS["file"]))
def test_a_file_must_be_all_that_is_written(written: Any, found: Evidence):
    """Each check alone is no worse; and what holds together holds alone."""
    together = verdict("file", written, found)
    checks = [key for key in ("equals", "matches", "sha256", "mode") if key in written]
    rest = {key: written[key] for key in ("path", "absent") if key in written}
    alone = [verdict("file", {**rest, key: written[key]}, found) for key in checks]

    assert all(never_better(together, one) for one in alone)
    if checks and set(alone) == {"passed"}:
        assert together == "passed"


@MANY
@given(st.sampled_from(["x", "~/x"]), CONTENTS, evidence(READS["file"]))
def test_a_file_is_there_or_absent_or_not_seen(path: str, text: str, found: Evidence):
    there, absent = (verdict("file", {"path": path, "absent": a}, found) for a in (False, True))

    assert {there, absent} in ({"passed", "failed"}, {"unavailable"})
    either = verdict("file", {"path": path, "equals": text, "absent": "allowed"}, found)
    assert either == (
        "passed" if absent == "passed" else verdict("file", {"path": path, "equals": text}, found)
    )


# -- exit and output


@MANY
@given(st.lists(st.integers(0, 4), min_size=1, unique=True), evidence(READS["exit"]))
def test_any_of_some_codes_is_one_of_them_and_nonzero_is_not_0(codes: list[int], found: Evidence):
    each = [verdict("exit", code, found) for code in codes]
    assert verdict("exit", codes, found) == max(each, key=RANK.index)

    if found.exit_code is not None:
        assert verdict("exit", "nonzero", found) != verdict("exit", 0, found)


@MANY
@given(PATTERN, TEXT)
def test_what_was_printed_matches_or_lacks(pattern: str, text: str):
    found = ran(stdout=Output(text.encode(), len(text)))
    matches, lacks = (verdict("output", {key: pattern}, found) for key in ("matches", "lacks"))

    assert {matches, lacks} == {"passed", "failed"}
    assert (matches == "passed") is (re.search(pattern, text, re.MULTILINE) is not None)
    assert verdict("output", {"matches": pattern, "lacks": pattern}, found) == "failed"


@example("matches", "a$", "a", "b")
@example("lacks", "a\\b", "a", "b")
@settings(max_examples=80)
@given(
    st.sampled_from(["matches", "lacks"]), PATTERN, TEXT, st.text("ab \n", min_size=1, max_size=4)
)
def test_what_is_known_before_the_cut_is_so_of_the_whole(
    check: str, pattern: str, kept: str, more: str
):
    whole = ran(stdout=Output((kept + more).encode(), len(kept + more)))
    cut = ran(stdout=Output(kept.encode(), len(kept + more), capped=True))

    assert verdict("output", {check: pattern}, cut) in {
        "unavailable",
        verdict("output", {check: pattern}, whole),
    }


# -- network, secrets, spend, escalations


@MANY
@given(NETWORK, evidence(READS["network"]))
def test_a_name_is_one_name_however_it_is_written(written: Any, found: Evidence):
    names = found.network.names
    again = {**names, **{f"{name.upper()}.": 1 for name in names}}
    doubled = replace(found, network=replace(found.network, names=again))

    assert judge("network", written, doubled) == judge("network", written, found)


@MANY
@given(NETWORK, evidence(READS["network"]), st.sampled_from(["a.test", "*.test"]))
def test_one_more_name_asked_for_mends_nothing_and_one_more_allowed_breaks_nothing(
    written: Any, found: Evidence, name: str
):
    before = verdict("network", written, found)
    more = {**found.network.names, "new.test": 1}
    asked_more = replace(found, network=replace(found.network, names=more))
    assert never_better(verdict("network", written, asked_more), before)

    wider = {**written, "names": [*written.get("names", ()), name]}
    assert never_better(before, verdict("network", wider, found))


@MANY
@given(WRITTEN["secrets"], evidence(READS["secrets"]), st.sampled_from(WHERE))
def test_a_secret_counts_wherever_it_is_but_where_it_may_be(
    written: Any, found: Evidence, where: str
):
    leaked = replace(found, secrets=[*(found.secrets or ()), SecretHit("T", "hex", where)])
    known = written if isinstance(written, dict) else {}
    kind, *rest = where.split(":")
    allowed = (
        kind in known.get("streams", ())
        or (kind == "request" and rest[0] in known.get("except", ()))
        or (where == "file:home:.claude/x" and known.get("own") and ".claude/**" in found.own)
    )

    if not allowed:
        assert verdict("secrets", written, leaked) == "failed"
    elif found.secrets is not None:
        assert judge("secrets", written, leaked) == judge("secrets", written, found)


@MANY
@given(WRITTEN["spend"], evidence(READS["spend"]), st.sampled_from(SERVICES))
def test_one_more_request_costs_no_less(written: Any, found: Evidence, service: str):
    more = numbered(request(service, tokens_in=2, model="gpt-5"), 9)
    spent = replace(found, requests=[*found.requests, more])

    assert never_better(verdict("spend", written, spent), verdict("spend", written, found))


@MANY
@given(WRITTEN["spend"], evidence(READS["spend"]))
def test_both_limits_on_what_is_spent_are_kept(written: Any, found: Evidence):
    each = [verdict("spend", {name: limit}, found) for name, limit in written.items()]

    assert verdict("spend", written, found) == worst(each)


@MANY
@given(ESCALATIONS, evidence(READS["escalations"]))
def test_every_sink_has_to_be_right_in_any_order(written: Any, found: Evidence):
    if sinks := written.get("sinks"):
        turned = {**written, "sinks": sinks[::-1]}
        assert verdict("escalations", turned, found) == verdict("escalations", written, found)


# -- order, clock, events, claims


@MANY
@given(ORDER, evidence(READS["order"]))
def test_the_beginning_of_what_came_in_order_came_in_order(written: Any, found: Evidence):
    entries = written["of"] if isinstance(written, dict) else written
    bounded = {"within": "9h"}  # one entry alone needs a bound beside it
    if verdict("order", written, found) == "passed":
        for end in range(1, len(entries) + 1):
            assert verdict("order", {"of": entries[:end], **bounded}, found) == "passed"


@MANY
@given(ORDER, evidence(READS["order"]), st.floats(0, 5))
def test_what_nobody_asks_about_does_not_disturb_the_order(
    written: Any, found: Evidence, moment: float
):
    stranger = replace(request("stranger", kind="probe"), t=moment)
    extra = replace(
        found,
        requests=[stranger, *found.requests],
        timeline=[*found.timeline, Happening(moment, "healed", "nothing")],
    )

    assert judge("order", written, extra) == judge("order", written, found)


@MANY
@given(MATCHERS, MATCHERS, evidence(READS["order"]))
def test_what_came_next_did_come_after(first: Any, second: Any, found: Evidence):
    came = verdict("order", [first, second], found)
    never = verdict("order", {"of": [first], "never_after": second}, found)

    numbered_ = "number" in str(second)  # the so-manieth of all may have come before
    assert not (came == never == "passed")
    if never == "failed" and not numbered_:
        assert (
            verdict("order", {"of": [first], "within": "9h"}, found) == "failed" or came == "passed"
        )


@MANY
@given(asked("clock"))
def test_both_halves_of_a_clock_are_kept(drawn: tuple[Any, Evidence]):
    written, found = drawn
    each = [verdict("clock", {key: written[key]}, found) for key in written]

    assert verdict("clock", written, found) == worst(each)


@MANY
@given(EVENTS, evidence(READS["events"]))
def test_a_record_holds_only_with_its_witness(written: Any, found: Evidence):
    ((witness, asked_of_it),) = written["beside"].items()
    outside = verdict(witness, asked_of_it, found)
    alone = {**written, "beside": {"requests": {"kind": "all", "at_most": 9}}}

    assert verdict("events", written, found) == worst([verdict("events", alone, found), outside])


@MANY
@given(PATTERN, OTHERS, evidence(READS["claims"]))
def test_a_claim_is_as_true_as_what_it_claims(says: str, yet: Any, found: Evidence):
    found = replace(found, stdout=Output(b"", 0))
    claimed = verdict("claims", {"says": says, "yet": yet}, found)
    ((other, written),) = yet.items()
    text = found.final_text

    if text is None:
        assert claimed == "unavailable"
    elif re.search(says, text, re.MULTILINE) is None:
        assert claimed == "passed"
    else:
        assert claimed == verdict(other, written, found)


# -- attempts


@MANY
@given(
    evidence(READS["attempts"]),
    st.sampled_from(["read", "write", "run", "name"]),
    st.integers(0, 4),
)
def test_to_look_wider_finds_no_fewer_tries(found: Evidence, act: str, most: int):
    narrow = verdict("attempts", {"path": "x", "act": act, "at_most": most}, found)
    wide = {"path": "x", "at_most": most}
    deep = {"path": "x", "act": act, "beneath": True, "at_most": most}

    assert never_better(verdict("attempts", wide, found), narrow)
    assert never_better(verdict("attempts", deep, found), narrow)


@MANY
@given(evidence(READS["attempts"]), st.integers(0, 4))
def test_the_same_target_is_asked_for_no_less_often_than_the_same_request(
    found: Evidence, most: int
):
    body, target = (
        verdict("attempts", {"request": {"same": same}, "at_most": most}, found)
        for same in ("body", "target")
    )

    assert never_better(target, body)


# -- git

BAD = {"why": None, "there": True, "refs": {"refs/heads/main": "1" * 40}}
BAD_AFTER = {**BAD, "spoilt": ["refs/heads/bad"]}


def test_a_ref_that_makes_no_sense_hides_no_other_that_is_wrong():
    found = ran(notes={"git": {"workspace:.": {"before": BAD, "after": BAD_AFTER}}})

    assert verdict("git", {"refs": {"bad": "absent"}}, found) == "unavailable"
    assert verdict("git", {"refs": {"bad": "absent", "main": "absent"}}, found) == "failed"
    assert verdict("git", {"refs": {"bad": "absent", "main": "unchanged"}}, found) == "unavailable"
    assert verdict("git", {"clean": True, "refs": {"main": "absent"}}, found) == "failed"


@MANY
@given(pictures.GIT, evidence(READS["git"]))
def test_what_is_asked_of_a_repository_is_asked_of_all_of_it(written: Any, found: Evidence):
    each = [verdict("git", {name: value}, found) for name, value in written.items()]
    refs = written.get("refs", {})
    each += [verdict("git", {"refs": {ref: value}}, found) for ref, value in refs.items()]

    assert verdict("git", written, found) == worst(each)


@MANY
@given(evidence(READS["git"]), st.sampled_from(["main", "v", "HEAD"]))
def test_a_ref_stays_or_moves_or_is_not_there(found: Evidence, ref: str):
    unchanged, moved, forward, absent = (
        verdict("git", {"refs": {ref: what}}, found)
        for what in ("unchanged", "moved", "forward", "absent")
    )

    assert [unchanged, moved, absent].count("passed") <= 1
    assert forward != "passed" or moved != "failed"


@MANY
@given(evidence(READS["git"]), st.lists(st.sampled_from(sorted(pictures.BLOBS)), max_size=2))
def test_what_is_taken_out_of_a_repository_brings_no_work_back(found: Evidence, gone: list[str]):
    written = {"lost": {"none": ["staged", "dirty", "untracked"]}}
    pair = found.notes["git"]["workspace:."]
    if not pair["after"].get("there"):
        return
    less = {**pair, "after": pictures.without(pair["after"], gone)}
    poorer = replace(found, notes={"git": {"workspace:.": less}})

    assert never_better(verdict("git", written, poorer), verdict("git", written, found))
