"""``git``: what became of a repository, and whether work that was in it can still be found.

It reads ``notes["git"]``: for ``workspace:PATH``, ``home:PATH`` and ``remote:NAME/REPO`` a
picture of ``before`` and one of ``after`` (see :mod:`harness.git.picture`). Of a remote,
``before`` also holds what somebody else pushed meanwhile, and ``log`` what every push did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from harness.case.grammar import REGEX, GrammarError, regex
from harness.case.model import Params
from harness.evidence.model import Evidence
from harness.extension import Schema
from harness.oracles.base import Finding, broken, held, unseen
from harness.oracles.file import locate
from harness.oracles.git_view import CHECKS, Blind, View
from harness.oracles.seen import NOTHING_RAN, some, was_run
from sandboxes.base import Root

NOTE: Final = "git"

_EVIDENCE: Final = "evidence.json"
_COUNTS: Final = ("exactly", "at_least", "at_most")
_KINDS: Final = ("committed", "staged", "dirty", "untracked")
_USUAL: Final = _KINDS[:3]
_REF: Final = "such as `main`, `v1`, `origin/main` or `HEAD`"


class Git:
    """Looks at pictures of a repository, taken from outside by none of its own means."""

    name = NOTE
    summary = "A repository's refs, commits and files are as expected, and no work in it is lost."
    schema: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "repo": {
                "type": "string",
                "minLength": 1,
                "description": "Folder of the repository: in the workspace, or `~/…` in the home.",
                "default": ".",
            },
            "remote": {
                "type": "string",
                "pattern": "^[^/]+/.+$",
                "description": "Instead of `repo`, one of a service: `NAME/REPO`.",
            },
            "refs": {
                "type": "object",
                "minProperties": 1,
                "description": "What became of refs, " + _REF + ".",
                "additionalProperties": {
                    "anyOf": [
                        {
                            "enum": ["unchanged", "moved", "forward", "there", "absent"],
                            "description": "Against the start; `forward`: moved, and no commit "
                            "that it had is gone from it.",
                        },
                        {
                            "type": "object",
                            "properties": {
                                "at": {
                                    "type": "string",
                                    "minLength": 1,
                                    "description": "The commit that it means in the end: a ref, "
                                    "an id or its first seven digits, or `start:REF`.",
                                }
                            },
                            "required": ["at"],
                            "additionalProperties": False,
                        },
                    ]
                },
            },
            "commits": {
                "type": "object",
                "properties": {
                    "branch": {"type": "string", "description": "A ref.", "default": "HEAD"},
                    **{
                        name: {"type": "integer", "minimum": 0, "description": words}
                        for name, words in zip(
                            _COUNTS,
                            ("Just so many.", "So many or more.", "So many or fewer."),
                            strict=True,
                        )
                    },
                },
                "minProperties": 1,
                "anyOf": [{"required": [name]} for name in _COUNTS],
                "additionalProperties": False,
                "description": "How many commits a branch has that were nowhere at the start.",
            },
            "contains": {
                "type": "object",
                "properties": {
                    "ref": {"type": "string", "description": "A ref.", "default": "HEAD"},
                    "path": {"type": "string", "minLength": 1, "description": "A path in it."},
                    "equals": {"type": "string", "description": "Its contents, whole."},
                    "matches": {**REGEX, "description": "A pattern found in its contents."},
                    "absent": {"const": True, "description": "Nothing is there."},
                },
                "required": ["path"],
                "additionalProperties": False,
                "description": "What a commit holds at a path; at least, that it is there.",
            },
            "lost": {
                "anyOf": [
                    {"const": "none"},
                    {
                        "type": "object",
                        "properties": {
                            "none": {
                                "type": "array",
                                "items": {"enum": list(_KINDS)},
                                "minItems": 1,
                                "uniqueItems": True,
                                "description": "Of what; untracked files are those that were in "
                                "the work tree and not in the index, ignored ones too.",
                            }
                        },
                        "required": ["none"],
                        "additionalProperties": False,
                    },
                ],
                "description": "Everything that was committed, staged, or a changed tracked file "
                "before the start can still be found: in an object of the repository, reachable "
                "or not, or in a file of the work tree. Of a remote: from a ref.",
            },
            "clean": {
                "const": True,
                "description": "Nothing is staged, and no tracked file differs from the index.",
            },
        },
        "not": {"required": ["repo", "remote"]},
        "anyOf": [{"required": [name]} for name in CHECKS],
        "additionalProperties": False,
    }

    def parse(self, value: Any) -> Params:
        params = {name: value[name] for name in CHECKS if name in value}
        if "remote" in value:
            params["remote"] = value["remote"]
            if "clean" in value:
                raise GrammarError("has no work tree", value["remote"], "leave out clean")
        else:
            params["repo"] = value.get("repo", ".")
            _place(params["repo"])
        for name, usual in (("commits", "branch"), ("contains", "ref")):
            if name in params:
                params[name] = {usual: "HEAD", **params[name]}
        if "matches" in params.get("contains", {}):
            regex(params["contains"]["matches"])
        if "lost" in params:
            params["lost"] = list(_USUAL if value["lost"] == "none" else value["lost"]["none"])
        return params

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        expected = _in_words(params)
        pictures = evidence.notes.get(NOTE, {}).get(key(params))
        if not was_run(evidence):
            return unseen(expected, NOTHING_RAN, _EVIDENCE)
        if pictures is None:
            return unseen(expected, "the repository was not looked at", _EVIDENCE)
        for when in ("before", "after"):
            if why := pictures[when]["why"]:
                return unseen(expected, f"{when}: {why}", _EVIDENCE)
        before, after = (View(pictures[when]) for when in ("before", "after"))
        wrong, blind = _wrong(params, before, after)
        if wrong:
            return broken(expected, some(wrong), _EVIDENCE)
        if blind:
            return unseen(expected, blind, _EVIDENCE)
        return held(expected, after.in_words(), _EVIDENCE)

    def final(self, params: Params) -> bool:
        refs = params.get("refs", {}).values()
        return (
            all(value in ("unchanged", "absent") for value in refs)
            and params.get("commits", {}).keys() <= {"branch", "at_most"}
            and params.get("contains", {"absent": True}).get("absent", False)
            and "clean" not in params
        )

    def wants(self, params: Params) -> Sequence[tuple[Root, str]]:
        return ()


def _wrong(params: Params, before: View, after: View) -> tuple[list[str], str]:
    """What is wrong, in words, and why something cannot be told; empty where all can be."""
    wrong: list[str] = []
    blind = ""
    for name, check in CHECKS.items():
        try:
            if name in params:
                wrong.extend(check(params[name], before, after))  # keeps what comes before a raise
        except Blind as why:
            blind = blind or str(why)
    return wrong, blind


def key(params: Params) -> str:
    """Under which name a repository's pictures are kept."""
    if "remote" in params:
        return f"remote:{params['remote']}"
    root, path = _place(params["repo"])
    return f"{root}:{path}"


def asks(params: Params) -> Sequence[tuple[str, str]]:
    """The refs and paths of which an expectation wants to see what is there."""
    contains = params.get("contains")
    return () if contains is None else ((contains["ref"], contains["path"]),)


def place(params: Params) -> tuple[Root, str] | None:
    """The folder of a repository; ``None`` of a remote."""
    return None if "remote" in params else _place(params["repo"])


def _place(repo: str) -> tuple[Root, str]:
    return (Root.WORKSPACE, ".") if repo == "." else locate(repo)


def _in_words(params: Params) -> str:
    where = params.get("remote", params.get("repo"))
    checks = {name: params[name] for name in CHECKS if name in params}
    return f"{where}: " + "; ".join(f"{name} {_plain(value)}" for name, value in checks.items())


def _plain(value: Any) -> str:
    match value:
        case Mapping():
            return ", ".join(f"{name} {_plain(inner)}" for name, inner in value.items())
        case list():
            return f"none of {', '.join(value)}"
        case True:
            return ""
        case _:
            return str(value)
