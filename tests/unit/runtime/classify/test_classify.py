"""Each labelled failure gets its class, and the text that decided is found where it stands."""

from __future__ import annotations

import mmap
import tempfile

import pytest

from runtime.recovery.classes import ESCALATES, Failure, FailureClass, Span
from runtime.recovery.classify import classify
from runtime.recovery.classify.text import HEAD, TAIL
from tests.unit.runtime.classify.labelled import Labelled, labelled

RECORDS = labelled()
REFUSED = "ssh: connect to host build port 22: Connection refused\n"


def failure(error: str | bytes = "", output: str | bytes = "", code: int | None = 1) -> Failure:
    return Failure("bash", code, output, error)


def test_there_are_failures_of_every_class():
    counts = [sum(record.label is cls for record in RECORDS) for cls in FailureClass]

    assert len(RECORDS) >= 400
    assert min(counts) >= 40


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.id)
def test_a_failure_gets_the_class_that_a_reader_gave_it(record: Labelled):
    assert classify(record.failure).cls is record.label


def test_the_span_is_where_the_text_stands():
    assert [record.id for record in RECORDS if not _stands(record)] == []


def _stands(record: Labelled) -> bool:
    span = classify(record.failure).span
    if span is None:
        return True
    stream = str(record.failure.error if span.stream == "error" else record.failure.output)
    cut = stream[span.start : span.end].translate({0x2019: "'", 0x2018: "'", 9: " "})
    return cut == span.text or ("\x1b" in cut and cut[0] == span.text[0])


def test_bytes_are_read_like_text():
    assert [record.id for record in RECORDS if not _read_alike(record.failure)] == []


def _read_alike(asked: Failure) -> bool:
    streams = {"error": str(asked.error), "output": str(asked.output)}
    text = classify(asked)
    encoded = classify(
        Failure(asked.tool, asked.exit_code, streams["output"].encode(), streams["error"].encode())
    )
    if text.span is None or encoded.span is None:
        return text == encoded
    whole = streams[text.span.stream]
    cut = whole.encode()[encoded.span.start : encoded.span.end].decode()
    return text.rule == encoded.rule and cut == whole[text.span.start : text.span.end]


def test_the_error_stream_decides_before_the_output():
    found = classify(failure(REFUSED, "cat: a: Permission denied\n" * 50))

    assert found.cls is FailureClass.NETWORK
    assert found.span == Span("error", 36, 54, "Connection refused")


def test_escape_sequences_are_skipped_and_counted():
    error = "\x1b[31mopen\x1b[0m /x: \x1b[1mperm\x1b[4mission denied\x1b[0m\n"
    span = classify(failure(error)).span

    assert span is not None
    assert span.text == "permission denied"
    assert error[span.start : span.end] == "perm\x1b[4mission denied"


def test_text_that_a_windows_shell_wrote_in_two_bytes_a_letter_is_read():
    error = "Access is denied.\r\n".encode("utf-16")

    assert classify(failure(error)).cls is FailureClass.PERMISSION_DENIED


def test_bytes_of_no_encoding_do_not_stop_it():
    assert classify(failure(b"\xff\xfe\xe9\n" + REFUSED.encode())).cls is FailureClass.NETWORK


@pytest.mark.parametrize("make", [memoryview, bytearray, bytes])
def test_it_takes_what_holds_bytes(make):
    assert classify(failure(make(REFUSED.encode()))).cls is FailureClass.NETWORK


def test_a_mapped_file_is_read_at_its_ends_alone():
    with tempfile.TemporaryFile() as file:
        file.write(b"starting\n")
        file.truncate(1 << 30)
        file.seek(-len(REFUSED), 2)
        file.write(REFUSED.encode())
        file.flush()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            found = classify(failure(mapped))  # type: ignore[arg-type]

    assert found.cls is FailureClass.NETWORK
    assert found.span is not None
    assert found.span.end == (1 << 30) - 1


def test_what_stands_between_the_ends_is_not_looked_at():
    middle = "x\n" * HEAD + REFUSED + "x\n" * TAIL

    assert classify(failure(middle)).cls is FailureClass.UNKNOWN


def test_evidence_at_the_head_of_a_flood_is_seen():
    assert classify(failure(REFUSED + "x\n" * (HEAD + TAIL))).cls is FailureClass.NETWORK


@pytest.mark.parametrize("code", [0, 1, 2, 42, 124, 137, 255, None])
def test_silence_is_unknown(code):
    assert classify(failure(code=code)).cls is FailureClass.UNKNOWN


@pytest.mark.parametrize(
    ("tool", "code", "expected"),
    [
        ("bash", 127, FailureClass.MISSING_DEPENDENCY),
        ("bash", 126, FailureClass.PERMISSION_DENIED),
        ("curl", 28, FailureClass.NETWORK),
        ("curl", 67, FailureClass.AUTH),
        ("curl", 22, FailureClass.UNKNOWN),
        ("tool", 127, FailureClass.UNKNOWN),
    ],
)
def test_an_exit_code_is_asked_where_nothing_was_said(tool, code, expected):
    assert classify(Failure(tool, code, "", "")).cls is expected


def test_an_exit_code_outweighs_no_words():
    assert classify(failure("something odd\n", code=127)).cls is FailureClass.UNKNOWN


def test_three_classes_always_escalate():
    assert {cls.value for cls in ESCALATES} == {"auth", "port_conflict", "unknown"}
    assert len(FailureClass) == 10
