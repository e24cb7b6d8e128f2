"""Abstract calls become the tools that a request offers."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.case.model import Call
from harness.services.model.heard import Heard, Tool
from harness.services.model.resolve import in_shell, resolve
from harness.subjects.base import Dialect

STRING = {"type": "string"}


def tool(name: str, required: list[str] | None = None, **properties: object) -> Tool:
    names = list(properties) if required is None else required
    return Tool(name, {"type": "object", "properties": properties, "required": names})


def resolved(call: Call, *tools: Tool, dialect: Dialect | None = None) -> tuple[str, object]:
    made = resolve(call, Heard("chat", tools=tools), dialect or Dialect())
    return made.name, json.loads(made.arguments)


RUN = Call("run", args={"command": "ls"})
WRITE = Call("write", args={"path": "a.txt", "text": "x\n"})
READ = Call("read", args={"path": "a.txt"})

BASH = tool("Bash", ["command"], command=STRING, description=STRING, run_in_background={})
WRITER = tool("Write", file_path={**STRING, "description": "The absolute path"}, content=STRING)
READER = tool("Read", ["file_path"], file_path=STRING, offset={"type": "integer"})
EDITOR = tool(
    "str_replace_based_edit_tool",
    ["command", "path"],
    command={"type": "string", "enum": ["view", "create", "str_replace"]},
    path=STRING,
    file_text=STRING,
)


@pytest.mark.parametrize(
    ("offered", "name", "arguments"),
    [
        (BASH, "Bash", {"command": "ls"}),
        (tool("exec_command", cmd=STRING), "exec_command", {"cmd": "ls"}),
        (
            tool("run_shell_command", command=STRING, is_background={"type": "boolean"}),
            "run_shell_command",
            {"command": "ls", "is_background": False},
        ),
        (
            tool("run_commands", commands={"type": "array", "items": STRING}),
            "run_commands",
            {"commands": ["ls"]},
        ),
        (
            tool("shell", command={"type": "array", "items": STRING}),
            "shell",
            {"command": ["bash", "-lc", "ls"]},
        ),
        (
            tool(
                "terminal",
                commands={
                    "anyOf": [
                        {"type": "null"},
                        {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "properties": {"command": STRING, "timeout": {"type": "number"}},
                                "required": ["command", "timeout"],
                            },
                        },
                    ]
                },
            ),
            "terminal",
            {"commands": [{"command": "ls", "timeout": 1}]},
        ),
        (tool("bash", script=STRING), "bash", {"script": "ls"}),
    ],
)
def test_run_becomes_whatever_runs_commands(offered, name, arguments):
    assert resolved(RUN, WRITER, EDITOR, READER, offered) == (name, arguments)


def test_run_prefers_a_tool_by_its_name_over_any_with_a_command():
    assert resolved(RUN, tool("notify", command=STRING), BASH)[0] == "Bash"


def test_run_goes_to_no_editor_that_has_a_command_of_its_own():
    assert resolved(RUN, EDITOR) == ("run", {"command": "ls"})


def test_write_and_read_become_tools_for_files():
    assert resolved(WRITE, BASH, READER, WRITER) == (
        "Write",
        {"file_path": "/workspace/a.txt", "content": "x\n"},
    )
    assert resolved(READ, BASH, WRITER, READER) == ("Read", {"file_path": "/workspace/a.txt"})
    plain = tool("write_file", path=STRING, contents=STRING)
    assert resolved(WRITE, plain) == ("write_file", {"path": "a.txt", "contents": "x\n"})


def test_an_absolute_path_stays_and_one_in_the_home_is_put_there():
    path = {"path": "/etc/x", "text": ""}
    assert resolved(Call("write", args=path), WRITER)[1] == {"file_path": "/etc/x", "content": ""}
    arguments = resolved(Call("read", args={"path": "~/.ssh/id"}), READER)[1]
    assert arguments == {"file_path": "/home/agent/.ssh/id"}


def test_an_editor_is_told_to_create_and_to_view():
    assert resolved(WRITE, EDITOR) == (
        EDITOR.name,
        {"command": "create", "path": "a.txt", "file_text": "x\n"},
    )
    assert resolved(READ, EDITOR) == (EDITOR.name, {"command": "view", "path": "a.txt"})


@pytest.mark.parametrize("name", ["append_file", "notebook_edit", "todo_write", "insert_text"])
def test_write_goes_to_no_tool_that_adds_to_a_file(name):
    other = tool(name, path=STRING, content=STRING)
    assert resolved(WRITE, other, BASH)[0] == "Bash"


@pytest.mark.parametrize("name", ["list_dir", "glob", "grep", "write_file", "view_directory"])
def test_read_goes_to_no_tool_that_does_not_read_files(name):
    assert resolved(READ, tool(name, path=STRING), BASH)[0] == "Bash"


def test_without_a_tool_for_files_the_shell_does_it():
    exec_command = tool("exec_command", cmd=STRING)
    patch = Tool("apply_patch", freeform=True)
    assert resolved(WRITE, patch, exec_command) == (
        "exec_command",
        {"cmd": "printf %s 'x\n' > a.txt"},
    )
    assert resolved(READ, exec_command) == ("exec_command", {"cmd": "cat -- a.txt"})


def test_without_any_fitting_tool_the_literal_name_is_called():
    assert resolved(RUN) == ("run", {"command": "ls"})
    assert resolved(WRITE, tool("weather", city=STRING)) == ("write", WRITE.args)
    assert resolved(READ) == ("read", {"path": "a.txt"})


def test_a_dialect_decides_where_its_tool_is_offered():
    dialect = Dialect(tools={"run": ("gone", "notify")}, extra={"notify": {"quiet": True}})
    notify = tool("notify", ["command"], command=STRING)
    assert resolved(RUN, BASH, notify, dialect=dialect) == (
        "notify",
        {"quiet": True, "command": "ls"},
    )
    assert resolved(RUN, BASH, dialect=dialect)[0] == "Bash"


def test_required_arguments_are_filled_from_their_schemas():
    offered = tool(
        "bash",
        command=STRING,
        description=STRING,
        cwd=STRING,
        mode={"enum": ["fast", "slow"]},
        kind={"const": "sh"},
        timeout={"type": ["null", "integer"], "minimum": 5},
        login={"type": "boolean"},
        level={"type": "number", "default": 3},
        tags={"type": "array", "items": STRING, "minItems": 1},
        options={"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]},
    )
    assert resolved(RUN, offered)[1] == {
        "command": "ls",
        "description": "scripted description",
        "cwd": ".",
        "mode": "fast",
        "kind": "sh",
        "timeout": 5,
        "login": False,
        "level": 3,
        "tags": ["scripted tags"],
        "options": {"a": False},
    }


def test_a_schema_without_sense_is_survived():
    for schema in ({}, {"properties": 3}, {"properties": {"command": 3}}, {"required": "x"}):
        assert resolved(RUN, Tool("bash", schema)) == ("run", {"command": "ls"})


def test_a_call_by_name_is_made_as_it_stands_offered_or_not():
    call = Call("call", "Bash", {"command": "x", "odd": [1]})
    assert resolved(call, BASH) == resolved(call) == ("Bash", {"command": "x", "odd": [1]})


def test_a_namespaced_tool_is_found_by_either_name():
    stat = Tool("stat", {}, "files")
    for name in ("stat", "files.stat"):
        made = resolve(Call("call", name, {}), Heard("responses", tools=(stat,)), Dialect())
        assert (made.name, made.namespace) == ("stat", "files")


ANYTHING = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


@pytest.mark.parametrize("shell", ["bash", "sh"])
@settings(deadline=None, max_examples=30)  # each starts two shells
@given(text=ANYTHING)
def test_text_written_by_the_shell_is_the_same_to_the_last_byte(shell, tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("write")
    path = "-d 'o\"/$HOME/`x`; a"
    command = in_shell(Call("write", args={"path": path, "text": text}))
    subprocess.run([shell, "-c", command], cwd=folder, check=True)
    assert (folder / path).read_bytes() == text.encode()
    read = in_shell(Call("read", args={"path": path}))
    found = subprocess.run([shell, "-c", read], cwd=folder, check=True, capture_output=True)
    assert found.stdout == text.encode()


def test_a_tilde_is_the_home_and_not_a_folder(tmp_path):
    command = in_shell(Call("write", args={"path": "~/a b/c", "text": "x"}))
    subprocess.run(["sh", "-c", command], env={**os.environ, "HOME": str(tmp_path)}, check=True)
    assert (tmp_path / "a b" / "c").read_text() == "x"
