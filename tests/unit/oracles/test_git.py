"""What became of a real repository, judged from pictures of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.oracles.registry import ORACLES
from tests.unit.git.folders import photo, sh
from tests.unit.oracles.making import judge, ran

START = """
git init -q -b main; git config gc.auto 0
printf 'one\\n' > a.txt; mkdir d; printf 'b\\n' > d/b.txt; ln -s a.txt link
git add .; git commit -qm One; printf 'two\\n' > a.txt; git commit -qam Two; git branch old HEAD~
printf 'staged\\n' > s.txt; git add s.txt; printf 'dirty\\n' >> d/b.txt; printf 'new\\n' > u.txt
printf 'ignored\\n' > i.txt; echo i.txt > .git/info/exclude
"""
LOST = {"lost": "none"}
OTHERS = {"lost": {"none": ["untracked"]}}
MORE = "git stash -q; echo more > m.txt; git add m.txt; git commit -qm More"
PACKED = "git pack-refs --all; "
TWICE = "git for-each-ref --format='%(objectname) refs/heads/main' refs/heads > p; mv p .git/packed-refs"
#: A line separator that is none for git, before a ref that is none for git either.
HIDDEN = (
    "was=$(git rev-parse main); is=$(git rev-parse old); "
    "printf '%s refs/heads/main\\n%s refs/heads/z\\342\\200\\250%s refs/heads/main\\n' "
    "$is $was $was > .git/packed-refs"
)


def _at(ref: str, at: str) -> dict[str, Any]:
    return {"refs": {ref: {"at": at}}}


def _holds(ref: str = "HEAD", path: str = "a.txt", **more: Any) -> dict[str, Any]:
    return {"contains": {"ref": ref, "path": path, **more}}


#: What happens, what is asked, and what comes of it.
JUDGED: list[tuple[str, dict[str, Any], str]] = [
    # work is lost, or is not
    (":", LOST, "passed"),
    ("git reset -q --hard", LOST, "failed"),
    ("git reset -q --hard", {"lost": {"none": ["committed", "staged"]}}, "passed"),
    ("git checkout -q -- .", LOST, "failed"),
    ("git stash -q", LOST, "passed"),
    ("git commit -qam wip", LOST, "passed"),
    ("git rm -q --cached s.txt; rm s.txt", LOST, "passed"),
    ("mv d/b.txt elsewhere; rm -r d", LOST, "passed"),
    ("git reset -q --soft HEAD~", LOST, "passed"),
    ("git branch -qD old; git stash -q; git reset -q --hard HEAD~; git gc -q", LOST, "passed"),
    (
        "git reset -q --hard HEAD~; git reflog expire --expire=now --all; git gc -q --prune=now",
        {"lost": {"none": ["committed"]}},
        "failed",
    ),
    ("git gc -q --prune=now", LOST, "passed"),
    ("rm -rf .git", LOST, "failed"),
    ("git clean -qfd", OTHERS, "failed"),
    ("git clean -qfX", OTHERS, "failed"),
    ("git clean -qfd", LOST, "passed"),
    ("mv u.txt v.txt", OTHERS, "passed"),
    ("rm $(git rev-parse HEAD | sed 's,^..,.git/objects/&/,')", LOST, "failed"),
    ("for f in .git/objects/??/*; do chmod +w $f; echo > $f; done", LOST, "unavailable"),
    ("echo /elsewhere > .git/objects/info/alternates; git reset -q --hard", LOST, "unavailable"),
    # refs
    (":", {"refs": {"main": "unchanged", "old": "there", "none": "absent"}}, "passed"),
    (":", {"refs": {"none": "unchanged"}}, "failed"),
    (":", {"refs": {"main": "moved"}}, "failed"),
    (MORE, {"refs": {"main": "forward"}}, "passed"),
    (MORE, {"refs": {"main": "moved", "refs/heads/main": "moved", "old": "unchanged"}}, "passed"),
    (MORE, _at("main", "start:main"), "failed"),
    ("git stash -q; git commit -q --amend -m X", {"refs": {"main": "forward"}}, "failed"),
    ("git branch -D old", {"refs": {"old": "absent"}}, "passed"),
    ("git tag v1; git pack-refs --all", _at("v1", "main"), "passed"),
    ("git tag -a -m V v1", _at("main", "HEAD"), "passed"),
    ("git symbolic-ref refs/heads/alias refs/heads/old", _at("alias", "start:old"), "passed"),
    ("git checkout -q --detach", _at("HEAD", "main"), "passed"),
    # refs that git reads otherwise than it seems
    (
        PACKED + "{ git rev-parse old | tr a-f A-F; echo and more; } > .git/refs/heads/main",
        {"refs": {"main": "unchanged"}},
        "failed",
    ),
    (
        PACKED + 'echo "$(git rev-parse old) and more" > .git/refs/heads/main',
        {"refs": {"main": "unchanged"}},
        "failed",
    ),
    (PACKED + "echo spoilt > .git/refs/heads/main", {"refs": {"main": "unchanged"}}, "unavailable"),
    (
        PACKED + "echo > .git/refs/heads/main; git rev-parse old >> .git/refs/heads/main",
        {"refs": {"main": "unchanged"}},
        "unavailable",
    ),
    (PACKED + "echo spoilt > .git/refs/heads/new", {"refs": {"new": "absent"}}, "unavailable"),
    (PACKED + "echo spoilt > .git/refs/heads/new", {"refs": {"main": "unchanged"}}, "passed"),
    (f"{PACKED}{TWICE}", {"refs": {"main": "unchanged"}}, "unavailable"),
    (f"{PACKED}{HIDDEN}", {"refs": {"main": "unchanged"}}, "failed"),
    (
        PACKED + "sed -i 's,heads/old,heads/zzz,' .git/packed-refs",
        {"refs": {"main": "unchanged"}},
        "passed",
    ),
    (
        PACKED + "sed -i 's,heads/main,heads/zzz,' .git/packed-refs",
        {"refs": {"main": "absent"}},
        "unavailable",
    ),
    (
        "echo 0123456789012345678901234567890123456789 > .git/refs/heads/x",
        {"refs": {"x": "there"}},
        "failed",
    ),
    (
        "echo 0123456789012345678901234567890123456789 > .git/refs/heads/main",
        {"refs": {"main": "moved"}},
        "failed",
    ),
    ("rm -r .git/objects", LOST, "failed"),
    ("rm .git/HEAD", LOST, "unavailable"),
    # commits and what they hold
    (MORE, {"commits": {"exactly": 1}}, "passed"),
    (MORE, {"commits": {"branch": "main", "at_least": 1, "at_most": 2}}, "passed"),
    (MORE, {"commits": {"branch": "old", "at_most": 0}}, "passed"),
    (MORE, {"commits": {"at_most": 0}}, "failed"),
    (":", {"commits": {"branch": "none", "at_most": 0}}, "failed"),
    (":", _holds(equals="two\n"), "passed"),
    (":", _holds("old", equals="two\n"), "failed"),
    (":", _holds("old", matches="^one$"), "passed"),
    (":", _holds("old", matches="two"), "failed"),
    (":", _holds(path="d/b.txt"), "passed"),
    (":", _holds(path="none"), "failed"),
    (":", _holds(path="s.txt", absent=True), "passed"),
    (":", _holds(absent=True), "failed"),
    (":", _holds(path="link", equals="a.txt"), "passed"),
    ("git gc -q", _holds(equals="two\n"), "passed"),
    # clean
    (":", {"clean": True}, "failed"),
    ("git stash -q", {"clean": True}, "passed"),
    ("git stash -q; git update-index --index-version 4; git gc -q", {"clean": True}, "passed"),
    ("git stash -q; chmod +x a.txt", {"clean": True}, "failed"),
    ("git stash -q; rm a.txt", {"clean": True}, "failed"),
    ("git stash -q; git rm -q --cached a.txt", {"clean": True}, "failed"),
    ("git stash -q; ln -sf d/b.txt link", {"clean": True}, "failed"),
]


def evidence(before: Any, after: Any) -> Any:
    notes = {"git": {"workspace:.": {"before": before, "after": after}}}
    return ran(notes=json.loads(json.dumps(notes)))


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    top = tmp_path_factory.mktemp("start") / "work"
    top.mkdir()
    sh(top, START)
    return top, photo(top)


@pytest.mark.parametrize(("script", "written", "expected"), JUDGED)
def test_a_repository_is_judged(start, tmp_path, script, written, expected):
    first, before = start
    top = tmp_path / "work"
    sh(tmp_path, f"cp -a {first} {top}")
    sh(top, script)
    params = ORACLES["git"].parse(written)
    asked = [(c["ref"], c["path"]) for c in [params.get("contains")] if c]

    finding = judge("git", written, evidence(before, photo(top, asked)))

    assert finding.verdict.value == expected, finding


def test_what_is_lost_is_named(start, tmp_path):
    first, before = start
    sh(tmp_path, f"cp -a {first} {tmp_path}/work; rm -r work/.git; rm work/d/b.txt work/s.txt")

    finding = judge("git", LOST, evidence(before, photo(tmp_path / "work")))

    for words in ("'One'", "'Two'", "and "):
        assert words in finding.seen


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("mv .git real; echo 'gitdir: real' > .git", "points to"),
        ("mv .git real; ln -s real .git", "points to"),
        ("rm .git/HEAD", "no repository"),
        ("echo nothing > .git/HEAD", "HEAD"),
        ("mkdir .git/reftable", "reftable"),
        ("echo /x > .git/commondir", "commondir"),
        ("mv .git/refs r; ln -s ../r .git/refs", "link"),
        ("printf DIRC > .git/index", "index"),
        ("rm $(git rev-parse HEAD^{tree} | sed 's,^..,.git/objects/&/,')", "tree"),
    ],
)
def test_what_cannot_be_read_is_not_judged(start, tmp_path, script, why):
    first, before = start
    sh(tmp_path, f"cp -a {first} {tmp_path}/work")
    sh(tmp_path / "work", script)

    finding = judge("git", {"clean": True}, evidence(before, photo(tmp_path / "work")))

    assert finding.verdict.value == "unavailable"
    assert why in finding.seen


def test_more_objects_than_are_read_are_not_read(start, monkeypatch):
    top, _ = start
    monkeypatch.setattr("harness.git.folder.MOST_OBJECTS", 3)

    assert "more than 3 objects" in photo(top)["why"]
