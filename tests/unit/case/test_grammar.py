"""The small languages of a case."""

from __future__ import annotations

import contextlib
import datetime
import signal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.case import grammar
from harness.case.grammar import GrammarError


@pytest.mark.parametrize(
    ("text", "seconds"), [("500ms", 0.5), ("0s", 0), ("20s", 20), ("2m", 120), ("1h", 3600)]
)
def test_a_duration_is_a_number_with_a_unit(text: str, seconds: float):
    assert grammar.duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["", "5", "5 s", "-1s", "1.5s", "1d", "5S", "٣s", "5s\n", "9" * 400 + "s"]
)
def test_what_is_no_duration_is_refused(text: str):
    with pytest.raises(GrammarError):
        grammar.duration(text)


@pytest.mark.parametrize(("text", "size"), [("1KiB", 1024), ("3MiB", 3 << 20), ("2GiB", 2 << 30)])
def test_a_size_is_a_number_with_a_binary_unit(text: str, size: int):
    assert grammar.size(text) == size


@pytest.mark.parametrize("text", ["", "1", "1KB", "1kib", "1 KiB", "-1KiB", "1.5GiB", "1B"])
def test_what_is_no_size_is_refused(text: str):
    with pytest.raises(GrammarError):
        grammar.size(text)


def test_a_pattern_searches_every_line():
    assert grammar.regex("^b$").search("a\nb\nc")


@pytest.mark.parametrize(
    "text", ["(", "a{2,1}", "[z-a]", "(?P<a>x)(?P<a>y)", "*", "x" * 2001, "[[a]"]
)
def test_what_is_no_pattern_is_refused(text: str):
    with pytest.raises(GrammarError):
        grammar.regex(text)


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("*", "a", True),
        ("*", ".bashrc", True),
        ("*", "a/b", False),
        ("**", "a/b/c", True),
        ("**", ".ssh/id", True),
        ("a/**", "a/b/c", True),
        ("a/**", "a/.b", True),
        ("a/**", "a", False),
        ("a/**", "ab", False),
        ("**/x", "x", True),
        ("**/x", "a/b/x", True),
        ("**/x", "ax", False),
        ("a/**/x", "a/x", True),
        ("a/**/x", "a/b/c/x", True),
        ("*.txt", "a.txt", True),
        ("*.txt", "a/a.txt", False),
        ("?.txt", "a.txt", True),
        ("?.txt", "ab.txt", False),
        ("a?b", "a/b", False),
        ("[ab].c", "b.c", True),
        ("[!ab].c", "b.c", False),
        ("[!ab].c", "c.c", True),
        ("a[!x]b", "a/b", False),
        ("[]].c", "].c", True),
        ("a.b", "axb", False),
        ("a+(b)", "a+(b)", True),
        ("a[", "a[", True),
        ("a*", "a\nb", True),
    ],
)
def test_a_glob_fits_what_it_says(glob: str, path: str, fits: bool):
    assert grammar.glob(glob)(path) is fits


@pytest.mark.parametrize("text", ["", "/etc/**", "a\0b", "[z-a]"])
def test_what_is_no_glob_is_refused(text: str):
    with pytest.raises(GrammarError):
        grammar.glob(text)


@example("[?--]", "")
@given(st.text(alphabet="ab*?[]!^-/.\\&~|", max_size=12), st.text(alphabet="ab/.\\]", max_size=8))
def test_no_glob_breaks_the_one_who_compiles_it(glob: str, path: str):
    with contextlib.suppress(GrammarError):
        grammar.glob(glob)(path)


def test_a_date_is_a_day():
    assert grammar.date("2031-12-31") == datetime.date(2031, 12, 31)


@pytest.mark.parametrize("text", ["2031-02-30", "2031-1-1", "20311231", "2031-W01-1", "", "soon"])
def test_what_is_no_date_is_refused(text: str):
    with pytest.raises(GrammarError):
        grammar.date(text)


def test_a_point_in_time_names_its_zone():
    assert grammar.instant("1970-01-01T00:01:00Z") == 60
    assert grammar.instant("1970-01-01T05:46:00+05:45") == 60
    with pytest.raises(GrammarError, match="zone"):
        grammar.instant("1970-01-01T00:00:00")


@pytest.mark.parametrize("text", ["", "0001-01-01T00:00:00", "x", "99999-01-01T00:00:00Z"])
def test_what_is_no_point_in_time_is_refused(text: str):
    with pytest.raises(GrammarError):
        grammar.instant(text)


@pytest.mark.parametrize("text", [">=1.2,<2", "==0.130.*", "~=1.4", "!=3"])
def test_a_range_of_versions_is_kept_as_written(text: str):
    assert grammar.version_range(text) == text


@pytest.mark.parametrize("text", ["", " ", "1.2", ">=", "latest", "^1.2"])
def test_what_is_no_range_is_refused(text: str):
    with pytest.raises(GrammarError):
        grammar.version_range(text)


@pytest.mark.parametrize("text", ["TERM", "SIGTERM", "term", "15"])
def test_a_signal_has_many_names(text: str):
    assert grammar.signal_number(text) == signal.SIGTERM


@pytest.mark.parametrize("text", ["", "SIG", "FOO", "0", "99", "-9", "\uff19", "1" * 50])
def test_what_is_no_signal_is_refused(text: str):
    with pytest.raises(GrammarError):
        grammar.signal_number(text)


VALUES = {"task": "do it", "model": "http://model:8080", "workspace": "/workspace", "home": "/h"}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{task}", "do it"),
        ("--url={model}/v1", "--url=http://model:8080/v1"),
        ("{home}{workspace}", "/h/workspace"),
        ("${home}", "${home}"),
        ("{{task}}", "{task}"),
        ("{{{task}}}", "{do it}"),
        ("{{", "{"),
        ("{{.State}}", "{.State}"),
        ('{"a": {"b": 1}}', '{"a": {"b": 1}}'),
        ("{TASK} {0} {} {a-b}", "{TASK} {0} {} {a-b}"),
        ("no braces", "no braces"),
    ],
)
def test_placeholders_are_replaced_and_everything_else_is_kept(text: str, filled: str):
    grammar.check_placeholders(text)

    assert grammar.fill(text, VALUES) == filled


def test_a_value_is_not_looked_through_again():
    assert grammar.fill("{task}", {"task": "{home} {{x}}"}) == "{home} {{x}}"


@pytest.mark.parametrize("text", ["{tsk}", "a {user_name} b", "{{{nope}}}"])
def test_an_unknown_placeholder_is_refused(text: str):
    with pytest.raises(GrammarError, match="unknown placeholder"):
        grammar.check_placeholders(text)


@given(st.text())
def test_every_format_takes_or_refuses_any_text(text: str):
    for reads in grammar.FORMATS.values():
        with contextlib.suppress(GrammarError):
            reads(text)


@pytest.mark.parametrize("pattern", ["", "x*", ".*", "^", "$", "a|", r"(?s)\A.*\Z", r"\b|"])
def test_a_pattern_that_cannot_be_missed_is_refused(pattern):
    with pytest.raises(GrammarError, match="every text"):
        grammar.wanted(pattern)


@pytest.mark.parametrize("pattern", ["x", r"\A\Z", r"\A(allowed = true\n)?\Z", r"^ok$", r"\S"])
def test_a_pattern_that_nothing_at_all_may_fit_can_still_be_missed(pattern):
    assert grammar.wanted(pattern).pattern == pattern
