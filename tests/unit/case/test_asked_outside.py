"""Expectations of order, attempts, events and clocks are refused at their place if they are wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.case.errors import CaseErrors
from harness.case.load import load_case
from harness.case.tables import installed
from tests.unit.case import bad as files
from tests.unit.case.bad import Bad
from tests.unit.case.examples import write_case

HEAD = (
    "case: x\nsubject: {command: [sh]}\n"
    "services: {http: {up: [{on: GET /, reply: {body: x}}]}}\n"
    "faults: [{id: cut, fault: model.truncate}]\n"
)
STEP = "{step: 1}, "


def bad(name: str, more: str, says: str) -> Bad:
    return files.bad(name, more, says, head=HEAD)


BAD = [
    bad(
        "an order of a service that is none",
        f"expect: [{{order: [{STEP}{{request: {{service: §upp}}}}]}}]\n",
        "mean up",
    ),
    bad("an order of a fault that is none", f"expect: [{{order: [{STEP}{{fault: §cutt}}]}}]\n", "cut"),
    bad(
        "the end of a fault that is none",
        f"expect: [{{order: [{STEP}{{fault: {{id: §cot, was: healed}}}}]}}]\n",
        "the case has no fault 'cot'",
    ),
    bad(
        "a request that a fault that is none has hit",
        "expect: [{order: {of: [{request: {fault: §cot}}], never_after: {step: 1}}}]\n",
        "the case has no fault",
    ),
    bad("an order of one thing", "expect: [{order: §[{step: 1}]}]\n", "at least 2"),
    bad("an order that ends in nothing", f"expect: [{{order: [{STEP}§{{}}]}}]\n", "request"),
    bad(
        "an order of two things at once",
        f"expect: [{{order: [{STEP}{{step: 1, §process: ended}}]}}]\n",
        "step",
    ),
    bad(
        "a gap before the first",
        "expect: [{order: §[{step: 1, after: {at_least: 1s}}, {step: 2}]}]\n",
        "nothing comes before the first",
    ),
    bad("a gap that is no duration", f"expect: [{{order: [{STEP}{{step: 2, after: {{at_least: §2}}}}]}}]\n", "text|duration"),
    bad(
        "attempts counted where sandboxes are made inside",
        "sandbox: {needs: [nest]}\nexpect: [{§attempts: {path: secret, at_most: 0}}]\n",
        "not counted",
    ),
    bad("attempts on nothing", "expect: [{attempts: §{exactly: 1}}]\n", "path"),
    bad("attempts without a bound", "expect: [{attempts: §{path: x}}]\n", "exactly"),
    bad("attempts out of the workspace", "expect: [{attempts: {path: §../x, exactly: 1}}]\n", "no path inside"),
    bad("an act that is none", "expect: [{attempts: {path: x, act: §reed, exactly: 1}}]\n", "read"),
    bad("a program with a path", "expect: [{attempts: {program: §/bin/sh, exactly: 1}}]\n", "/bin/sh"),
    bad("attempts on two things", "expect: [{attempts: {path: x, §program: sh, exactly: 1}}]\n", "program"),
    bad("an act of a program", "expect: [{attempts: {program: sh, §act: run, exactly: 1}}]\n", "path"),
    bad("attempts at a service that is none", "expect: [{attempts: {request: {service: §upp}, exactly: 1}}]\n", "mean up"),
    bad("events that nobody else has seen", "expect: [{events: §{file: x, exactly: 1}}]\n", "beside"),
    bad(
        "events whose witness is the subject",
        "expect: [{events: {file: x, exactly: 1, beside: {§output: {matches: y}}}}]\n",
        "output",
    ),
    bad(
        "events beside a service that is none",
        "expect: [{events: {file: x, exactly: 1, beside: {requests: {service: §upp, exactly: 1}}}}]\n",
        "mean up",
    ),
    bad("a table with a quote", 'expect: [{events: {file: x, table: §"a\\"b", exactly: 1, beside: {requests: {exactly: 1}}}}]\n', "a"),
    bad("no clock at all", "expect: [{clock: §{}}]\n", "isolated"),
    bad("a clock that is not isolated", "expect: [{clock: {isolated: §false}}]\n", "true"),
]  # fmt: skip

GOOD = [
    "expect: [{events: {file: x, exactly: 1, where: {service: a, fault: b}, beside: {requests: {exactly: 1}}}}]\n",
    "expect: [{order: [{request: {service: model}}, {request: {service: up, fault: cut}}]}]\n",
]


@pytest.mark.parametrize("wrong", BAD, ids=lambda wrong: wrong.name)
def test_it_is_refused_at_its_place_with_what_to_write(wrong: Bad, tmp_path: Path):
    with pytest.raises(CaseErrors) as caught:
        load_case(write_case(tmp_path, wrong.clean), installed())

    errors = caught.value.errors
    assert [(error.where.line, error.where.column) for error in errors] == wrong.places
    assert re.search(wrong.says[0], str(errors[0])), str(errors[0])


@pytest.mark.parametrize("text", GOOD)
def test_the_words_of_the_subject_are_not_ours(text: str, tmp_path: Path):
    load_case(write_case(tmp_path, HEAD + text), installed())
