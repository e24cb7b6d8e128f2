"""The report in a real browser: it can be read, walked through and searched, and it is safe."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from harness.report.html.links import anchor
from tests.functional.report.browser import PHONE, WIDE, Browser
from tests.functional.report.pages import BUSY

LONG = anchor("long", 0)
NASTY = anchor("a", 0)

both_widths = pytest.mark.parametrize("width", [WIDE, PHONE])
everything = pytest.mark.parametrize(
    ("name", "place"),
    [("hundred", ""), ("hundred", BUSY), ("hostile", ""), ("hostile", NASTY), ("hostile", LONG)],
)


@pytest.fixture
def page(request: pytest.FixtureRequest, name: str) -> Path:
    found: Path = request.getfixturevalue(name)
    return found


@both_widths
@everything
def test_nothing_sticks_out_is_cut_or_overlaps(
    chromium: Browser, page: Path, place: str, width: int
):
    chromium.show(page, place, width)
    chromium.run("unfold()")

    assert chromium.run("return texts().length") > 20
    assert chromium.run("return sticking()") == []
    assert chromium.run("return cut()") == []
    for apart in (
        ".tile",
        ".matrix th, .matrix td",
        ".chip, .search",
        ".tl .name, .tl .strip",
        ".strip text",
        ".v, .exp strong",
        ".facts > div",
        ".entries li",
    ):
        assert chromium.run("return overlapping(arguments[0])", apart) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("name", "place"), [("hundred", ""), ("hundred", BUSY), ("hostile", NASTY)]
)
def test_every_text_stands_out_from_what_is_behind_it(
    chromium: Browser, page: Path, place: str, scheme: str
):
    chromium.show(page, place, scheme=scheme)
    chromium.run("unfold()")

    assert chromium.run("return faint()") == []
    dark = chromium.run("return light(ground(document.body)) < 0.1")
    assert dark == (scheme == "dark")


def test_what_is_asked_of_a_page_can_be_answered_with_no(chromium: Browser, hundred: Path):
    chromium.show(hundred, width=PHONE)
    chromium.run(
        "const [one, other, third] = document.querySelectorAll('.tile');"
        "one.style.cssText = 'max-width: none; min-width: 900px';"
        "other.style.marginTop = '-20px';"
        "third.style.color = '#ddd';"
        "const name = document.querySelector('.case');"
        "name.style.cssText = 'display: block; width: 20px; overflow: hidden; white-space: nowrap';"
    )

    assert any("the page is" in wrong for wrong in chromium.run("return sticking()"))
    assert len(chromium.run("return cut()")) == 1
    assert len(chromium.run("return overlapping('.tile')")) >= 1
    assert len(chromium.run("return faint()")) >= 1


def test_the_matrix_is_walked_with_the_keyboard(chromium: Browser, hundred: Path):
    chromium.show(hundred)
    chromium.press(Keys.TAB)
    assert "Skip" in chromium.focus["text"]
    chromium.press(Keys.ENTER, Keys.TAB)
    chromium.run("document.querySelector('.tile[tabindex=\"0\"]').focus()")
    first = chromium.focus["href"]

    chromium.press(Keys.ARROW_RIGHT)
    assert chromium.focus["href"] != first
    chromium.press(Keys.ARROW_LEFT)
    assert chromium.focus["href"] == first
    chromium.press(Keys.ARROW_DOWN)
    assert chromium.focus["href"] == "#trial-case-001.claude-code.bubblewrap"
    assert chromium.run("return document.querySelectorAll('.tile[tabindex=\"0\"]').length") == 1
    chromium.press(Keys.ENTER)
    assert chromium.focus["in"] == "trial-case-001.claude-code.bubblewrap"
    assert not chromium.run("return visible(document.querySelector('.matrix'))")
    chromium.press(Keys.ESCAPE)
    assert chromium.focus["href"] == "#trial-case-001.claude-code.bubblewrap"
    assert chromium.run("return visible(document.querySelector('.matrix'))")
    chromium.press(Keys.END)
    assert "sabotage" in chromium.focus["text"]


def test_what_has_the_focus_can_be_seen(chromium: Browser, hundred: Path):
    chromium.show(hundred)
    chromium.press(*[Keys.TAB] * 6)

    style = "const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.outlineWidth]"
    assert chromium.run(style) == ["solid", "2px"]


def test_the_timeline_is_walked_with_the_keyboard_and_tells_what_it_shows(
    chromium: Browser, hundred: Path
):
    chromium.show(hundred, BUSY)
    told = f"return document.querySelector('[id=\"{BUSY}\"] .told').textContent"
    stops = f'return document.querySelectorAll(\'[id="{BUSY}"] .m[tabindex="0"]\').length'
    assert chromium.run(stops) == 1
    chromium.run(f'document.querySelector(\'[id="{BUSY}"] .m[tabindex="0"]\').focus()')
    first = chromium.run(told)

    assert "step 1: start" in first
    chromium.press(Keys.ARROW_RIGHT)
    assert "step 2: wait" in chromium.run(told)
    chromium.press(Keys.ARROW_DOWN)
    assert "cut" in chromium.run(told)
    chromium.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.END)
    assert "#38" in chromium.run(told)
    assert chromium.focus["href"].endswith("/requests/36.body")
    assert chromium.run(stops) == 1


def test_trials_are_found_by_verdict_and_by_words(chromium: Browser, hundred: Path):
    chromium.show(hundred)
    shown = "return [...document.querySelectorAll('.tile')].filter(visible).length"
    assert chromium.run(shown) == 100

    chromium.run("document.querySelector('[data-only=timed_out]').click()")
    expected = chromium.run(
        "return Number(document.querySelector('[data-only=timed_out] b').textContent)"
    )
    assert chromium.run(shown) == expected > 0
    assert chromium.run("return document.getElementById('shown').textContent").startswith(
        f"{expected} of 100"
    )
    chromium.run("document.querySelector('[data-only=timed_out]').click()")

    chromium.press("/")
    assert chromium.focus["id"] == "search"
    chromium.press("case-003 codex")
    assert 0 < chromium.run(shown) < 5
    chromium.press(Keys.ARROW_DOWN)
    assert "case-003" in chromium.focus["href"]
    chromium.press("/", Keys.ESCAPE)
    assert chromium.run(shown) == 100


def test_roles_and_names_say_what_things_are(chromium: Browser, hundred: Path):
    chromium.show(hundred, BUSY, width=PHONE)
    counts = chromium.run(
        """const grid = document.querySelector("[role=grid]");
        const all = (s) => [...grid.querySelectorAll(s)];
        return {
          rows: all("tbody [role=row]").length,
          unfit: all("[role=row]").filter((r) => [...r.children].some((c) => !["gridcell", "rowheader", "columnheader"].includes(c.getAttribute("role")))).length,
          nameless: [...document.querySelectorAll("a, button, input, summary, [role=group]")].filter((e) =>
            !(e.getAttribute("aria-label") || e.textContent.trim() || (e.labels && e.labels.length))).length,
          language: document.documentElement.lang,
        };"""
    )

    assert counts == {"rows": 25, "unfit": 0, "nameless": 0, "language": "en"}


@both_widths
def test_a_hostile_trial_runs_nothing_asks_for_nothing_and_adds_nothing(
    chromium: Browser, hostile: Path, width: int
):
    chromium.requested(), chromium.complaints()
    for place in ("", NASTY, LONG):
        chromium.show(hostile, place, width)
        chromium.run("unfold()")
        chromium.run("document.querySelectorAll(':target .m').forEach((e) => e.focus());")

        assert chromium.run("return typeof window.canary") == "undefined"
        alien = "script:not(:last-of-type), iframe, object, embed, link, base, img, form, [style], [src]"
        assert chromium.run("return document.querySelectorAll(arguments[0]).length", alien) == 0
        assert (
            chromium.run(
                "return [...document.querySelectorAll('*')].flatMap((e) => e.getAttributeNames())"
                ".filter((n) => n.startsWith('on'))"
            )
            == []
        )
        assert (
            chromium.run(
                "return [...document.links].map((a) => a.protocol).filter((p) => p !== 'file:')"
            )
            == []
        )
    asked = {url.partition("#")[0] for url in chromium.requested()} - {"about:blank"}
    assert asked == {hostile.as_uri()}
    assert chromium.complaints() == []


def test_the_policy_stops_a_script_that_was_let_in_all_the_same(chromium: Browser, hostile: Path):
    chromium.show(hostile)
    chromium.run(
        "const s = document.createElement('img'); s.setAttribute('onerror', 'window.canary = 1');"
        "s.src = 'data:,x'; document.body.append(s);"
        "const t = document.createElement('script'); t.textContent = 'window.canary = 1';"
        "document.body.append(t);"
    )

    assert chromium.run("return typeof window.canary") == "undefined"
    assert len(chromium.complaints()) >= 2


def test_the_evidence_of_a_hostile_trial_is_opened_as_text(chromium: Browser, hostile: Path):
    chromium.show(hostile, LONG)
    link = chromium.run(
        "return [...document.querySelectorAll(':target .entries a')]"
        ".find((a) => a.textContent === 'stdout').href"
    )
    chromium.ask(link)

    assert chromium.run("return document.contentType") == "text/plain"
    assert chromium.run("return typeof window.canary") == "undefined"
    assert "<script>window.canary" in chromium.run("return document.body.textContent")


def test_the_report_of_a_hundred_trials_is_small_and_opens_at_once(
    chromium: Browser, hundred: Path
):
    """It takes half a second; a machine with four tests on two cores is given six times that."""
    assert hundred.stat().st_size < 5_000_000
    times = []
    for _ in range(4):
        chromium.show(hundred)
        times.append(chromium.opened_in())
        if times[-1] < 3:
            break

    assert 0 < min(times) < 3, times


def test_what_needs_a_look_is_printed_and_nothing_moves_where_that_is_not_wanted(
    chromium: Browser, hundred: Path
):
    chromium.show(hundred, media="print")
    printed = chromium.run(
        "return [...document.querySelectorAll('.trial')].filter(visible).map((e) => e.dataset.weighs)"
    )
    counts = json.loads((hundred.parent / "run.json").read_text())["trials"]
    assert len(printed) == sum(t["weighs"] not in (None, "passed") for t in counts)
    assert "passed" not in printed

    chromium.show(hundred, prefers_reduced_motion="reduce")
    moving = "return getComputedStyle(document.querySelector('.tile')).transitionDuration"
    assert chromium.run(moving) == "0s"
