"""``shakeout explain``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.case.fields import FIELDS
from harness.case.grammar import FORMATS as READ
from harness.case.schema import case_schema
from harness.case.tables import installed
from harness.commands.explained import everything, named
from harness.commands.glossary import FORMATS, REASONS, VERDICTS
from harness.commands.landing import LANDS
from harness.commands.shown import full
from harness.faults.base import Layer
from harness.report import truth
from tests.functional.verbs.shakeout import shakeout
from verifiers.verdicts import Reason, Verdict


def test_every_extension_field_verdict_and_reason_can_be_explained():
    tables = installed()
    names = {topic.name for topic in everything()}

    assert names >= {*tables.faults, *tables.oracles, *tables.services, *tables.subjects}
    assert names >= {*FIELDS, *READ}
    assert names >= {*(verdict.value for verdict in Verdict), *Reason}
    assert set(VERDICTS) == set(Verdict)
    assert set(REASONS) == set(Reason)
    assert set(FORMATS) == set(READ)


def keys(schema: Any) -> Iterator[str]:
    """Every key that the schema of a case knows anywhere."""
    if isinstance(schema, list | tuple):
        yield from (key for inner in schema for key in keys(inner))
    elif isinstance(schema, dict):
        if isinstance(properties := schema.get("properties"), dict):
            yield from properties
        yield from (key for inner in schema.values() for key in keys(inner))


def test_every_key_that_can_be_written_in_a_case_can_be_explained_by_itself():
    topics = everything()

    wanted = {*keys(case_schema(installed())), *case_schema(installed())["$defs"]}

    assert [key for key in sorted(wanted) if not named(key, topics)] == []


def test_every_word_of_the_page_about_verdicts_can_be_explained():
    topics = everything()
    marked = re.findall(r"`([^`\n]+)`", truth.page())
    columns = [*truth.TRIAL.items(), *truth.WEIGHT.items(), *truth.SABOTAGE.items()]
    words = {word for head, values in columns for word in (head, *values)}
    words |= {word for word in marked if not word.startswith(("python ", "shakeout "))}
    words |= {
        *re.findall(r"\*\*([^*]+)\*\*", truth.page()),
        "any",
        "weighs as",
        "verdict",
        "reasons",
    }

    assert len(words) > 60
    assert [word for word in sorted(words) if not named(word, topics)] == []


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
        ("formats", "version-range"),
        ("forms", "planted"),
        ("verdicts", "timed_out"),
        ("reasons", "fault-not-delivered"),
        ("words", "lasting"),
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
        ("faults", "field faults: what goes wrong"),
        ("faults", "model.truncate"),
        ("faults", "when: trigger"),
        ("subjects", "field subjects: instead of subject"),
        ("services", "field services: scripted things"),
        ("faults.times", "default 1"),
        ("times", "field faults.times: "),
        ("times", "parameter http.times: "),
        ("mount", "field workspace.mount: "),
        ("run", "field steps.run: "),
        ("run", "field script.run: "),
        ("trigger", "after: duration"),
        ("planted", "base64: text"),
        ("expectation", "processes Exactly"),
        ("workspace.files", "base64: text"),
        ("duration", "write: 500ms"),
        ("size", "write: 64KiB"),
        ("glob", "such as .cache/**"),
        ("regex", "a Python regular expression"),
        ("broke:home", "reason broke:ID: "),
        ("containment", "word containment: "),
        ("known-fixed", "remove the entry"),
        ("weighs", "what a trial counts as"),
        ("Timed out", "verdict timed_out: "),
        ("sabotage", "shakeout teeth runs the"),
        ("subject.command", "subject command: "),
        ("faults.model.status", "fault model.status: "),
        ("probe", "word probe: "),
        ("turn", "word turn: "),
        ("side", "word side: "),
        ("beyond", "word beyond: "),
        ("script", "kind beyond, and answered with a 400"),
        ("state", "state.torn-journal"),
        ("human", "human: lands where"),
        ("model", "service model: "),
        ("mcp", "error: text (required) what a result with isError says"),
        ("mcp", "fails: text (required) what a JSON-RPC error says"),
    ],
)
def test_fields_services_and_reasons_are_explained(name: str, shows: str, tmp_path: Path):
    ended = shakeout("explain", *name.split(), cwd=tmp_path)

    assert shows in " ".join(ended.out.split()), ended.err


def test_an_unknown_name_is_exit_2_with_the_nearest(tmp_path: Path):
    ended = shakeout("explain", "model.trunkate", cwd=tmp_path)
    as_json = shakeout("explain", "model.trunkate", "--json", cwd=tmp_path)

    assert (ended.code, ended.out) == (2, "")
    assert "did you mean model.truncate?" in ended.err
    assert as_json.json["errors"][0]["hint"] == "did you mean model.truncate?"


def test_several_names_are_explained_in_turn(tmp_path: Path):
    ended = shakeout("explain", "model.status", "secrets", cwd=tmp_path)
    wrong = shakeout("explain", "model.status", "model.trunkate", cwd=tmp_path)

    assert ended.code == 0
    assert ended.out.index("fault model.status: ") < ended.out.index("oracle secrets: ")
    assert (wrong.code, wrong.out) == (2, "")
    assert "nothing is called 'model.trunkate'" in wrong.err


def test_a_layer_lists_its_own_faults_alone(tmp_path: Path):
    items = shakeout("explain", "filesystem", "--json", cwd=tmp_path).json["items"]

    assert {item["name"] for item in items if item["kind"] == "fault"} == {
        name for name, fault in installed().faults.items() if fault.layer == Layer.FILESYSTEM
    }


def test_a_part_of_a_name_leads_to_all_that_have_it(tmp_path: Path):
    ended = shakeout("explain", "torn", cwd=tmp_path)

    assert ended.code == 2
    assert "did you mean filesystem.torn-write or state.torn-journal?" in ended.err


def test_without_a_name_everything_is_listed(tmp_path: Path):
    ended = shakeout("explain", cwd=tmp_path)

    assert ended.code == 0
    for kind in ("faults", "oracles", "services", "subjects", "fields", "formats", "verdicts"):
        assert f"\n{kind}:\n" in f"\n{ended.out}"


def test_the_schema_is_printed_as_published(tmp_path: Path):
    ended = shakeout("explain", "--schema", cwd=tmp_path)

    assert json.loads(ended.out)["$id"] == "urn:shakeout:case:1"


def test_all_fields_are_listed_with_the_inner_ones(tmp_path: Path):
    ended = shakeout("explain", "fields", "--json", cwd=tmp_path)
    listed = {item["name"] for item in ended.json["items"]}

    assert listed >= {*FIELDS, "faults.when.after", "workspace.files.mode", "control.script.say"}
    assert {item["kind"] for item in ended.json["items"]} == {"field"}


def test_a_reference_is_shown_with_what_it_refers_to(tmp_path: Path):
    (item,) = shakeout("explain", "faults.when", "--json", cwd=tmp_path).json["items"]
    (steps,) = shakeout("explain", "steps", "--json", cwd=tmp_path).json["items"]
    run = steps["schema"]["items"]["oneOf"][1]["properties"]["run"]

    assert item["schema"]["oneOf"][1]["properties"]["after"]["format"] == "duration"
    assert (run["$ref"], run["type"]) == ("#/$defs/argv", "array")


@pytest.mark.parametrize("columns", [80, 120])
def test_the_table_of_faults_says_layer_by_layer_what_each_does_needs_and_how_it_lands(
    tmp_path: Path, columns: int
):
    ended = shakeout("explain", "faults", cwd=tmp_path, COLUMNS=str(columns))
    text = " ".join(ended.out.split())
    faults = installed().faults

    assert max(map(len, ended.out.splitlines())) <= columns
    for layer in {fault.layer for fault in faults.values()}:
        assert f"{layer}: lands where {LANDS[layer]}" in text
    for name, fault in faults.items():
        needs = f" (needs {', '.join(fault.needs)})" if fault.needs else ""
        assert f"{name} {fault.summary}{needs}" in text


@pytest.mark.parametrize("table", ["oracles", "services"])
@pytest.mark.parametrize("columns", [80, 120])
def test_the_other_tables_fit_the_terminal_too(tmp_path: Path, table: str, columns: int):
    ended = shakeout("explain", table, cwd=tmp_path, COLUMNS=str(columns))
    text = " ".join(ended.out.split())

    assert max(map(len, ended.out.splitlines())) <= columns
    for name, entry in getattr(installed(), table).items():
        assert f"{name} {entry.summary}" in text


def test_how_a_fault_lands_is_for_machines_too(tmp_path: Path):
    ended = shakeout("explain", "faults", "--json", cwd=tmp_path)
    listed = json.loads(ended.out)["items"]
    items = {item["name"]: item for item in listed if item["kind"] == "fault"}

    assert items.keys() == installed().faults.keys()
    for name, fault in installed().faults.items():
        assert items[name]["lands"] == LANDS[fault.layer]
    assert set(LANDS) == set(Layer)


def test_a_map_of_many_keys_is_shown_once():
    (topic,) = (topic for topic in everything() if topic.name == "order")
    shown = "\n".join(full(topic))

    assert shown.count("tool_result: ") == 1
    assert "the keys are those above" in shown
