"""``shakeout explain``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.case.fields import FIELDS
from harness.case.tables import installed
from harness.commands.explained import REASONS, VERDICTS, everything
from tests.functional.verbs.shakeout import shakeout
from verifiers.verdicts import Reason, Verdict


def test_every_extension_field_verdict_and_reason_can_be_explained():
    tables = installed()
    named = {topic.name for topic in everything()}

    assert named >= {*tables.faults, *tables.oracles, *tables.services, *tables.subjects}
    assert named >= set(FIELDS)
    assert named >= {*(verdict.value for verdict in Verdict), *Reason}
    assert set(VERDICTS) == set(Verdict)
    assert set(REASONS) == set(Reason)


def test_no_topic_is_left_without_a_sentence():
    assert [topic.name for topic in everything() if not topic.summary] == []


def test_a_fault_is_explained_from_its_own_schema(tmp_path: Path):
    ended = shakeout("explain", "model.status", cwd=tmp_path)

    assert ended.code == 0
    assert ended.out.startswith("fault model.status: ")
    assert "layer: model" in ended.out
    assert "status: whole number" in ended.out
    assert "write: faults: [{fault: model.status" in ended.out


def test_a_name_that_is_several_things_is_explained_as_each(tmp_path: Path):
    ended = shakeout("explain", "secrets", "--json", cwd=tmp_path)

    assert [item["kind"] for item in ended.json["items"]] == ["oracle", "field"]
    assert ended.json["items"][0]["schema"] == installed().oracles["secrets"].schema


@pytest.mark.parametrize(
    ("topic", "shows"),
    [
        ("faults", "process.kill"),
        ("oracles", "untouched|home"),
        ("services", "http"),
        ("subjects", "claude-code"),
        ("fields", "sandbox.limits.memory"),
        ("verdicts", "fault-not-delivered"),
    ],
)
def test_a_kind_lists_all_of_its_kind(topic: str, shows: str, tmp_path: Path):
    ended = shakeout("explain", topic, cwd=tmp_path)

    assert ended.code == 0
    assert any(word in ended.out for word in shows.split("|"))


@pytest.mark.parametrize(
    ("name", "shows"),
    [
        ("sandbox.limits", "memory: size (default"),
        ("steps", "at_most: duration"),
        ("http", "each value: list"),
        ("not-observed", "verdict: unavailable"),
        ("command", "[PROGRAM"),
    ],
)
def test_fields_services_and_reasons_are_explained(name: str, shows: str, tmp_path: Path):
    assert shows in shakeout("explain", name, cwd=tmp_path).out


def test_an_unknown_name_is_exit_2_with_the_nearest(tmp_path: Path):
    ended = shakeout("explain", "model.trunkate", cwd=tmp_path)
    as_json = shakeout("explain", "model.trunkate", "--json", cwd=tmp_path)

    assert (ended.code, ended.out) == (2, "")
    assert "did you mean model.truncate?" in ended.err
    assert as_json.json["errors"][0]["hint"] == "did you mean model.truncate?"


def test_without_a_name_everything_is_listed(tmp_path: Path):
    ended = shakeout("explain", cwd=tmp_path)

    assert ended.code == 0
    for kind in ("faults", "oracles", "services", "subjects", "fields", "verdicts"):
        assert f"\n{kind}:\n" in f"\n{ended.out}"


def test_the_schema_is_printed_as_published(tmp_path: Path):
    ended = shakeout("explain", "--schema", cwd=tmp_path)

    assert json.loads(ended.out)["$id"] == "urn:shakeout:case:1"
