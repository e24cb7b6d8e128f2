"""Expectations under a name that the harness judges by itself."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("name", ["containment", "secrets"])
def test_a_leak_cannot_be_known_under_the_name_of_another_expectation(shakeout, name):
    case = shakeout.case(
        "borrowed",
        "title: t\nsubject: {command: [sh, -c, 'echo $TOKEN']}\nsecrets: [TOKEN]\n"
        f"expect: [{{id: {name}, exit: 1}}]\n"
        f"known: [{{subject: command, version: '>=0', breaks: [{name}], because: b, since: s}}]\n",
    )

    ran = shakeout("run", case, "--json")

    assert ran.code == 2
    assert "belongs to the harness" in ran.out
