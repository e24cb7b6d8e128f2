"""``files``: which paths of a root may change, and which may not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from harness.case.model import Params
from harness.evidence.model import Evidence, FileChange
from harness.extension import Schema
from harness.globs import GlobSet
from harness.oracles.base import Finding, broken, held, unseen
from harness.oracles.seen import changes_in_words, some
from sandboxes.base import Root

_EVIDENCE = "files.json"
_GIT = ".git/**"
_GLOBS = {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1}


class Files:
    """Compares what a root was with what it is; paths that are equal again are no change.

    The inner workings of a Git repository (``.git/**``) are left out unless a glob names
    them, since every git command touches them.
    """

    name = "files"
    summary = "Only the named paths of a root changed, or the named ones did not."
    schema: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "root": {
                "enum": [str(root) for root in Root],
                "default": "workspace",
                "description": "The tree: workspace, home, or system (absolute paths).",
            },
            "changed_only": {
                **_GLOBS,
                "description": "Globs of all that may be added, changed or removed.",
            },
            "unchanged": {
                **_GLOBS,
                "description": "Globs of what may not be added, changed or removed.",
            },
        },
        "anyOf": [{"required": ["changed_only"]}, {"required": ["unchanged"]}],
        "additionalProperties": False,
    }

    def parse(self, value: Any) -> Params:
        params = {
            "root": value.get("root", "workspace"),
            "changed_only": _listed(value.get("changed_only")),
            "unchanged": _listed(value.get("unchanged")),
        }
        for globs in (params["changed_only"], params["unchanged"]):
            GlobSet(globs or ())
        return params

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        root = Root(params["root"])
        expected = _in_words(params)
        wrong = _wrong(params, [change for change in evidence.changes if change.root is root])
        if wrong:
            return broken(expected, changes_in_words(wrong), _EVIDENCE)
        if root not in evidence.listed:
            return unseen(expected, f"the {root} was not listed", _EVIDENCE)
        return held(expected, "no other change", _EVIDENCE)

    def final(self, params: Params) -> bool:
        return True

    def wants(self, params: Params) -> Sequence[tuple[Root, str]]:
        return ()


def _listed(globs: Sequence[str] | None) -> list[str] | None:
    return None if globs is None else list(globs)


def _wrong(params: Params, changes: Sequence[FileChange]) -> list[FileChange]:
    only, never = params["changed_only"], params["unchanged"]
    if not any(text.lstrip("/").startswith(".git") for text in (*(only or ()), *(never or ()))):
        git = GlobSet([_GIT])
        changes = [change for change in changes if not git.matches(change.path)]
    outside = [] if only is None else GlobSet(only).beyond(changes)
    spared = GlobSet(never or ())
    return [change for change in changes if change in outside or spared.matches(change.path)]


def _in_words(params: Params) -> str:
    parts = []
    if params["changed_only"] is not None:
        parts.append(f"only {some(params['changed_only'])} changed")
    if params["unchanged"] is not None:
        parts.append(f"{some(params['unchanged'])} unchanged")
    return f"in the {params['root']}: {' and '.join(parts)}"
