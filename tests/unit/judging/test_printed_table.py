"""The truth table in the documentation is what the code does."""

from __future__ import annotations

from pathlib import Path

from harness.report.truth import SABOTAGE, TRIAL, WEIGHT, page

PRINTED = Path(__file__).parents[3] / "docs" / "verdicts.md"


def table(heading: str) -> list[list[str]]:
    """Rows of the first table after a heading, each a list of cells."""
    lines = page().partition(heading)[2].splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines]
    start = next(i for i, line in enumerate(lines) if line.startswith("| ---"))
    end = next(i for i, line in enumerate(lines[start:], start) if not line.startswith("|"))
    return rows[start + 1 : end]


def test_the_documentation_prints_the_table_of_the_code():
    assert PRINTED.read_text() == page(), "run: python -m harness.report.truth > docs/verdicts.md"


def test_one_row_alone_passes():
    passed = [row for row in table("## A trial") if row[-1] == "**passed**"]

    assert passed == [
        ["started", "went well", "all landed", "met", "played", "enough", "all held",
         "held", "made", "**passed**"]
    ]  # fmt: skip


def test_every_situation_is_in_exactly_one_row():
    size = 1
    for values in TRIAL.values():
        size *= len(values)
    covered = 0
    for row in table("## A trial"):
        product = 1
        for cell, values in zip(row[:-1], TRIAL.values(), strict=True):
            product *= len(values) if cell == "any" else len(cell.split(" or "))
        covered += product
    assert covered == size


def test_the_columns_are_those_of_the_page():
    for columns in (TRIAL, WEIGHT, SABOTAGE):
        assert f"| {' | '.join(columns)} |" in page()
