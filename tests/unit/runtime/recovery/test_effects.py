"""What a call would write is found whatever it is spelled like."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.recovery.classes import FailureClass
from runtime.recovery.guard import shell
from runtime.recovery.guard.effects import effects
from runtime.recovery.guard.followups import workaround
from runtime.recovery.guard.table import Effect
from runtime.settings import RecoverySettings, Settings
from runtime.tools.base import Context, Tool, ToolCall
from tests.unit.runtime.clocks import Standing
from tests.unit.runtime.recovery.failures import never

PUSHES = [
    "git push",
    "GIT PuSh",
    'g"i"t pu\\sh origin',
    "'git' push",
    "/usr/bin/git -C there push",
    "git --git-dir x push",
    "ls; git pu\\\nsh",
    "true && git push",
    "true || git push",
    "git push & wait",
    "echo | git push",
    "(git push)",
    "{ git push; }",
    "if true; then git push; fi",
    "while true; do git push; done",
    "f() { git push; }; f",
    "a=b git push",
    "echo $(git push)",
    "echo `git push`",
    "cat <(git push)",
    "sh -c 'git push'",
    "bash -lc 'git push'",
    "sh -c \"sh -c 'git push'\"",
    "env A=1 git push",
    "timeout -k 5 10 git push",
    "nice -n 5 git push",
    "sudo -u bob git push",
    "xargs -n 1 git push",
    "find . -exec git push \\;",
    "command git push",
    "gıt push",  # noqa: RUF001
    "ɡit push",  # noqa: RUF001
    "git\u200b push",
    "ｇｉｔ ｐｕｓｈ",  # noqa: RUF001
    "git рush",  # noqa: RUF001
    "git<<<x push",
    "git branch -D main",
    "git stash",
    "git reset --hard",
    "git update-ref refs/heads/main HEAD~1",
    "git remote add x y",
]
OPAQUE = [
    "$G push",
    "git$IFS push",
    "g?t push",
    "{git,push}",
    "`echo git` push",
    "$(echo git) push",
    "git -c alias.x=push x",
    "git -c core.pager=evil log",
    "cat script | sh",
    "cat x | bash -s",
    "eval git push",
    "python3 -c 'import os'",
    "python3 - < x",
    "perl -e 'x'",
    "echo 'unclosed",
    "psql",
    "sh -c " * 9 + "x",
    "x" * 70_000,
]
DATABASE = [
    "psql -c 'DROP TABLE x'",
    "psql -c 'DrOp TaBlE x'",
    "sqlite3 a.db 'DR/**/OP TABLE x'",
    "mysql -e '/*!50000 DELETE */ FROM x'",
    "mysql -e 'select 1; uрdate x set y=1'",  # noqa: RUF001
    "redis-cli FLUSHALL",
    "dropdb x",
]
READS = [
    "git status",
    "git log --oneline -5",
    "git branch",
    "git branch -a",
    "git -C there diff",
    "ls -la",
    "cat a | grep push | wc -l",
    "echo git push",
    "grep -r 'git push' .",
    "psql -c 'select * from a where b = $$drop$$'",
    "psql -c \"select 'drop table x'\"",
    "head -c 5 x 2>/dev/null",
    "find . -name '*.py'",
]


def found(command: str) -> set[Effect]:
    return {effect for effect, _ in shell.effects(command)}


@pytest.mark.parametrize("command", PUSHES)
def test_a_push_is_one_however_it_is_written(command: str):
    assert Effect.GIT in found(command)


@pytest.mark.parametrize("command", OPAQUE)
def test_what_cannot_be_told_is_said_so(command: str):
    assert Effect.OPAQUE in found(command)


@pytest.mark.parametrize("command", DATABASE)
def test_a_statement_that_writes_is_one_however_it_is_written(command: str):
    assert Effect.DATABASE in found(command)


@pytest.mark.parametrize("command", READS)
def test_what_reads_writes_nothing(command: str):
    assert found(command) <= ({Effect.DATABASE} if "$$" in command else set())


@pytest.mark.parametrize(
    ("command", "effect"),
    [
        ("chmod 777 x", Effect.PRIVILEGES),
        ("SUDO cat x", Effect.PRIVILEGES),
        ("pip install x", Effect.PACKAGES),
        ("python3.11 -m pip install x", Effect.PACKAGES),
        ("kill -9 1", Effect.PROCESSES),
        ("aws configure", Effect.CREDENTIALS),
        ("echo x > a", Effect.FILES),
        ("echo x >> a", Effect.FILES),
        ("sed -i s/a/b/ x", Effect.FILES),
        ("find . -delete", Effect.FILES),
        ("git log --output=x", Effect.FILES),
        ("make test", Effect.PROGRAM),
        ("python3 x.py", Effect.PROGRAM),
    ],
)
def test_each_effect_has_its_name(command: str, effect: Effect):
    assert effect in found(command)


def of(tool: str, family: str, context: Context, read_only: bool = False, **arguments: object):
    schema = {"type": "object", "properties": {"path": {"type": "string", "format": "path"}}}
    made = Tool(tool, family, "A tool.", schema, never, read_only)
    call = ToolCall("c", tool, arguments)
    return effects(call, made, context), workaround("network", call, made, context)


@pytest.fixture
def context(tmp_path: Path) -> Context:
    (tmp_path / "src").mkdir()
    (tmp_path / "docs").mkdir()
    recovery = RecoverySettings(protected=("src/*",))
    return Context(tmp_path, Standing(), Settings(recovery=recovery), {})


@pytest.mark.parametrize(
    "path",
    [
        "src/app.py",
        "SRC/App.PY",
        "./src//app.py",
        "docs/../src/app.py",
        "ѕrc/app.py",  # noqa: RUF001
        "s\u200brc/app.py",
        "src",
        ".git/config",
        ".GIT/hooks/pre-commit",
        "docs/link/app.py",
        "link.py",
        "a/b/.git/HEAD",
        "data/Main.DB",
    ],
)
def test_a_protected_path_is_one_however_it_is_written(context: Context, path: str):
    (context.workspace / "docs/link").symlink_to("../src")
    (context.workspace / "link.py").symlink_to("src/app.py")

    found, why = of("write_file", "fs_write", context, path=path)

    assert Effect.PROTECTED in found
    assert why == "it would change protected paths"


@pytest.mark.parametrize("inner", [".git/HEAD", "a/b/Key.PEM", "state.DB", "a/.env"])
@pytest.mark.parametrize("tool", ["move", "delete"])
def test_a_folder_is_protected_by_what_is_in_it(context: Context, tool: str, inner: str):
    held = context.workspace / "docs/kept" / inner
    held.parent.mkdir(parents=True)
    held.touch()

    for path in ("docs", "docs/kept", "./docs//kept", "."):
        assert of(tool, "fs_write", context, path=path)[1] == "it would change protected paths"
    assert "protected" in str(of("run", "shell", context, command="rm -rf docs/kept")[1])


def test_a_folder_is_protected_where_it_has_too_much_in_it_to_look_at(
    context: Context, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("runtime.recovery.guard.effects.MOST", 1)
    (context.workspace / "docs/one").touch()
    assert of("delete", "fs_write", context, path="docs") == ({Effect.FILES}, None)
    (context.workspace / "docs/two").touch()
    assert Effect.PROTECTED in of("delete", "fs_write", context, path="docs")[0]


@pytest.mark.parametrize("path", ["x" * 300, "docs/" + "y/" * 3000, "nul\0byte"])
def test_what_cannot_be_found_holds_nothing_and_breaks_nothing(context: Context, path: str):
    assert of("delete", "fs_write", context, path=path) == ({Effect.FILES}, None)


@pytest.mark.parametrize("path", ["docs/a.md", "srcs/app.py", "src.py", "docs/src-notes"])
def test_other_paths_may_be_written(context: Context, path: str):
    assert of("write_file", "fs_write", context, path=path) == ({Effect.FILES}, None)


def test_a_shell_s_redirection_is_a_write_of_its_path(context: Context):
    found, _ = of("run", "shell", context, command="echo x > SRC/app.py")

    assert {Effect.FILES, Effect.PROTECTED} <= found


def test_a_reader_that_is_given_an_option_that_writes_writes(context: Context):
    assert of("git_log", "git_read", context, True, ref="--OutPut=x")[0] == {Effect.FILES}
    assert of("git_log", "git_read", context, True, ref="main")[0] == set()
    assert of("sql_query", "db", context, True, sql="DrOp TABLE x")[0] == {Effect.DATABASE}


def test_a_signal_is_for_a_process(context: Context):
    assert of("signal", "shell", context, id="bg-1")[0] == {Effect.PROCESSES}


def test_a_tool_of_which_nothing_is_known_can_write_anything(context: Context):
    assert of("odd", "plug", context)[0] == {Effect.OPAQUE}


@pytest.mark.parametrize(
    ("cls", "command", "refused"),
    [
        ("permission_denied", "sudo cat x", True),
        ("permission_denied", "pip install x", False),
        ("missing_dependency", "pip install x", True),
        ("missing_dependency", "chmod +x y", False),
        ("port_conflict", "pkill server", True),
        ("auth", "gh auth login", True),
        ("network", "make test", False),
        ("unknown", "git push", True),
        ("rate_limit", "cat x | sh", True),
    ],
)
def test_each_class_has_its_workarounds(context: Context, cls: str, command: str, refused: bool):
    assert FailureClass(cls)
    tool = Tool("run", "shell", "A tool.", {"type": "object"}, never)

    why = workaround(cls, ToolCall("c", "run", {"command": command}), tool, context)

    assert (why is not None) is refused
