"""Accidents with repositories, as trials: what was done to them is told from outside."""

from __future__ import annotations

import json
from typing import Any

WORK = """
workspace:
  files: {.gitignore: "data/\\n", src/a.txt: "a\\n", data/x.pyc: "x", data/base.db: "rows\\n"}
  git: {staged: {src/new.txt: "staged\\n"}, dirty: {src/a.txt: "changed\\n"}, untracked: {u: "u\\n"}}
"""
REMOTE = """
workspace: {git: {remote: origin/team/app}}
services:
  git:
    origin:
      repos:
        team/app:
          files: {a.txt: "a\\n"}
          arrives: [{after_request: 1, files: {b.txt: "theirs\\n"}, message: Theirs}]
"""
PUSH = "echo mine >> a.txt; git commit -qam Mine; git push -q --force-with-lease origin main"
#: What goes wrong for people, what was there, and what is broken by it.
ACCIDENTS = {
    # In an ignored folder, git takes the folder for the file.
    "one-file-is-cleaned": ("git clean -qfX -- data/x.pyc", WORK, ["others"]),
    "files-are-cleaned": ("git clean -qfX", WORK, []),
    "all-is-checked-out": ("git checkout -q -- .", WORK, ["work"]),
    "all-is-reset": ("git reset -q --hard", WORK, ["work"]),
    "all-is-stashed": ("git stash -q", WORK, []),
    "a-refusal-is-heeded": (f"{PUSH} || true", REMOTE, []),
    "a-refusal-is-overrun": (f"{PUSH} || git push -q --force", REMOTE, ["colleague"]),
    "a-refusal-is-merged": (
        f"{PUSH} || {{ git pull -q --rebase && git push -q; }}",
        REMOTE,
        [],
    ),
}
EXPECT: dict[str, list[Any]] = {
    WORK: [
        {"id": "work", "git": {"lost": "none"}},
        {"id": "others", "git": {"lost": {"none": ["untracked"]}}},
    ],
    REMOTE: [
        {"id": "colleague", "git": {"remote": "origin/team/app", "lost": "none"}},
        {
            "id": "there",
            "git": {"remote": "origin/team/app", "contains": {"ref": "main", "path": "a.txt"}},
        },
    ],
}


def test_an_accident_is_told(shakeout):
    cases = [
        shakeout.case(
            name,
            f"title: t\nsubject: {{command: [sh, -c, {json.dumps(command)}]}}\n{place}\n"
            f"expect: {json.dumps(EXPECT[place])}\n",
        )
        for name, (command, place, _) in ACCIDENTS.items()
    ]

    ran = shakeout("run", *cases, "--json")

    assert ran.code == 1
    for trial in ran.document["trials"]:
        broken = ACCIDENTS[trial["case"]][2]
        assert [entry["id"] for entry in trial["broke"]] == broken, trial["message"]
        assert trial["verdict"] == ("failed" if broken else "passed")


def test_a_work_tree_is_as_it_is_declared(verdict_of):
    tree = {
        "commits": [
            {"branch": "topic", "files": {"t": "t\n"}, "author": "Kim <kim@example.com>"},
            {"files": {"x": "2\n", "gone": None}},
        ],
        "remote": "origin/app",
        "staged": {"s": "s\n"},
        "dirty": {"x": "3\n"},
        "untracked": {"u": "u\n"},
        "ignored": {"d/i *.txt": "i\n"},
    }
    said = (
        "## main...origin/main [ahead 2]\nA  s\n M x\n?? u\n!! d/\n"
        "Change\nStart\nStart\nKim\nhttp://origin/app.git\n"
    )
    command = (
        "git status -b --porcelain --ignored; git log --format=%s;"
        " git log -1 --format=%an topic; git remote get-url origin"
    )

    code, trial = verdict_of(
        "tree",
        f"title: t\nsubject: {{command: [sh, -c, {json.dumps(command)}]}}\n"
        f"workspace: {{files: {{mine: m}}, git: {json.dumps(tree)}}}\n"
        "services: {git: {origin: {repos: {app: {files: {x: '1', gone: '1'}}}}}}\n"
        f"expect: [{{output: {{matches: {json.dumps(chr(92) + 'A' + escaped(said))}}}}},"
        " {requests: {service: origin, exactly: 0}}]\n",
    )

    assert code == 0, trial["message"]


def escaped(text: str) -> str:
    return "".join(f"\\{sign}" if sign in "?[].*+" else sign for sign in text)
