"""Questions to texts are answered from them, and what cannot be read is said to be so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.settings import Settings, ToolSettings
from runtime.tools.base import Context
from runtime.tools.pointer import NotThere, found
from tests.unit.runtime.tools.calls import Call, caller, snapshot

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("pointer", "output"),
    [
        ("", '{"items": [{"name": "n1"}, {"name": "n2"}]}\n'),
        ("/items/1/name", '"n2"\n'),
        ("/items/*/name", '"n1"\n"n2"\n'),
        ("/items/2", None),
        ("/items/-1", None),
        ("/items/01", None),
        ("/items/" + "9" * 5000, None),
        ("items", None),
        ("/nothing", None),
    ],
)
async def test_a_pointer_leads_to_what_is_there(call: Call, pointer: str, output: str | None):
    result = await call("json_query", path="data.json", pointer=pointer)

    assert result.output == (output or "")
    assert result.ok is (output is not None)


DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@settings(max_examples=30)
@given(document=DOCUMENTS, data=st.data())
def test_every_value_is_found_by_its_pointer(document: Any, data: st.DataObject):
    value, pointer = document, ""
    while isinstance(value, dict | list) and value:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = data.draw(st.sampled_from(keys))
        value = value[key]
        pointer += "/" + str(key).replace("~", "~0").replace("/", "~1")

    assert list(found(document, pointer)) == [value]
    with pytest.raises(NotThere):
        list(found(value, "/surely/not"))


async def test_yaml_is_read_as_its_second_version_is(call: Call, workspace: Path):
    (workspace / "many.yaml").write_text("a: 1\n---\na: 2\n")
    (workspace / "day.yaml").write_text("day: 2031-01-02\n")

    assert (await call("yaml_query", path="data.yaml", pointer="/items/*/name")).output == (
        '"no"\n12\n'
    )
    assert (await call("yaml_query", path="many.yaml", pointer="/*/a")).output == "1\n2\n"
    assert (await call("yaml_query", path="day.yaml", pointer="/day")).output == '"2031-01-02"\n'


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("json_query", b"{", "not JSON: Expecting property name"),
        ("json_query", b"[" * 100_000, "not JSON"),
        ("json_query", b"\xff", "not JSON"),
        ("json_query", b"", "not JSON: Expecting value: line 1 column 1"),
        ("yaml_query", b"a: [", "not YAML"),
        ("yaml_query", b"a: 1\na: 2\n", "not YAML"),
        ("yaml_query", b"a: !!python/object:os.system x", "not YAML"),
        ("yaml_query", b"a: &a [*a]", "not YAML"),
        ("yaml_query", b"[" * 500, "not YAML"),
        ("yaml_query", b"? [1]\n: 2\n", "keys must be"),
        ("csv_query", b'name\n"x', "not CSV"),
    ],
)
async def test_what_cannot_be_read_is_said_to_be_so(
    call: Call, workspace: Path, name: str, content: bytes, said: str
):
    (workspace / "file").write_bytes(content)

    result = await call(name, path="file")

    assert result.exit_code == 65, result
    assert said in result.error


async def test_aliases_are_followed_but_not_for_ever(call: Call, workspace: Path):
    bomb = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    bomb += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    (workspace / "bomb.yaml").write_text("\n".join(bomb))
    (workspace / "kind.yaml").write_text("a: &a {x: 1}\nb: *a\n")

    assert "stand for more than" in (await call("yaml_query", path="bomb.yaml")).error
    assert (await call("yaml_query", path="kind.yaml", pointer="/b/x")).output == "1\n"


async def test_rows_are_picked_by_column(call: Call, workspace: Path):
    (workspace / "odd.csv").write_text('a;b\n1;"x;\ny"\n2\n')

    picked = await call("csv_query", path="data.csv", where={"name": "y"}, columns=["size"])
    short = await call("csv_query", path="odd.csv", delimiter=";", columns=["b", "a"])
    unknown = await call("csv_query", path="data.csv", columns=["no"])

    assert picked.output == "size\n2\n"
    assert short.output == 'b,a\n"x;\ny",1\n,2\n'
    assert unknown.error == "data.csv: no column no; there are name, size\n"


async def test_a_difference_is_shown_and_none_is_nothing(call: Call, workspace: Path):
    (workspace / "a/other").write_text("one\n2\nthree")

    result = await call("diff", old="a/file", new="a/other")
    same = await call("diff", old="a/file", new="in")

    assert result.output == (
        "--- a/file\n+++ a/other\n@@ -1,3 +1,3 @@\n one\n-two\n-three\n+2\n+three\n"
        "\\ No newline at end of file\n"
    )
    assert (result.exit_code, same.exit_code, same.output) == (0, 0, "")


async def test_matches_of_an_expression_are_listed(call: Call):
    result = await call("regex_test", pattern="(?P<x>a)(b)?", text="a ab")
    none = await call("regex_test", pattern="z", text="a")
    wrong = await call("regex_test", pattern="(", text="a")

    assert [json.loads(line)["named"] for line in result.output.splitlines()] == [{"x": "a"}] * 2
    assert (none.exit_code, none.error) == (1, "no match\n")
    assert (wrong.exit_code, "unterminated subpattern" in wrong.error) == (2, True)


@pytest.mark.parametrize("name", ["regex_test", "grep"])
async def test_an_expression_that_takes_for_ever_is_ended(
    context: Context, workspace: Path, name: str
):
    (workspace / "a/file").write_text("a" * 50 + "!\n")
    short = replace(context, settings=Settings(tools=ToolSettings(seconds=1)))
    more = {"text": "a" * 50 + "!"} if name == "regex_test" else {"regex": True}

    result = await caller(short)(name, pattern="(a+)+$", **more)

    assert result.exit_code == 124
    assert "timed out after 1 seconds" in result.error


PATCH = "--- a/{0}\n+++ b/{0}\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"


@pytest.mark.parametrize(
    ("patch", "output", "said"),
    [
        (PATCH.format("a/file"), "1\t1\ta/file\n", ""),
        (PATCH.format("data.csv"), "", "patch does not apply"),
        (PATCH.format("missing"), "", "No such file or directory"),
        (PATCH.format("../secret"), "", "invalid path"),
        (PATCH.format("dir-out/secret"), "", "beyond a symbolic link"),
        ("no patch", "", "No valid patches in input"),
        ("half \ud800", "", "Invalid or incomplete multibyte"),
    ],
)
async def test_a_patch_is_tried_and_not_applied(
    call: Call, workspace: Path, patch: str, output: str, said: str
):
    before = snapshot(workspace.parent)

    result = await call("patch_preview", patch=patch)

    assert result.output == output
    assert said in result.error
    assert result.ok is not bool(said)
    assert snapshot(workspace.parent) == before
