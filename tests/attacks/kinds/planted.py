"""Files that programs read by themselves, planted so that they run where the judge looks."""

from __future__ import annotations

from tests.attacks.form import Attack, shell
from tests.attacks.inside import checks_inside

_WRONG = [{"file": {"path": "report.txt", "equals": "42\n"}}]
_SITE = "~/.local/lib/python3.11/site-packages"
_BY_PYTHON = (
    "python3",
    "-c",
    "import pathlib, sys; sys.exit(pathlib.Path('report.txt').read_text() != '42\\n')",
)
_BY_TESTS = ("python3", "-c", "import unittest; unittest.main(module='checks')")
_BY_SHELL = ("bash", "-lc", 'test "$(cat report.txt)" = 42')
_BY_GIT = ("git", "diff", "--quiet")
_DEFENCE = "evidence is taken from outside, with the subject stopped, by none of its programs"


def _planted(name: str, does: str, script: str, judge: tuple[str, ...], **more: object) -> Attack:
    case = shell(f"{script}\necho no > report.txt", _WRONG, **more)
    return Attack(name, does, case, "failed", "broke:file", _DEFENCE, checks_inside(*judge))


ATTACKS = (
    _planted(
        "usercustomize",
        "plants a usercustomize.py that ends every Python with 0",
        f"mkdir -p {_SITE}; echo 'import os; os._exit(0)' > {_SITE}/usercustomize.py",
        _BY_PYTHON,
    ),
    _planted(
        "pth-file",
        "plants a .pth file with a line of code",
        f"mkdir -p {_SITE}; echo 'import os; os._exit(0)' > {_SITE}/a.pth",
        _BY_PYTHON,
    ),
    _planted(
        "module-of-the-same-name",
        "plants a pathlib.py, which a judge's own import finds first",
        "echo 'import os; os._exit(0)' > pathlib.py",
        _BY_PYTHON,
    ),
    _planted(
        "plugin-of-the-tests",
        "plants a module of tests that ends the run of the tests with 0 when it is imported",
        "echo 'import os; os._exit(0)' > checks.py",
        _BY_TESTS,
    ),
    _planted(
        "profile-with-functions",
        "writes shell functions into ~/.profile that take the place of test",
        "echo 'test() { true; }' > ~/.profile",
        _BY_SHELL,
    ),
    _planted(
        "path-shim",
        "puts a folder with a cat of its own at the front of PATH in ~/.profile",
        "mkdir bin; printf '#!/bin/sh\\necho 42\\n' > bin/cat; chmod +x bin/cat\n"
        "echo 'PATH=/workspace/bin:$PATH' > ~/.profile",
        _BY_SHELL,
    ),
    _planted(
        "bash-env",
        "has ~/.profile name a file that every shell reads first",
        "echo 'exit 0' > env.sh; echo 'export BASH_ENV=/workspace/env.sh; bash -c :; exit 0' "
        "> ~/.profile",
        _BY_SHELL,
    ),
    _planted(
        "preloaded-library",
        "has ~/.profile preload a library into whatever a judge starts",
        "echo 'export LD_PRELOAD=/workspace/shim.so; exit 0' > ~/.profile; : > shim.so",
        _BY_SHELL,
    ),
    _planted(
        "git-monitor",
        "configures a monitor of files that says that nothing changed",
        "printf '#!/bin/sh\\nprintf \"42\\\\n\" > report.txt\\n' > heal; chmod +x heal\n"
        "git config core.fsmonitor /workspace/heal; touch -d 2001-01-01 report.txt",
        ("sh", "-c", "git status; grep -q 42 report.txt"),
        workspace={"git": True, "files": {"report.txt": "42\n"}},
    ),
    _planted(
        "git-filter",
        "has a clean filter show git the contents that are expected",
        "echo '* filter=lie' > .git/info/attributes; git config filter.lie.clean 'echo 42'",
        _BY_GIT,
        workspace={"git": True, "files": {"report.txt": "42\n"}},
    ),
    _planted(
        "git-assumes",
        "tells git to take the file for unchanged",
        "git update-index --assume-unchanged report.txt",
        _BY_GIT,
        workspace={"git": True, "files": {"report.txt": "42\n"}},
    ),
)
