"""The summary in Markdown: everything that matters, and nothing of a trial but its words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from harness.evidence.documents import run_document
from harness.report.summary import markdown
from tests.unit.evidence import records
from tests.unit.evidence.records import run

ALL = run_document(run(*records.TRIALS))
HOSTILE = (
    "# x\n\n| a | <script>alert(1)</script> **b** [l](http://e) ![i](http://e) `c` "
    "http://e www.e.org a@e.org <!-- --> &lt; \\| ~~d~~ $x$ ^n^ :tada: \u202e \x1b[31m"
)


def tokens(text: str) -> Iterator[Token]:
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        yield token
        yield from token.children or ()


def test_it_says_the_verdict_the_counts_and_what_did_not_pass():
    text = markdown(ALL, "out/x")

    assert "shakeout: failed, exit code 1" in text
    assert "4 passed, 4 failed, 1 timed&#95;out" in text
    rows = [line for line in text.splitlines() if line.startswith("| ") and "---" not in line]
    assert len(rows) == 1 + sum(trial["weighs"] != "passed" for trial in ALL["trials"])
    assert "in quarantine until 2031-05-01&#58; races with the clock" in text


def test_a_run_that_passed_says_that_alone():
    text = markdown(run_document(run(records.TRIALS[0])), "out/x")

    assert text.startswith("### ✅ shakeout: passed, exit code 0\n\n1 passed\n")
    assert "|" not in text


def test_a_run_of_nothing_is_not_shown_as_one_that_passed():
    text = markdown(run_document(run()), "out/x")

    assert text.startswith("### ⚠️ shakeout: unavailable, exit code 3\n\nNothing ran.")


def test_many_trials_are_cut_and_that_is_said():
    many = [{**trial, "weighs": "failed"} for trial in ALL["trials"]] * 10

    assert "… and 90 trials more." in markdown({**ALL, "trials": many}, "out/x")


def test_nothing_of_a_trial_is_markdown_or_html():
    trials: list[Any] = [
        {**t, "message": HOSTILE, "broke": [{**b, "seen": HOSTILE} for b in t["broke"]] * 2}
        for t in ALL["trials"]
    ]
    text = markdown({**ALL, "trials": trials}, HOSTILE)

    kinds = {token.type for token in tokens(text)}
    assert kinds <= {
        "heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "text",
        "table_open", "table_close", "thead_open", "thead_close", "tbody_open", "tbody_close",
        "tr_open", "tr_close", "th_open", "th_close", "td_open", "td_close", "html_inline",
        "text_special",
    }  # fmt: skip
    assert {t.content for t in tokens(text) if t.type == "html_inline"} == {"<br>"}
    assert not set("\u202e\x1b") & set(text)
    assert "://" not in text
    assert "www." not in text.lower()
