"""What a rule needs and is about, as far as that can be said without a sandbox."""

from __future__ import annotations

import errno
import ipaddress
from collections import Counter
from types import SimpleNamespace

import pytest

from sandboxes.helper import binding, calls, rules
from sandboxes.helper.caller import Place
from sandboxes.rules import (
    DATA_VERBS,
    After,
    Fail,
    Full,
    Slow,
    Swap,
    Taken,
    Tear,
    Then,
    Verb,
    Watch,
    needs,
    request,
)


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        (Fail("/x", {Verb.READ, Verb.WRITE}, errno.EIO), {Watch.DATA}),
        (Fail("/x", {Verb.OPEN}, errno.EIO), {Watch.NAMES}),
        (Fail("/x", {Verb.TRUNCATE}, errno.EIO), {Watch.NAMES, Watch.DATA}),
        (Fail("/x", {Verb.OPEN, Verb.MAP}, errno.EIO), {Watch.NAMES, Watch.DATA}),
        (Slow("/x", {Verb.OPEN}, 1.0), {Watch.NAMES, Watch.HOLD}),
        (Slow("/x", {Verb.FSYNC}, 1.0), {Watch.DATA, Watch.HOLD}),
        (Tear("/x", 1, Then.KILL), {Watch.DATA}),
        (Swap("home", "x", "/", After.LOOK), {Watch.NAMES}),
        (Taken("127.0.0.1", 80), {Watch.BINDS}),
        (Full(9), {Watch.DESCRIPTORS}),
    ],
)
def test_a_rule_says_what_has_to_be_watched_for_it(rule, wanted):
    assert needs(rule) == wanted
    assert set(request(rule)["needs"]) == wanted


def test_the_kinds_that_are_watched_are_those_that_the_filter_knows():
    assert {kind.value for kind in Watch} - {"hold"} == set(calls.KINDS)


def test_every_verb_is_of_some_call_and_every_call_of_names_and_data_has_one():
    named = {call.verb for call in calls.KINDS["names"].values()}
    through = {path.verb for call in calls.KINDS["data"].values() for path in call.paths}

    assert named | through == set(Verb)
    assert through == DATA_VERBS
    assert "" not in named | through


def call(name: str, path: bytes, *acts: str, missing: bytes = b"", same: bool = True):
    kind = next(kind[name] for kind in calls.KINDS.values() if name in kind)
    return SimpleNamespace(
        call=kind,
        places=lambda: [Place(named, path, missing) for named in kind.paths],
        acts=lambda: list(acts),
        sees_the_same=lambda: same,
    )


@pytest.mark.parametrize(
    ("caller", "verb"),
    [
        (call("read", b"/a/b", ""), "read"),
        (call("read", b"/a/bc", ""), ""),
        (call("read", b"/a/b/c/d", ""), "read"),
        (call("read", b"/a/b", "", same=False), ""),
        (call("openat", b"/a/b", "read"), "open"),
        (call("openat", b"/a/b", "name", missing=b"b"), "open"),
        (call("openat", b"/a/b", "look", missing=b"b"), ""),
        (call("stat", b"/a/b", "look"), "look"),
        (call("stat", b"/a/b", "look", missing=b"b"), ""),
        (call("rename", b"/a/b", "name", "name"), "rename"),
        (call("rename", b"/a/b", "look", "look"), ""),
        (call("fsync", b"/a/b", ""), ""),
        (call("flock", b"/a/b", "lock"), ""),
    ],
)
def test_a_rule_is_about_what_is_done_to_its_path_and_can_be_done(caller, verb):
    target = rules.Target(b"/a/b", {"read", "open", "look", "rename"})

    assert target.verb(caller) == verb


def test_an_answer_counts_only_when_it_was_taken():
    rule = rules.Fail(rules.Target(b"/a", {"read"}), errno.EIO)
    answer = rules.Answer()

    rule.decide(call("read", b"/a", ""), answer)
    assert (answer.error, answer.go_on, rule.met) == (errno.EIO, False, Counter())
    for taken in answer.taken:
        taken()
    assert rule.met == {"read": 1}


@pytest.mark.parametrize(
    ("held", "asked", "both", "refused"),
    [
        ("127.0.0.1", "127.0.0.1", True, True),
        ("127.0.0.1", "127.0.0.2", True, False),
        ("127.0.0.1", "0.0.0.0", True, True),
        ("0.0.0.0", "127.0.0.9", True, True),
        ("127.0.0.1", "::", True, True),
        ("127.0.0.1", "::", False, False),
        ("127.0.0.1", "::1", True, False),
        ("127.0.0.1", "::ffff:127.0.0.1", True, True),
        ("127.0.0.1", "::ffff:127.0.0.2", True, False),
        ("::1", "::1", False, True),
        ("::1", "127.0.0.1", True, False),
        ("::", "127.0.0.1", True, True),
        ("::", "::1", False, True),
    ],
)
def test_two_addresses_have_one_port_between_them_or_two(held, asked, both, refused):
    assert binding.conflict(held, ipaddress.ip_address(asked), both=both) is refused
