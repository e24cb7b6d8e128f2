"""``files``: which paths of a root may change, and which may not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from harness.case.grammar import GrammarError
from harness.case.model import Params
from harness.evidence.model import Evidence, FileChange
from harness.extension import Schema
from harness.globs import GlobSet, within
from harness.oracles.base import Finding, broken, held, unseen
from harness.oracles.seen import changes_in_words, some
from sandboxes.base import Root

_EVIDENCE = "files.json"
_GIT = ".git/**"
_HOW = ["added", "changed", "removed"]
#: Paths that have nothing in common but that they are paths.
_ANY = ("a", ".b", "c/.d", ".e/f.g/h")
_GLOBS = {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1}


class Files:
    """Compares what a root was with what it is; paths that are equal again are no change.

    The inner workings of a Git repository (``.git/**``) are left out unless a glob names
    them, since every git command touches them. What an agent adds or alters among the paths
    that its adapter calls its own is within every ``changed_only``, so that one bound on a
    home fits every agent; what was removed there is not.
    """

    name = "files"
    summary = "Only the named paths of a root changed, or the named ones did not."
    schema: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "root": {
                "enum": [str(root) for root in Root],
                "default": "workspace",
                "description": "The tree that globs are relative to: workspace, home, or system "
                "(absolute paths, and none in the other two). In a glob `*` does not cross `/`, "
                "and `**` does.",
            },
            "changed_only": {
                **_GLOBS,
                "description": "Globs of all that may be added, changed or removed; in the home, "
                "the agent's own paths may be added and changed as well.",
            },
            "how": {
                "type": "array",
                "items": {"enum": _HOW},
                "minItems": 1,
                "uniqueItems": True,
                "default": _HOW,
                "description": "What may happen to what `changed_only` names; another type, mode "
                "or owner is a change as well.",
            },
            "unchanged": {
                **_GLOBS,
                "description": "Globs of what may not be added, changed or removed.",
            },
        },
        "anyOf": [{"required": ["changed_only"]}, {"required": ["unchanged"]}],
        "dependentRequired": {"how": ["changed_only"]},
        "additionalProperties": False,
    }

    def parse(self, value: Any) -> Params:
        params = {
            "root": value.get("root", "workspace"),
            "changed_only": _listed(value.get("changed_only")),
            "how": list(value.get("how", _HOW)),
            "unchanged": _listed(value.get("unchanged")),
        }
        for globs in (params["changed_only"], params["unchanged"]):
            within(Root(params["root"]), globs or ())
        _can_break(params)
        return params

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        root = Root(params["root"])
        expected = _in_words(params)
        changes = [change for change in evidence.changes if change.root is root]
        wrong = _wrong(params, changes, GlobSet(evidence.own if root is Root.HOME else ()))
        if wrong:
            return broken(expected, changes_in_words(wrong), _EVIDENCE)
        if root not in evidence.listed:
            return unseen(expected, f"the {root} was not listed", _EVIDENCE)
        return held(expected, "no other change", _EVIDENCE)

    def final(self, params: Params) -> bool:
        return True

    def wants(self, params: Params) -> Sequence[tuple[Root, str]]:
        return ()


def _can_break(params: Params) -> None:
    """Refuse what every change is within.

    Raises:
        GrammarError: it names all paths, in all ways, and nothing that may not change.
    """
    only = params["changed_only"]
    if only is None or params["unchanged"] is not None or set(params["how"]) != set(_HOW):
        return
    named = GlobSet(only)
    if all(named.matches(path) for path in _ANY):
        hint = "name less, say how in `how`, or name what stays in `unchanged`"
        raise GrammarError("names every path, so nothing could break it", only[0], hint)


def _listed(globs: Sequence[str] | None) -> list[str] | None:
    return None if globs is None else list(globs)


def _wrong(params: Params, changes: Sequence[FileChange], own: GlobSet) -> list[FileChange]:
    only, never = params["changed_only"], params["unchanged"]
    if not any(map(_names_git, (*(only or ()), *(never or ())))):
        git = GlobSet([_GIT])
        changes = [change for change in changes if not git.matches(change.path)]
    outside = [] if only is None else _outside(GlobSet(only), params["how"], changes, own)
    spared = GlobSet(never or ())
    return [change for change in changes if change in outside or spared.matches(change.path)]


def _names_git(text: str) -> bool:
    """Whether a glob begins with the folder, as written or as ``.git*``; ``.gitignore`` does not."""
    top = text.lstrip("/").split("/")[0]
    return top.startswith(".git") and GlobSet([top]).matches(".git")


def _outside(
    only: GlobSet, how: Sequence[str], changes: Sequence[FileChange], own: GlobSet
) -> list[FileChange]:
    """What ``only`` does not name, or what did not happen to it in one of the ways of ``how``."""
    foreign = own.beyond([change for change in changes if _way(change) != "removed"])
    counted = [change for change in changes if _way(change) == "removed" or change in foreign]
    beyond = only.beyond(counted)
    return [change for change in counted if change in beyond or _way(change) not in how]


def _way(change: FileChange) -> str:
    return change.change if change.change in _HOW else "changed"


def _in_words(params: Params) -> str:
    parts = []
    if params["changed_only"] is not None:
        ways = "changed" if params["how"] == _HOW else " or ".join(params["how"])
        parts.append(f"only {some(params['changed_only'])} {ways}")
    if params["unchanged"] is not None:
        parts.append(f"{some(params['unchanged'])} unchanged")
    return f"in the {params['root']}: {' and '.join(parts)}"
