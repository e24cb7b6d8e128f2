"""Every subject of the registry keeps the contract, installed or not."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from harness.case.grammar import glob
from harness.case.model import Case, SubjectRef, Where
from harness.subjects.base import Identity, Missing, Subject
from harness.subjects.registry import SUBJECTS

CASE = Case("c", Path("case.yaml"), Where("case.yaml", 1, 1), {}, task="do 'it'\n--now")

subjects = pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS)


def ref(subject: Subject) -> SubjectRef:
    return SubjectRef(
        subject.name, argv=["sh", "-c", "{task}"] if subject.name == "command" else ()
    )


def identified(subject: Subject) -> Identity:
    found = subject.identify(ref(subject), CASE)
    if isinstance(found, Missing):
        pytest.skip(f"{found.reason}; {found.remedy}")
    return found


@subjects
def test_it_lies_under_its_own_name_and_says_what_it_is(subject: Subject):
    assert SUBJECTS[subject.name] is subject
    assert subject.summary.endswith(".")


@subjects
def test_its_schema_is_closed_and_explains_each_parameter(subject: Subject):
    Draft202012Validator.check_schema(subject.schema)
    assert json.loads(json.dumps(subject.schema)) == subject.schema
    if subject.schema["type"] == "object":
        assert subject.schema["additionalProperties"] is False
        assert all(each.get("description") for each in subject.schema["properties"].values())
    else:
        assert subject.schema["description"]


@subjects
def test_it_is_missing_with_a_reason_and_a_remedy_where_it_is_not(
    subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def nothing(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setenv("SHAKEOUT_AGENTS", str(tmp_path))
    monkeypatch.setattr(metadata, "distribution", nothing)
    nowhere = SubjectRef(subject.name, argv=["bin/nothing"] if subject.name == "command" else ())
    found = subject.identify(nowhere, CASE)
    assert isinstance(found, Missing)
    assert found.reason
    assert found.remedy


@subjects
def test_its_identity_is_a_digest_that_stays(subject: Subject):
    first = identified(subject)
    assert first.name == subject.name
    assert first.version
    assert first.digest.removeprefix("sha256:").isalnum()
    assert len(first.digest) == len("sha256:") + 64
    assert identified(subject) == first


@subjects
def test_it_is_started_by_an_argv_that_carries_the_task_as_one_word(subject: Subject):
    identified(subject)
    launch = subject.launch(ref(subject), CASE)
    assert CASE.task in launch.argv
    assert all(launch.argv)


@subjects
def test_what_it_shows_and_plants_has_a_place(subject: Subject):
    identified(subject)
    launch = subject.launch(ref(subject), CASE)
    assert all(mount.source.exists() and mount.target.startswith("/") for mount in launch.mounts)
    assert not [planted.path for planted in launch.home if planted.path.startswith(("/", "~"))]
    assert all(callable(glob(pattern)) for pattern in launch.own)
    assert not [pattern for pattern in launch.own if glob(pattern)("Documents/letter.txt")]


@subjects
@given(stdout=st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_whatever_it_printed_its_last_message_is_text_or_none(subject: Subject, stdout: bytes):
    text = subject.final_text(stdout)
    assert text is None or isinstance(text, str)


@subjects
@pytest.mark.parametrize(
    "line",
    [
        b'{"type": "result", "result": {"a": 1}}',
        b'{"type": "item.completed", "item": {"type": "agent_message", "text": 3}}',
        b'{"type": ["result"], "result": "x"}',
        b"[[[{}]]]",
        b'{"item": null}',
    ],
)
def test_events_of_a_wrong_shape_are_no_message(subject: Subject, line: bytes):
    text = subject.final_text(line)
    assert text is None or text == line.decode()
