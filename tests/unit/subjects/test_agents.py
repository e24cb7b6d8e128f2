"""The adapters of real agents: found or missing, started, and read."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from harness.case.grammar import glob
from harness.case.model import Case, SubjectRef, Where
from harness.subjects import installed
from harness.subjects.base import Identity, Launch, Missing, Subject
from harness.subjects.registry import SUBJECTS

TASK = "--help is what I want"
CASE = Case("c", Path("case.yaml"), Where("case.yaml", 1, 1), {}, task=TASK)
LAYOUT = {
    "claude-code": (
        "@anthropic-ai/claude-code",
        ["@anthropic-ai/claude-code-linux-x64/claude"],
    ),
    "codex": (
        "@openai/codex",
        [
            "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
            "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/codex-path/rg",
        ],
    ),
}
AGENTS = sorted(LAYOUT)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHAKEOUT_AGENTS", str(tmp_path))
    return tmp_path


def install(root: Path, agent: str, version: str = "1.2.3") -> None:
    package, programs = LAYOUT[agent]
    manifest = root / "node_modules" / package / "package.json"
    manifest.parent.mkdir(parents=True, exist_ok=True)
    manifest.write_text(json.dumps({"version": version}))
    for program in programs:
        path = root / "node_modules" / program
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{agent} {version}")
        path.chmod(0o755)


def identity(agent: str) -> Identity:
    found = SUBJECTS[agent].identify(SubjectRef(agent), CASE)
    assert isinstance(found, Identity)
    return found


def launch(agent: str, **params: object) -> Launch:
    return SUBJECTS[agent].launch(SubjectRef(agent, params), CASE)


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_that_is_not_installed_is_missing_with_the_place_and_the_remedy(
    root: Path, agent: str
):
    found = SUBJECTS[agent].identify(SubjectRef(agent), CASE)
    assert isinstance(found, Missing)
    assert str(root) in found.reason
    assert found.remedy == "run ci/setup in a checkout of shakeout"


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("broken", ["manifest", "program", "mode"])
def test_half_an_installation_is_missing(root: Path, agent: str, broken: str):
    install(root, agent)
    package, programs = LAYOUT[agent]
    program = root / "node_modules" / programs[0]
    if broken == "manifest":
        (root / "node_modules" / package / "package.json").write_text("{")
    elif broken == "program":
        program.unlink()
    else:
        program.chmod(0o644)
    assert isinstance(SUBJECTS[agent].identify(SubjectRef(agent), CASE), Missing)


@pytest.mark.parametrize("agent", AGENTS)
def test_the_version_is_the_package_s_and_the_digest_the_program_s(root: Path, agent: str):
    install(root, agent)
    before = identity(agent)
    assert (before.name, before.version) == (agent, "1.2.3")
    install(root, agent, "1.2.4")
    assert identity(agent).digest != before.digest
    install(root, agent)
    assert identity(agent).digest == before.digest


def test_every_program_that_is_shown_of_codex_is_in_its_digest(root: Path):
    install(root, "codex")
    before = identity("codex").digest
    (root / "node_modules" / LAYOUT["codex"][1][1]).write_text("another rg")
    assert identity("codex").digest != before


@pytest.mark.parametrize("agent", AGENTS)
def test_the_program_is_started_where_it_is_mounted_and_the_task_is_no_option(
    root: Path, agent: str
):
    install(root, agent)
    started = launch(agent)
    (mount,) = started.mounts
    inside = Path(started.argv[0]).relative_to(mount.target)
    assert (mount.source / inside).read_text() == f"{agent} 1.2.3"
    assert list(started.argv)[-2:] == ["--", TASK]


def test_the_retries_and_waits_of_claude_code_are_bounded(root: Path):
    install(root, "claude-code")
    env = launch("claude-code", retries=4, timeout="1500ms").env
    assert (env["CLAUDE_CODE_MAX_RETRIES"], env["API_TIMEOUT_MS"]) == ("4", "1500")
    assert launch("claude-code").env["CLAUDE_CODE_MAX_RETRIES"] == "1"


def test_codex_is_configured_by_a_planted_file(root: Path):
    install(root, "codex")
    (planted,) = launch("codex", retries=2, idle="2s", model='odd "name"').home
    config = tomllib.loads(planted.content.decode())
    assert planted.path == ".codex/config.toml"
    assert config["model"] == 'odd "name"'
    provider = config["model_providers"][config["model_provider"]]
    assert provider["base_url"] == "http://model:8080/v1"
    assert (provider["request_max_retries"], provider["stream_max_retries"]) == (2, 2)
    assert provider["stream_idle_timeout_ms"] == 2000


@pytest.mark.parametrize(
    ("agent", "steering"),
    [
        (
            "claude-code",
            [".claude/settings.json", ".claude/skills/x/SKILL.md", ".claude/CLAUDE.md"],
        ),
        ("codex", [".codex/config.toml", ".codex/AGENTS.md", ".codex/rules/default.rules"]),
    ],
)
def test_what_steers_an_agent_s_next_run_is_not_its_own_to_write(
    root: Path, agent: str, steering: list[str]
):
    install(root, agent)
    own = [glob(pattern) for pattern in launch(agent).own]
    assert not [path for path in steering if any(match(path) for match in own)]


CLAUDE_RESULT = b'{"type":"result","subtype":"success","is_error":true,"result":"Done."}'
CODEX_SAID = b'{"type":"item.completed","item":{"type":"agent_message","text":"%b"}}'


@pytest.mark.parametrize(
    ("stdout", "text"),
    [
        (CLAUDE_RESULT, "Done."),
        (b"warning: {\n" + CLAUDE_RESULT + b"\nmore\n", "Done."),
        (b'[{"type":"system"},' + CLAUDE_RESULT + b"]", "Done."),
        (
            b'{"type":"assistant"}\n'
            + CLAUDE_RESULT.replace(b"Done.", b"A")
            + b"\n"
            + CLAUDE_RESULT,
            "Done.",
        ),
        (b'{"type":"result","result":null}', None),
        (b'{"type":"result","resul', None),
        (b"\xff\xfe[[[[1", None),
        (b"[" * 100_000, None),
        (b"", None),
    ],
)
def test_the_last_message_of_claude_code_is_its_result(stdout: bytes, text: str | None):
    assert SUBJECTS["claude-code"].final_text(stdout) == text


@pytest.mark.parametrize(
    ("stdout", "text"),
    [
        (
            CODEX_SAID % b"First." + b"\n" + CODEX_SAID % b"Last." + b'\n{"type":"turn.completed"}',
            "Last.",
        ),
        (
            CODEX_SAID % b"First."
            + b'\n{"type":"item.completed","item":{"type":"error","text":"x"}}',
            "First.",
        ),
        (b'{"type":"turn.failed","error":{"message":"no"}}', None),
        (b'{"type":"item.completed","item":[]}\nnull\n3\n"x"', None),
        (b"", None),
    ],
)
def test_the_last_message_of_codex_is_that_of_its_last_event(stdout: bytes, text: str | None):
    assert SUBJECTS["codex"].final_text(stdout) == text


def test_the_table_holds_each_subject_under_its_own_name():
    assert all(subject.name == name for name, subject in SUBJECTS.items())
    assert {"claude-code", "codex", "command"} <= set(SUBJECTS)


@pytest.mark.agents
@pytest.mark.parametrize("agent", AGENTS)
def test_the_pinned_agent_is_installed_and_is_a_program_for_this_machine(agent: str):
    subject: Subject = SUBJECTS[agent]
    pinned = json.loads((Path(__file__).parents[3] / "ci/agents/package.json").read_text())
    if not (installed.roots()[0] / ".locked").is_file():
        pytest.skip("the pinned agents are not installed; run ci/setup")
    found = subject.identify(SubjectRef(agent), CASE)
    assert isinstance(found, Identity)
    assert found.version == pinned["dependencies"][LAYOUT[agent][0]]
    started = subject.launch(SubjectRef(agent), CASE)
    (mount,) = started.mounts
    program = mount.source / Path(started.argv[0]).relative_to(mount.target)
    with program.open("rb") as file:
        assert file.read(4) == b"\x7fELF"
