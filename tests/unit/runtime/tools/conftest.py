"""A workspace with a bit of everything, and what calls tools there."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from runtime.clock import SystemClock
from runtime.settings import Settings, ToolSettings
from runtime.tools.base import Context
from tests.unit.runtime.tools.calls import Call, caller, git


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder with a file outside of it, and links that lead there."""
    top = tmp_path / "workspace"
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "file").write_text("one\ntwo\nthree\n")
    (top / "a" / "b" / "deep.py").write_text("x = 1\n")
    (top / "data.json").write_text('{"items": [{"name": "n1"}, {"name": "n2"}]}')
    (top / "data.yaml").write_text("items:\n- name: no\n- name: 012\n")
    (top / "data.csv").write_text("name,size\nx,1\ny,2\n")
    (tmp_path / "secret").write_text("outside")
    (top / "out").symlink_to("../secret")
    (top / "dir-out").symlink_to("..")
    (top / "in").symlink_to("a/file")
    os.mkfifo(top / "pipe")
    with closing(sqlite3.connect(top / "data.db")) as connection:
        connection.execute("CREATE TABLE x (a)")
    return top


@pytest.fixture
def repository(workspace: Path) -> Path:
    """The workspace as a repository with one commit of some of it."""
    git(workspace, "init", "-q", "-b", "main")
    git(workspace, "add", "a", "data.json")
    git(workspace, "commit", "-q", "-m", "First")
    return workspace


@pytest.fixture
def context(workspace: Path) -> Context:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(workspace.parent / "home"),
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }
    settings = Settings(tools=ToolSettings(seconds=30))
    return Context(workspace, SystemClock(), settings, environment)


@pytest.fixture
def call(context: Context) -> Call:
    return caller(context)
