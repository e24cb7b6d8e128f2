"""Where no path is named the suite that comes with Shakeout runs, and that is said."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.functional.verbs.shakeout import shakeout

CASE = 'case: mine\nsubject: {command: ["true"]}\nexpect: [{exit: 0}]\n'


@pytest.mark.parametrize("verb", ["run", "teeth"])
def test_a_run_without_a_path_says_what_it_runs(tmp_path: Path, verb: str):
    ended = shakeout(verb, "-k", "nothing-is-called-so", "--json", cwd=tmp_path)

    said = ended.err.splitlines()[0]
    assert re.search(
        r"no path was named: this is the suite that comes with shakeout, .*yaml$", said
    )


@pytest.mark.parametrize("verb", ["run", "teeth"])
@pytest.mark.parametrize(
    ("names", "named"),
    [
        (("cases/a.yaml",), "cases"),
        (("b.yaml", "a.yaml"), "a.yaml b.yaml"),
        (("a.yaml", "b.yaml", "c.yaml", "d.yaml"), "."),
    ],
)
def test_cases_of_the_current_folder_are_hinted_at(
    tmp_path: Path, verb: str, names: tuple[str, ...], named: str
):
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(CASE)
    (tmp_path / "compose.yaml").write_text("services: {}\n")

    ended = shakeout(verb, "-k", "nothing-is-called-so", "--json", cwd=tmp_path)

    assert ended.err.splitlines()[0].endswith(f"for the cases here: shakeout {verb} {named}")


def test_where_a_path_is_named_nothing_is_said_of_the_suite(tmp_path: Path):
    (tmp_path / "a.yaml").write_text(CASE)

    ended = shakeout("run", "a.yaml", "-k", "nothing-is-called-so", "--seed", "7", cwd=tmp_path)

    assert "suite" not in ended.err
    assert "shakeout: 0 trials of 0 cases, seed 7" in ended.err
