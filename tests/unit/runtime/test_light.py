"""What a command does not need, it does not load."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = frozenset(
    {
        "alembic",
        "anthropic",
        "anyio",
        "asyncio",
        "httpx2",
        "jsonschema",
        "mcp",
        "openai",
        "psutil",
        "pydantic",
        "ruamel",
        "sqlalchemy",
        "starlette",
        "uvicorn",
    }
)


def loaded(code: str) -> set[str]:
    """The packages that are there once some code has run."""
    tell = (
        "import json; print('\\n' + json.dumps(sorted({m.partition('.')[0] for m in sys.modules})))"
    )
    argv = [sys.executable, "-c", f"import sys\n{code}\n{tell}"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["run", "--help"], ["serve", "--help"]], ids=" ".join
)
def test_help_loads_nothing_heavy(words: list[str]):
    code = f"from runtime.cli import main\ntry: main({words!r})\nexcept SystemExit: pass"
    assert loaded(code) & HEAVY <= ({"anyio", "asyncio"} if words[0] == "serve" else set())


def test_the_daemons_client_is_the_standard_library():
    assert not loaded("import runtime.commands.run, runtime.daemon.client") & HEAVY


def test_a_task_without_a_daemon_loads_no_server_and_no_sdk():
    assert not loaded("import runtime.daemon.alone") & {
        "uvicorn",
        "starlette",
        "anthropic",
        "openai",
    }


@pytest.mark.parametrize(
    ("module", "sdk", "other"),
    [
        ("anthropic", "anthropic", "openai"),
        ("openai_chat", "openai", "anthropic"),
        ("openai_responses", "openai", "anthropic"),
    ],
)
def test_a_protocol_loads_its_own_sdk_alone(module: str, sdk: str, other: str):
    found = loaded(f"import runtime.model.{module}")
    assert sdk in found
    assert other not in found
