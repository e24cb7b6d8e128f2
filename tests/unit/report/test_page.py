"""report.html: all that a run came to is in it, and nothing of a trial becomes part of the page."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.evidence.documents import run_document
from harness.report.html import page as writer
from harness.report.html.page import NAME, size, took, write_page
from tests.unit.evidence import records
from tests.unit.report.folders import (
    Document,
    expectation,
    request,
    run,
    trial,
    write_run,
)
from tests.unit.report.hostile import NASTY, hostile_run
from tests.unit.report.reading import Element, Page, read

TAGS = {
    *[
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "script",
        "div",
        "header",
        "main",
        "section",
        "footer",
        "nav",
        "article",
    ],
    *[
        "p",
        "h1",
        "h2",
        "h3",
        "a",
        "b",
        "em",
        "strong",
        "small",
        "span",
        "code",
        "pre",
        "bdi",
        "kbd",
        "time",
        "label",
        "input",
        "button",
    ],
    *[
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "br",
        "details",
        "summary",
    ],
    *[
        "figure",
        "figcaption",
        "svg",
        "defs",
        "g",
        "path",
        "circle",
        "rect",
        "line",
        "text",
        "use",
        "pattern",
    ],
}


def written(folder: Path, document: Document, **files: Any) -> Page:
    write_run(folder, document, **files)
    write_page(folder, document)
    return read(folder / NAME)


def part(page: Page, name: str) -> Element:
    (found,) = page.all("article", id=f"trial-{name}")
    return found


def assert_harmless(page: Page) -> None:
    """No element, attribute or link is there but those of ours."""
    assert {element.tag for element in page.elements} <= TAGS
    assert len(page.all("script")) == len(page.all("style")) == 1
    ids = {element.attributes["id"] for element in page.elements if "id" in element.attributes}
    for element in page.elements:
        assert not [n for n in element.attributes if n.startswith("on") or n in ("style", "src")]
        link = element.attributes.get("href", "#matrix")
        if link.startswith("#"):
            assert link[1:] in ids, f"{link} leads nowhere"
        else:
            assert link.startswith("./"), link
            assert ".." not in unquote(link).split("/"), link


# -- what is in it


def test_a_run_of_every_kind_is_shown_with_each_of_its_trials(tmp_path: Path):
    document = run_document(records.run(*records.TRIALS))
    page = written(tmp_path, document)

    assert len(page.all("article")) == len(page.with_class("tile")) == len(document["trials"])
    assert_harmless(page)
    chips = [chip.words for chip in page.all("button")]
    counts = {name: count for name, count in document["counts"].items() if count}
    assert sorted(chips) == sorted(f"{n} {name.replace('_', ' ')}" for name, n in counts.items())


def test_the_head_says_what_the_run_came_to(tmp_path: Path):
    page = written(tmp_path, run(trial("a"), trial("b", verdict="failed", case="two")))
    (head,) = [e for e in page.all("header") if "top" in e.attributes["class"]]

    words = head.words
    for fact in ("failed", "exit code 1", "2031-02-03 04:05:06 UTC", "61.9 s", "2 of 2 cases"):
        assert fact in words
    assert "not sealed" in words
    assert page.all("title")[0].text.startswith("failed")


@pytest.mark.parametrize(
    ("code", "words", "tone"),
    [
        (0, "teeth shown", "passed"),
        (1, "teeth not shown", "failed"),
        (3, "teeth unknown", "unavailable"),
        (4, "error", "error"),
        (130, "interrupted", "error"),
    ],
)
def test_a_run_for_teeth_is_headed_by_whether_they_were_shown(
    tmp_path: Path, code: int, words: str, tone: str
):
    caught = trial("a", kind="sabotage", verdict="failed", weighs="passed")
    page = written(tmp_path, run(caught, asked="teeth", exit=code, conclusion="so it was"))

    head = next(e for e in page.all("header") if "top" in e.attributes["class"])
    assert f"tone-{tone}" in head.attributes["class"]
    assert f"{words} so it was" in head.words
    assert page.all("title")[0].text.startswith(words)


def test_what_decides_nothing_is_told_of_a_trial(tmp_path: Path):
    page = written(tmp_path, run(trial("a", notes=["the fault <b>f</b> hit 4 of 9"])))

    assert "the fault <b>f</b> hit 4 of 9" in part(page, "a").text


def test_what_other_programs_read_is_a_click_away_where_it_is_there(tmp_path: Path):
    def beside() -> list[str]:
        write_page(tmp_path, document)
        page = read(tmp_path / NAME)
        (tmp_path / NAME).unlink()
        assert_harmless(page)
        (files,) = page.with_class("files")
        return re.findall(r"[a-z]+[.][a-z]+", files.text)

    document = run(trial("a"))
    write_run(tmp_path, document)
    for name in ("results.sarif", "ctrf.json"):
        (tmp_path / name).touch()
    (tmp_path / "teeth.json").symlink_to("elsewhere")
    there = ["run.json", "junit.xml", "results.sarif", "ctrf.json", "log.jsonl"]

    assert beside() == there
    (tmp_path / "teeth.json").unlink()
    (tmp_path / "teeth.json").touch()
    (tmp_path / "ctrf.json").unlink()
    assert beside() == ["run.json", "teeth.json", "junit.xml", "results.sarif", "log.jsonl"]


def test_a_sealed_run_says_so(tmp_path: Path):
    page = written(tmp_path, run(trial("a"), sealed=True))
    facts = [e.words for e in page.all("dl")]

    assert "Evidence sealed" in facts[0]


def test_what_is_to_be_looked_at_comes_first(tmp_path: Path):
    page = written(
        tmp_path,
        run(
            trial("fine"),
            trial("set-aside", verdict="failed", weighs=None),
            trial("lacking", verdict="unavailable", message="x is missing"),
            trial("broken", verdict="failed", message="home: it was emptied"),
            trial("slow", verdict="timed_out", message="stopped"),
        ),
    )

    looks = [e.attributes["href"] for e in page.with_class("look")]
    assert looks == ["#trial-broken", "#trial-slow", "#trial-lacking"]
    order = [article.attributes["id"] for article in page.all("article")]
    names = ("broken", "slow", "lacking", "set-aside", "fine")
    assert order == [f"trial-{name}" for name in names]


def test_trials_that_came_to_the_same_are_one_look(tmp_path: Path):
    lacking = [trial(f"t{n}", verdict="unavailable", message="no sandbox") for n in range(40)]
    page = written(tmp_path, run(*lacking))
    (look,) = page.with_class("look")

    assert "and 39 more alike" in look.text


def test_where_nothing_needs_a_look_it_says_so(tmp_path: Path):
    assert "Nothing needs a look." in written(tmp_path, run(trial("a"))).elements[0].text


def test_an_empty_run_is_never_good_news(tmp_path: Path):
    page = written(tmp_path, run(verdict="unavailable", exit=3))

    assert "so nothing is known" in page.elements[0].text


def test_the_matrix_has_a_row_for_each_case_and_a_column_for_each_subject_in_a_sandbox(
    tmp_path: Path,
):
    codex = {"name": "codex", "version": "2", "digest": None}
    engine = {"backend": "docker", "grade": "root", "image": "sha256:" + "b" * 64}
    page = written(
        tmp_path,
        run(
            trial("case-one.command.bubblewrap"),
            trial("case-one.command.bubblewrap.control", kind="control"),
            trial(
                "case-one.command.bubblewrap.sabotage-none.m2",
                kind="sabotage",
                verdict="failed",
                weighs="passed",
            ),
            trial("case-one.codex.bubblewrap", subject=codex),
            trial("two.codex.docker", case="two", subject=codex, sandbox=engine),
        ),
    )

    columns = [e.words for e in page.all("th", role="columnheader")]
    assert columns == [
        "Case",
        "command 1.0 bubblewrap root",
        "codex 2 bubblewrap root",
        "codex 2 docker root",
    ]
    cells = [e.words for e in page.all("td", role="gridcell")]
    assert cells[:3] == ["passed passed control failed caught sabotage none.m2", "passed", "·"]
    assert cells[3:] == ["·", "·", "passed"]
    assert len(page.with_class("of-sabotage")) == len(page.with_class("of-control")) == 1
    assert len(page.with_class("tone-caught")) >= 1


def test_a_trial_is_told_with_what_broke_in_front(tmp_path: Path):
    document = run(trial("a", verdict="failed", message="file: not what it was"))
    verdict = {
        "verdict": "failed",
        "expect": [
            expectation("held"),
            expectation("silent", verdict="unavailable", reason="not-observed"),
            expectation("file", verdict="failed", expected="one", seen="two", params={"path": "x"}),
        ],
        "stimulus": [expectation("asked")],
        "faults": [
            {
                "id": "cut",
                "fault": "model.truncate",
                "armed": True,
                "landed": True,
                "count": 1,
                "proof": "request 2 was cut",
            }
        ],
    }
    text = part(written(tmp_path, document, verdict_json=verdict), "a").text

    places = [text.index(word) for word in ("file: not", "broke:home", "two", "silent", "held")]
    assert places == sorted(places)
    assert "request 2 was cut" in text
    assert "asked" in text


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        ({"ended_by": "exit", "exit_code": 3}, "the subject ended with exit code 3"),
        ({"ended_by": "signal", "exit_code": 137}, "ended by a signal, exit code 137"),
        ({"ended_by": "deadline", "exit_code": None}, "the trial's limit was over"),
        ({"ended_by": "oom", "exit_code": None}, "it had no more memory"),
        ({"ended_by": None, "exit_code": None}, "the subject was not started"),
    ],
)
def test_how_the_subject_ended_is_said(tmp_path: Path, ended: Document, words: str):
    page = written(tmp_path, run(trial("a")), verdict_json=ended)

    assert words in part(page, "a").text


def test_a_file_that_is_not_what_it_had_to_be_is_shown_as_a_difference(tmp_path: Path):
    document = run(trial("a", verdict="failed"))
    entry = expectation(
        "file", verdict="failed", params={"path": "x.txt", "equals": "one\ntwo\nthree\n"}
    )
    copy = "subject/workspace/x.txt.copy"
    contents = [{"root": "workspace", "path": "x.txt", "file": copy}]
    write_run(
        tmp_path,
        document,
        verdict_json={"expect": [entry]},
        evidence_json={"contents": contents},
    )
    place = tmp_path / "trials/a" / copy
    place.parent.mkdir(parents=True)
    place.write_text("one\n<b>2</b>\nthree")
    write_page(tmp_path, document)
    page = read(tmp_path / NAME)

    signs = [(e.attributes["class"].split()[-1], e.text) for e in page.with_class("d")]
    assert ("del", "- two") in signs
    assert ("add", "+ <b>2</b>") in signs
    assert ("at", "… no newline at the end") in signs
    assert signs[0] == ("d", "  one")


def test_a_long_value_is_folded_and_what_is_left_out_is_said(tmp_path: Path):
    entry = expectation("home", verdict="failed", seen="x" * 1_000_000)
    page = written(tmp_path, run(trial("a", verdict="failed")), verdict_json={"expect": [entry]})

    assert "996000 more, not in this report" in part(page, "a").text
    assert (tmp_path / NAME).stat().st_size < 100_000


def test_every_file_of_the_trial_is_a_click_away_and_what_is_missing_is_named(tmp_path: Path):
    document = run(trial("a"))
    write_run(tmp_path, document, files_json=None, requests_jsonl=None)
    (tmp_path / "trials/a/attestation.json").write_text("{}")
    write_page(tmp_path, document)
    page = read(tmp_path / NAME)

    links = {e.attributes["href"] for e in page.all("a") if e.attributes["href"][0] != "#"}
    for path in (tmp_path / "trials/a").iterdir():
        if path.is_file():
            assert f"./trials/a/{path.name}" in links
    assert [e.text for e in page.with_class("gone")] == ["files.json"]
    assert_harmless(page)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("verdict_json", b"{", "no JSON"),
        ("verdict_json", b"[" * 100_000, "no JSON"),
        ("evidence_json", {"schema": 2}, "not of schema 1"),
        ("files_json", b'{"withheld": []}', "not in its form"),
        ("files_json", b'["x"]', "not in its form"),
        ("case_yaml", b"a: [", "no YAML"),
        ("case_yaml", b"x" * 300_000, "too large"),
        ("journal_jsonl", b"nonsense\n", "no JSON"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_and_the_rest_is_shown(
    tmp_path: Path, name: str, content: Any, why: str
):
    page = written(tmp_path, run(trial("a")), **{name: content})

    (entry,) = [e for e in page.all("li") if e.text.startswith(name.replace("_", "."))]
    assert why in entry.text
    assert "stdout" in part(page, "a").text


def test_evidence_that_is_not_in_its_form_costs_one_trial_its_detail(tmp_path: Path):
    page = written(tmp_path, run(trial("a")), verdict_json={"expect": [{"id": "x"}]})

    assert "not in its form: KeyError" in part(page, "a").text


def test_a_trial_that_had_not_begun_has_no_files(tmp_path: Path):
    page = written(tmp_path, run(trial("a", verdict="error", dir="", seconds=None)))

    assert "the trial had not begun" in part(page, "a").text


def test_a_folder_that_is_gone_is_said(tmp_path: Path):
    document = run(trial("a"))
    write_page(tmp_path, document)

    assert len(read(tmp_path / NAME).with_class("gone")) == 9


# -- what is not


def test_nothing_of_a_hostile_trial_becomes_part_of_the_page(tmp_path: Path):
    document, files = hostile_run(NASTY)
    page = written(tmp_path, document, **files)

    assert_harmless(page)
    assert part(page, "a").text.count("window.canary=1") > 30
    assert "{{7*7}}" in part(page, "a").text
    assert {"\\x1b", "\\0", "U+202E", "U+2066"} <= {e.text for e in page.with_class("ch")}
    raw = (tmp_path / NAME).read_text("utf-8")
    assert not set(raw) & set("\x1b\x00\u202e\u2066")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(text=st.text(max_size=60))
def test_no_text_at_all_becomes_part_of_the_page(
    text: str, tmp_path_factory: pytest.TempPathFactory
):
    folder = tmp_path_factory.mktemp("run")
    document, files = hostile_run(text)

    page = written(folder, document, **files)
    assert_harmless(page)
    assert "Evidence" in part(page, "a").text


def test_the_policy_allows_this_style_and_this_script_and_nothing_else(tmp_path: Path):
    page = written(tmp_path, run(trial("a")))
    (policy,) = [e.attributes["content"] for e in page.all("meta") if "http-equiv" in e.attributes]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))

    def digest(tag: str) -> str:
        (element,) = page.all(tag)
        return base64.b64encode(hashlib.sha256(element.text.encode()).digest()).decode()

    assert rules == {
        "default-src": "'none'",
        "style-src": f"'sha256-{digest('style')}'",
        "script-src": f"'sha256-{digest('script')}'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert "://" not in re.sub(r"<time.*?>", "", (tmp_path / NAME).read_text("utf-8"))


# -- how large, and what if not


def test_a_run_of_many_large_trials_stays_small_and_says_what_it_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(writer, "_ROOM", 200_000)
    document = run(*(trial(f"t{n}") for n in range(20)))
    requests = [request(n, n / 50, path="/" + "x" * 200) for n in range(1, 200)]
    page = written(tmp_path, document, requests_jsonl=requests)

    assert (tmp_path / NAME).stat().st_size < 400_000
    assert len(page.all("article")) == 20
    brief = page.with_class("brief")
    assert 0 < len(brief) < 20
    assert "would be too large" in brief[0].text


def test_one_trial_that_is_very_large_is_told_with_less(tmp_path: Path):
    entries = [expectation(f"e{n}", verdict="failed", seen="x" * 5000) for n in range(40)]
    page = written(tmp_path, run(trial("a")), verdict_json={"expect": entries})

    assert len(part(page, "a").text) < 100_000
    assert "more, not in this report" in part(page, "a").text


def test_a_page_that_cannot_be_written_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "_part", fails)
    with pytest.raises(OSError, match="No space left"):
        written(tmp_path, run(trial("a")))

    assert not (tmp_path / NAME).exists()


def test_a_page_that_is_there_is_never_written_over(tmp_path: Path):
    document = run(trial("a"))
    written(tmp_path, document)
    before = (tmp_path / NAME).read_bytes()

    with pytest.raises(FileExistsError):
        write_page(tmp_path, document)
    assert (tmp_path / NAME).read_bytes() == before


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.0123, "12 ms"), (1.25, "1.2 s"), (125, "2 min 5 s"), (None, "")]
)
def test_a_duration_is_said_for_people(seconds: float | None, words: str):
    assert took(seconds) == words


@pytest.mark.parametrize(("count", "words"), [(0, "0 B"), (1536, "1.5 KiB"), (3 << 20, "3.0 MiB")])
def test_a_size_is_said_for_people(count: int, words: str):
    assert size(count) == words
