"""The published schema is a valid one, says what the loader says, and is up to date."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from harness.case import grammar, schema
from harness.case.errors import CaseErrors
from harness.case.suite import load_suite
from harness.case.tables import installed
from harness.case.yaml import parse, read
from harness.state import cases_folder
from tests.unit.case.bad import FAULTS, STRUCTURE, Bad
from tests.unit.case.examples import EXAMPLE, TABLES

DOCUMENTS = schema.documents()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_is_published_is_what_would_be_written(name: str):
    published = (schema.FOLDER / name).read_text(encoding="utf-8")

    assert published == schema.rendered(DOCUMENTS[name]), "run: python -m harness.case.schema"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_is_published_is_a_valid_schema(name: str):
    Draft202012Validator.check_schema(DOCUMENTS[name])


def test_writing_gives_the_same_files_again(tmp_path: Path):
    schema.write(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(DOCUMENTS)
    for name in DOCUMENTS:
        assert (tmp_path / name).read_bytes() == (schema.FOLDER / name).read_bytes()


def properties(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, list):
        for item in value:
            yield from properties(item, path)
    elif isinstance(value, dict):
        for key, inner in value.get("properties", {}).items():
            yield f"{path}.{key}", inner
        for key, inner in value.items():
            yield from properties(inner, f"{path}.{key}")


def test_every_field_of_ours_has_a_description():
    ours = schema.case_schema(TABLES)
    bare = [
        path
        for path, inner in properties(ours)
        if isinstance(inner, dict)
        and not inner.get("description")
        and "$ref" not in inner
        and ".expectation." not in path
        and ".allOf" not in path
        and ".services." not in path
        and ".subject." not in path
    ]

    assert bare == []


def test_every_extension_has_a_sound_schema_with_known_formats():
    tables = installed()
    for table in (tables.faults, tables.oracles, tables.services, tables.subjects):
        for name, entry in table.items():
            Draft202012Validator.check_schema(entry.schema)
            assert name == entry.name
            assert entry.summary.endswith(".")
            assert set(formats(entry.schema)) <= set(grammar.FORMATS), name


def formats(value: Any) -> Iterator[str]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from formats(item)
    elif isinstance(value, dict):
        if isinstance(value.get("format"), str):
            yield value["format"]
        for inner in value.values():
            yield from formats(inner)


def published_accepts(text: str) -> bool:
    try:
        document = parse(text, "x.yaml")
    except CaseErrors:
        return False
    return Draft202012Validator(schema.case_schema(TABLES)).is_valid(document.data)


def test_an_editor_accepts_the_full_example():
    assert published_accepts(EXAMPLE)


@pytest.mark.parametrize("bad", STRUCTURE, ids=lambda bad: bad.name)
def test_an_editor_refuses_what_is_wrong_in_structure(bad: Bad):
    looser = {
        "a whole float for a count",  # JSON Schema takes 5.0 for an integer
        "an id that ends in a new line",  # Python's $ comes before a last line end, too
    }

    assert published_accepts(bad.clean) is (bad.name in looser)


@pytest.mark.parametrize("name", ["an unknown fault", "an unknown parameter", "a wrong parameter"])
def test_an_editor_refuses_wrong_parameters_of_a_fault(name: str):
    (bad,) = (bad for bad in FAULTS if bad.name == name)

    assert not published_accepts(bad.clean)


def test_the_suite_names_all_32_checks():
    suite = load_suite(cases_folder() / "suite.yaml")

    assert [check.id for check in suite.checks] == [
        *(f"C{number:02}" for number in range(1, 24)),
        *(f"K{number}" for number in range(1, 10)),
    ]


def test_the_suite_fits_its_own_published_schema():
    document = read(cases_folder() / "suite.yaml")
    published = json.loads((schema.FOLDER / "suite.schema.json").read_text())

    Draft202012Validator(published).validate(document.data)
