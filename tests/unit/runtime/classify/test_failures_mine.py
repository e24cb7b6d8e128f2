"""The miner: whole corpora, bad lines, shares, clusters, and nothing secret in what it prints."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from runtime import cli
from runtime.failures import records as reading
from runtime.failures.evidence import Evidence, evidence
from runtime.failures.masks import masked
from runtime.failures.mine import Mine, mined
from runtime.failures.records import BadLine, Record, records
from runtime.recovery.classes import FailureClass

DENIED = {
    "id": "d",
    "tool": "bash",
    "exit_code": 1,
    "stdout": "",
    "stderr": "cat: a: Permission denied",
}


def corpus(*lines: object) -> bytes:
    return b"".join(
        line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines
    )


def count(*lines: object) -> Mine:
    found = Mine()
    for _ in mined(records(io.BytesIO(corpus(*lines))), found):
        pass
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "failures.jsonl"
    path.write_bytes(
        corpus(
            DENIED,
            b"{not json\n",
            {"id": "u1", "stderr": "Error: widget 17 of /srv/a/b is odd"},
            {"id": "u2", "stderr": "Error: widget 23 of /opt/c is odd"},
        )
    )
    return path


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{\n", "not JSON"),
        (b"\xff\xfe\n", "not JSON"),
        (b"[" * 100_000 + b"\n", "not JSON"),
        ([], "not an object"),
        ({}, "neither stderr nor stdout"),
        ({"stderr": 3}, "its stderr is not text"),
        ({"output": ["x"]}, "its output is not text"),
        ({"stderr": "x", "exit_code": "1"}, "its exit_code is not a whole number"),
        ({"stderr": "x", "exit_code": True}, "its exit_code is not a whole number"),
    ],
)
def test_a_bad_line_is_named_and_passed(line: object, reason: str):
    good, bad, after = records(io.BytesIO(corpus(DENIED, line, DENIED)))

    assert isinstance(good, Record)
    assert isinstance(bad, BadLine)
    assert bad.line == 2
    assert reason in bad.reason
    assert isinstance(after, Record)
    assert after.line == 3


def test_a_line_without_end_is_passed_in_parts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reading, "LONGEST", 200)
    lines = list(records(io.BytesIO(corpus(b"x" * 1000 + b"\n", DENIED))))

    assert [type(line) for line in lines] == [BadLine, Record]
    assert "longer than 200 bytes" in str(lines[0])


def test_blank_lines_are_no_records_and_count_as_lines():
    (record,) = records(io.BytesIO(b"\n  \n" + corpus({"stderr": "x"})))

    assert isinstance(record, Record)
    assert (record.line, record.id) == (3, "3")


def test_shares_are_of_the_records_alone():
    found = count(DENIED, b"{\n", {"stderr": ""})

    assert (found.total, found.bad) == (2, 1)
    assert found.share(FailureClass.PERMISSION_DENIED) == 0.5


def test_the_unclassified_are_gathered_by_what_they_look_like():
    found = count(
        {"id": "a", "stderr": "Error: widget 17 of /srv/a/b is odd"},
        {"id": "b", "stderr": "Error: widget 23 of /opt/c/d is odd"},
        {"id": "c", "stderr": "Error: nothing fits"},
        {"id": "d", "stderr": ""},
    )

    assert [(c.looks, c.count, c.example) for c in found.clusters(2)] == [
        ("error: widget <n> of <path> is odd", 2, "a"),
        ("(no output)", 1, "d"),
    ]


def test_looks_beyond_the_kinds_that_are_told_apart_are_counted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("runtime.failures.mine.KINDS", 1)
    found = count(*({"stderr": f"Error: {word} odd"} for word in ("one", "two", "one")))

    assert [(c.count, c.looks) for c in found.clusters(5)] == [(2, "error: one odd")]
    assert found.other == 1


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("took 12.5 s, 1,024 left", "took <n> s, <n> left"),
        ("no 'blue' \"green\" here", "no '<quoted>' \"<quoted>\" here"),
        ("at C:\\a\\b.txt: bad", "at <path>: bad"),
        ("object 3fe9a0c1d2 gone", "object <hex> gone"),
        ("see https://a.example/x?y=1", "see <url>"),
        ("api_key=abcdef tail", "<secret>"),
        ("Authorization: Bearer abcdef", "<secret>"),
        ("got sk-proj-AbC123dEf456GhI789 back", "got <token> back"),
        ("mail ann.b@host.example now", "mail <address> now"),
        ("\x1b[31mred\x1b[0m", "red"),
    ],
)
def test_what_differs_each_time_is_masked(line: str, expected: str):
    assert masked(line) == expected


def test_masking_a_long_line_is_quick():
    assert len(masked("key" * 1_000_000)) <= 200


def test_the_command_prints_shares_and_clusters(file: Path, capsys: pytest.CaptureFixture[str]):
    code = cli.main(["failures", "mine", str(file)])
    out, err = capsys.readouterr()

    assert code == 0
    assert out.startswith("3 records, 1 lines that are none\n")
    assert "permission_denied           1   33.3%" in out
    assert "joined with 31% of 30154 records" in out
    assert "2   66.7%  error: widget <n> of <path> is odd  (first: u1)" in out
    assert err.startswith(f"{file}:2: it is not JSON")


def test_the_command_prints_a_line_for_each_record_as_json(
    file: Path, capsys: pytest.CaptureFixture[str]
):
    assert cli.main(["failures", "mine", "--json", str(file)]) == 0
    first, *rest = map(json.loads, capsys.readouterr().out.splitlines())

    assert first == {
        "id": "d",
        "class": "permission_denied",
        "span": {"stream": "error", "start": 8, "end": 25, "text": "Permission denied"},
        "rule": "errno.denied",
    }
    assert [line["class"] for line in rest] == ["unknown", "unknown"]


@pytest.mark.parametrize("content", [b"", b"\n", b"{\n"])
def test_a_corpus_without_records_is_refused(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "empty"
    path.write_bytes(content)

    assert cli.main(["failures", "mine", str(path)]) == 2
    assert "holds no record" in capsys.readouterr().err


def test_a_corpus_that_is_not_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["failures", "mine", str(tmp_path / "gone")]) == 2
    assert "cannot be read: No such file or directory" in capsys.readouterr().err


def test_each_class_of_the_set_has_its_evidence():
    found = evidence()

    assert set(found) == set(FailureClass)
    assert found[FailureClass.MISSING_PATH] == Evidence(share=0.31, records=30154)
    assert found[FailureClass.PORT_CONFLICT] == Evidence(occurrences=105)


@pytest.mark.parametrize("written", ["auth: {}", "auth: {share: 0.5}", "auth: {founding: true}"])
def test_a_class_without_evidence_is_refused(written: str):
    with pytest.raises(ValueError, match=r"evidence|joins"):
        evidence(written)


def test_evidence_without_a_class_is_refused():
    with pytest.raises(ValueError, match="weather"):
        evidence("weather: {occurrences: 3}")
