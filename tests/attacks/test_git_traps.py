"""Repositories that run a program when git looks at them.

Each trap is laid by the subject in a repository of its own. The evidence is taken all the same,
and the wire, which leads out of the sandbox, is not tripped. That each trap works is shown by a
git that looks at it in a sandbox, where the wire stays inside.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

#: What lays the trap, and how a collector might look that knows no better. ``$WIRE`` is a
#: command that leaves a trace; the current folder is a repository with one commit on main.
TRAPS = {
    "fsmonitor": ('git config core.fsmonitor "$WIRE; false"', "git status"),
    "hook": (
        (
            'printf "#!/bin/sh\\n$WIRE\\n" > .git/hooks/post-index-change;'
            " chmod +x .git/hooks/post-index-change; touch -d yesterday README.md"
        ),
        "git status",
    ),
    "filter": (
        (
            'git config filter.x.clean "$WIRE; cat"; echo "* filter=x" > .gitattributes;'
            " touch -d yesterday README.md"
        ),
        "git status",
    ),
    "external-diff": ('git config diff.external "$WIRE; true"; echo >> README.md', "git diff"),
    "textconv": (
        'git config diff.x.textconv "$WIRE; cat"; echo "* diff=x" > .gitattributes',
        "git log --patch",
    ),
    "pager": ('git config core.pager "$WIRE; cat"', "script -qec 'git log' /dev/null"),
    "ssh": (
        'git config core.sshCommand "$WIRE; false"; git remote add origin x@y.invalid:z',
        "git fetch origin",
    ),
    "include": (
        (
            'git config --file ~/include-"$NAME" core.fsmonitor "$WIRE; false";'
            ' git config include.path ~/include-"$NAME"'
        ),
        "git status",
    ),
    "submodule": (
        (
            'printf "[submodule \\"s\\"]\\npath = s\\nurl = .\\n" > .gitmodules; mkdir s;'
            " git -C s init -q; git -C s commit -qm s --allow-empty; git add s 2>/dev/null;"
            ' git config submodule.s.url .; git config submodule.s.update "!$WIRE;:"'
        ),
        "git submodule update --force",
    ),
}
#: Traps that lead the eye elsewhere; what can be told of them is that nothing can be told.
ELSEWHERE = {
    "gitdir": (
        (
            "mv .git ~/real-gitdir; git --git-dir ~/real-gitdir config core.bare false;"
            ' git --git-dir ~/real-gitdir config core.fsmonitor "$WIRE; false";'
            ' echo "gitdir: $HOME/real-gitdir" > .git'
        ),
        "git status",
    ),
    "linked": (
        'git config core.fsmonitor "$WIRE; false"; mv .git/refs ~/refs; ln -s ~/refs .git/refs',
        "git status",
    ),
    "commondir": (
        (
            'git config core.fsmonitor "$WIRE; false"; cp -r .git ~/common; rm -r .git/refs;'
            ' mkdir .git/refs; echo "$HOME/common" > .git/commondir'
        ),
        "git status",
    ),
}
ALL = {**TRAPS, **ELSEWHERE}

SETUP = """
set -u
NAME={name} WIRE='touch {wire}'
git init -q -b main /workspace/{name} && cd /workspace/{name} || exit 9
echo hello > README.md; git add README.md; git commit -qm One
{lay}
"""


def script(wire: str, *, looks: bool) -> str:
    lines = []
    for name, (lay, look) in ALL.items():
        body = SETUP.format(name=name, wire=wire.format(name=name), lay=lay)
        lines.append(f"({body}\n{look if looks else ':'}\n) >/dev/null 2>&1 </dev/null")
    return "\n".join(["exec 2>&1", *lines, "exit 0"])


def case(script_text: str, expect: list[Any]) -> str:
    files = {"lay.sh": script_text}
    return "\n".join(
        [
            "title: t",
            "subject: {command: [sh, lay.sh]}",
            f"workspace: {{files: {json.dumps(files)}}}",
            f"expect: {json.dumps([{'exit': 0}, *expect])}",
        ]
    )


@pytest.fixture
def judged(shakeout):
    """Runs a case; gives each expectation by its id, the first and containment apart."""

    def run(text: str) -> dict[str, Any]:
        path = shakeout.case("git", text)
        ran = shakeout("run", path, "--out", shakeout.folder / "out")
        (verdict,) = shakeout.folder.glob("out/trials/*/verdict.json")
        found = json.loads(verdict.read_text())
        assert found["expect"][0]["verdict"] == "passed", ran.out
        return {entry["id"]: entry for entry in found["expect"][1:-1]}

    return run


@pytest.fixture
def wire(tmp_path: Path) -> Path:
    """A folder of the host that everybody may write to, if only they get there."""
    folder = tmp_path / "wire"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    return folder


def test_nothing_of_a_repository_runs_when_it_is_looked_at(judged, wire):
    asked = {
        "refs": {"main": "there"},
        "contains": {"ref": "main", "path": "README.md", "equals": "hello\n"},
        "commits": {"branch": "main", "exactly": 1},
    }
    expect = [{"id": name, "git": {"repo": name, **asked}} for name in ALL]

    found = judged(case(script(f"{wire}/{{name}}", looks=False), expect))

    verdicts = {name: (entry["verdict"], entry["reason"]) for name, entry in found.items()}
    blind = ("unavailable", "not-observed")
    assert verdicts == {name: ("passed", None) if name in TRAPS else blind for name in ALL}
    assert list(wire.iterdir()) == []


def test_each_trap_catches_a_git_that_looks(judged):
    expect = [{"id": name, "file": {"path": f"tripped-{name}", "equals": ""}} for name in ALL]

    found = judged(case(script("/workspace/tripped-{name}", looks=True), expect))

    assert [name for name, entry in found.items() if entry["verdict"] != "passed"] == []


BORROWED = """
git init -q -b main away; cd away; echo secret > s; git add s; git commit -qm Away
mkdir -p ~/elsewhere; mv .git/objects ~/elsewhere/; mkdir -p .git/objects/info .git/objects/pack
echo "$HOME/elsewhere/objects" > .git/objects/info/alternates
git log --format=%s main
"""


def test_objects_that_lie_elsewhere_are_not_followed(judged):
    commits = {"branch": "main", "at_least": 1}
    expect = [
        {"id": "naive", "output": {"matches": "^Away$"}},
        {"id": "borrowed", "git": {"repo": "away", "commits": commits}},
    ]

    found = judged(case(BORROWED, expect))

    assert [entry["verdict"] for entry in found.values()] == ["passed", "unavailable"]
    assert "borrows" in found["borrowed"]["seen"]
