"""Pictures of small repositories, before and after, for properties of the oracle ``git``."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from harness.git.names import ancestry

COMMITS = [digit * 40 for digit in "1234"]
BLOBS = {name * 40: hashlib.sha256(name.encode()).hexdigest() for name in "abc"}
PATHS = ["p", "q"]
REFS = ["refs/heads/main", "refs/tags/v"]
FILE = "100644"


def _sha(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def histories() -> st.SearchStrategy[Mapping[str, Any]]:
    """Commits, each with some of those before it as its parents."""
    parents = [
        st.lists(st.sampled_from(COMMITS[: at + 1]), unique=True, max_size=2)
        for at in range(len(COMMITS) - 1)
    ]
    return st.tuples(*parents).map(
        lambda found: {
            name: {"parents": of, "subject": f"Commit {name[0]}", "author": "Kim"}
            for name, of in zip(COMMITS, ([], *found), strict=True)
        }
    )


@st.composite
def pictures(draw: st.DrawFn, history: Mapping[str, Any]) -> Mapping[str, Any]:
    """One that fits itself: what refs lead to is there, and more may be."""
    if (rare := draw(st.integers(0, 19))) > 17:
        return {"why": "a link"} if rare == 18 else {"why": None, "there": False}
    refs = draw(st.dictionaries(st.sampled_from(REFS), st.sampled_from(COMMITS)))
    led = {c for tip in refs.values() for c in ancestry(lambda n: history[n]["parents"], tip)}
    blobs = st.sampled_from(sorted(BLOBS))
    tree = draw(st.dictionaries(st.sampled_from(PATHS), blobs))
    index = draw(st.dictionaries(st.sampled_from(PATHS), blobs))
    files = draw(st.dictionaries(st.sampled_from([*PATHS, "u"]), blobs))
    stray = draw(st.lists(blobs, max_size=2))
    return {
        "why": None,
        "there": True,
        "head": "refs/heads/main",
        "refs": refs,
        "index": [[path, FILE, blob, 0] for path, blob in index.items()],
        "tree": {path: [FILE, blob] for path, blob in tree.items()},
        "files": {path: [FILE, BLOBS[blob]] for path, blob in files.items()},
        "objects": {
            **{name: f"commit 9 {_sha(name)}" for name in sorted(led)},
            **{b: f"blob 1 {BLOBS[b]}" for b in [*tree.values(), *index.values(), *stray]},
        },
        "commits": {name: history[name] for name in sorted(led)},
        "held": sorted(led | set(tree.values())),
        "asked": [
            {"ref": "HEAD", "path": "p", **_held(tree.get("p"))},
            {"ref": "HEAD", "path": "gone", **_held(None)},
        ],
        "spoilt": draw(st.sampled_from([[], [], [], ["refs/heads/bad"]])),
        "borrows": draw(st.sampled_from([False, False, False, True])),
        "remote": False,
    }


def _held(blob: str | None) -> Mapping[str, Any]:
    if blob is None:
        return {"state": None, "text": None}
    return {"state": ["file", "0644", 1, BLOBS[blob]], "text": blob[0]}


@st.composite
def pairs(draw: st.DrawFn) -> Mapping[str, Any]:
    """Before and after, which half of the time are the same."""
    history = draw(histories())
    before = draw(pictures(history))
    after = before if draw(st.booleans()) else draw(pictures(history))
    return {"workspace:.": {"before": before, "after": after}}


PICTURES = pairs()

_REF = st.sampled_from(["main", "v", "HEAD", "other", "bad"])
_KINDS = ["committed", "staged", "dirty", "untracked"]
CHECKS: Mapping[str, st.SearchStrategy[Any]] = {
    "refs": st.dictionaries(
        _REF,
        st.sampled_from(["unchanged", "moved", "forward", "there", "absent", {"at": "start:main"}]),
        min_size=1,
    ),
    "commits": st.dictionaries(
        st.sampled_from(["exactly", "at_least", "at_most"]), st.integers(0, 3), min_size=1
    ),
    "contains": st.sampled_from(
        [{"path": "p"}, {"path": "p", "equals": "a"}, {"path": "p", "matches": "b"}]
        + [{"path": path, "absent": True} for path in ("p", "gone")]
    ),
    "lost": st.just("none")
    | st.lists(st.sampled_from(_KINDS), min_size=1, unique=True).map(lambda found: {"none": found}),
    "clean": st.just(True),
}


def _some(found: Mapping[str, Any]) -> bool:
    return bool(found)


#: What a case may write.
GIT = st.fixed_dictionaries({}, optional=dict(CHECKS)).filter(_some)


def without(picture: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any]:
    """The picture with these objects gone."""
    left = {name: told for name, told in picture["objects"].items() if name not in names}
    return {**picture, "objects": left}
