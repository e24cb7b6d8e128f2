"""Whatever a trial names or prints is shown as text, and all of it can be seen."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from harness.report.html.links import anchor, href
from harness.report.html.text import cut, fold, lines, plain, seen
from tests.unit.report.reading import read

HIDDEN = {
    "nul": ("\0", "\\0"),
    "escape": ("\x1b[31m", "\\x1b"),
    "delete": ("\x7f", "\\x7f"),
    "line feed": ("a\nb", "\\n"),
    "c1": ("\x9b", "U+009B"),
    "soft hyphen": ("\u00ad", "U+00AD"),
    "no-break space": ("\u00a0", "U+00A0"),
    "bidi override": ("\u202egpj.exe", "U+202E"),
    "isolate": ("\u2066", "U+2066"),
    "zero width space": ("\u200b", "U+200B"),
    "joiner": ("a\u200db", "U+200D"),
    "line separator": ("\u2028", "U+2028"),
    "byte order mark": ("\ufeff", "U+FEFF"),
    "tag": ("\U000e0041", "U+E0041"),
    "variation": ("a\ufe0f", "U+FE0F"),
    "hangul filler": ("\u3164", "U+3164"),
    "braille blank": ("\u2800", "U+2800"),
    "half a character": ("\ud800", "U+D800"),
    "private": ("\ue000", "U+E000"),
    "unassigned": ("\U0003ffff", "U+3FFFF"),
    "accent on nothing": ("\u0301a", "U+0301"),
    "piled accents": ("a\u0301\u0302\u0303", "U+0303"),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_what_cannot_be_seen_is_spelled_out(name: str):
    text, spelled = HIDDEN[name]
    marks = [mark.text for mark in read(str(seen(text))).all("b", class_="ch")]

    assert spelled in marks
    assert f"⟨{spelled}⟩" in plain(text)


@pytest.mark.parametrize("text", ["plain", "naïve café", "日本語", "a → b … c", "e\u0301", "🙂"])
def test_what_can_be_seen_stays_as_it_is(text: str):
    assert str(seen(text)) == text
    assert plain(text) == text


def test_a_mark_cannot_be_imitated():
    assert read(str(seen('<b class="ch">U+202E</b>'))).elements == []


def test_text_from_right_to_left_does_not_turn_what_is_around_it():
    (isolated,) = read(str(seen("שלום, world"))).elements

    assert isolated.tag == "bdi"
    assert isolated.text == "שלום, world"


def test_several_lines_keep_their_ends():
    assert str(lines("a\n\tb\r\n")) == 'a\n\tb<b class="ch">\\r</b>\n'


@given(st.text())
def test_no_text_becomes_markup_and_none_of_it_is_lost(text: str):
    page = read(f"<p>{seen(text)}</p>")

    assert {element.tag for element in page.elements} <= {"p", "b", "bdi"}
    assert all(e.attributes == {"class": "ch"} for e in page.all("b"))
    shown = page.elements[0].text
    assert shown.isprintable()
    kept = "".join(
        c for c in text if c.isprintable() and not unicodedata.category(c).startswith("M")
    )
    remaining = iter(shown)
    assert all(char in remaining for char in kept if char < "\u180b")


@given(st.text())
def test_what_goes_into_attributes_is_printable_and_no_markup(text: str):
    assert plain(text).isprintable()
    (element,) = read(f'<p title="{escape(plain(text))}"></p>').elements
    assert element.attributes == {"title": plain(text)}


@given(st.text(), st.integers(0, 20), st.integers(0, 30))
def test_a_fold_leaves_nothing_out_without_saying_so(text: str, head: int, more: int):
    folded = fold(text, head, head + more)

    assert len(folded.head) + len(folded.rest) + folded.left == len(text)
    assert text.startswith(folded.head + folded.rest)


def test_what_is_cut_says_how_much():
    assert cut("abcdef", 4) == "abcd… (2 characters more)"
    assert cut("abcd", 4) == "abcd"


# -- links


@pytest.mark.parametrize(
    ("parts", "link"),
    [
        (("trials/a.b", "stdout"), "./trials/a.b/stdout"),
        (("javascript:alert(1)",), "./javascript%3Aalert%281%29"),
        (("trials", "../../etc/passwd"), "./trials/etc/passwd"),
        (("//host/x",), "./host/x"),
        (('a" onclick="x', "b c#d?e%f"), "./a%22%20onclick%3D%22x/b%20c%23d%3Fe%25f"),
        (("b\udcff",), "./b%FF"),
        (("b\ud800",), "./b%3F"),
        (("requests/1.body",), "./requests/1.body"),
    ],
)
def test_a_link_leads_to_the_file_and_nowhere_else(parts: tuple[str, ...], link: str):
    assert href(*parts) == link


@given(st.lists(st.text(), min_size=1))
def test_no_name_makes_a_link_that_leaves_the_folder(parts: list[str]):
    link = href(*parts)

    assert link.startswith("./")
    assert ":" not in link
    assert ".." not in link.split("/")
    assert link.isascii()
    assert not set(link) & set("\"'<>&\\ ")


def test_a_trial_is_found_by_its_name_where_that_is_harmless():
    assert anchor("a-b.codex.bubblewrap.r1", 4) == "trial-a-b.codex.bubblewrap.r1"
    assert anchor('"><script>', 4) == "trial-number-4"
