"""``file``: what one path is in the end."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from harness.case.grammar import GrammarError, wanted
from harness.case.model import Params
from harness.evidence.model import Evidence, PathState
from harness.extension import Schema
from harness.oracles.base import Finding, broken, held, unseen
from harness.search import search
from sandboxes.base import AGENT_HOME, WORKSPACE, Root

_EVIDENCE = "files.json"
_SHOWN = 80
_ALLOWED = "allowed"
_CHECKS = ("equals", "matches", "sha256", "mode", "absent")


class File:
    """Looks at the path itself: a link is a link, and is never followed."""

    name = "file"
    summary = "One file has the given contents or mode in the end, or is absent."
    schema: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "Relative to the workspace, `~/…` in the home, or absolute.",
            },
            "equals": {"type": "string", "description": "Its contents, whole, as UTF-8 text."},
            "matches": {
                "type": "string",
                "format": "regex",
                "description": "A regular expression found in its contents.",
            },
            "sha256": {
                "type": "string",
                "pattern": "^[0-9a-f]{64}$",
                "description": "The digest of its contents.",
            },
            "mode": {
                "type": "string",
                "pattern": "^0[0-7]{3,4}$",
                "description": 'Its permissions, such as "0644".',
            },
            "absent": {
                "enum": [True, False, _ALLOWED],
                "description": "Whether nothing is there at all; `allowed`: that is as good as "
                "what else is asked.",
            },
        },
        "required": ["path"],
        "minProperties": 2,
        "if": {"properties": {"absent": {"const": True}}, "required": ["absent"]},
        "then": {"maxProperties": 2},
        "else": {
            "if": {"properties": {"absent": {"const": _ALLOWED}}, "required": ["absent"]},
            "then": {"minProperties": 3},
        },
        "additionalProperties": False,
    }

    def parse(self, value: Any) -> Params:
        locate(value["path"])
        if "matches" in value:
            wanted(value["matches"])
        return {"path": value["path"], **{key: value[key] for key in _CHECKS if key in value}}

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        key = locate(params["path"])
        expected = _in_words(params)
        if key not in evidence.paths:
            return unseen(expected, "it was not looked at", _EVIDENCE)
        state = evidence.paths[key]
        if state is None:
            return (held if params.get("absent") else broken)(expected, "it is absent", _EVIDENCE)
        if params.get("absent") is True:
            return broken(expected, f"a {state.type} of {state.size} bytes", _EVIDENCE)
        return _compare(params, state, evidence.contents.get(key), expected)

    def final(self, params: Params) -> bool:
        return params.get("absent") is True

    def wants(self, params: Params) -> Sequence[tuple[Root, str]]:
        return (locate(params["path"]),)


def locate(written: str) -> tuple[Root, str]:
    """The root and the path in it that a case means.

    Raises:
        GrammarError: it names no path inside, or is not in its shortest form.
    """
    hint = "write it relative to the workspace, as ~/… for the home, or absolute"
    for prefix, root in (("~/", Root.HOME), (f"{AGENT_HOME}/", Root.HOME)):
        if written.startswith(prefix):
            return root, _plain(written, written.removeprefix(prefix), hint)
    if written.startswith(f"{WORKSPACE}/"):
        return Root.WORKSPACE, _plain(written, written.removeprefix(f"{WORKSPACE}/"), hint)
    if written.startswith("/"):
        return Root.SYSTEM, "/" + _plain(written, written[1:], hint)
    return Root.WORKSPACE, _plain(written, written, hint)


def _plain(written: str, path: str, hint: str) -> str:
    plain = posixpath.normpath(path)
    if path.startswith("/") or plain in {"", ".", ".."} or plain.startswith("../"):
        raise GrammarError("names no path inside", written, hint)
    if plain != path.removesuffix("/"):
        raise GrammarError("is not in its shortest form", written, f"write {plain}")
    return plain


def _compare(params: Params, state: PathState, data: bytes | None, expected: str) -> Finding:
    needs_content = {"equals", "matches", "sha256"} & params.keys()
    if needs_content and state.type != "file":
        return broken(expected, f"a {state.type}", _EVIDENCE)
    if "mode" in params and int(state.mode, 8) != int(params["mode"], 8):
        return broken(expected, f"mode {state.mode}", _EVIDENCE)
    wanted = _wanted_digest(params)
    if wanted and state.sha256 is not None and {state.sha256} != wanted:
        return broken(expected, _content_in_words(state, data), _EVIDENCE)
    if wanted and state.sha256 is None:
        return unseen(expected, "its contents were not read", _EVIDENCE)
    if "matches" in params:
        return _search(params["matches"], state, data, expected)
    return held(expected, _content_in_words(state, data), _EVIDENCE)


def _wanted_digest(params: Params) -> set[str]:
    wanted = {params["sha256"]} if "sha256" in params else set()
    if "equals" in params:
        wanted.add(hashlib.sha256(params["equals"].encode()).hexdigest())
    return wanted


def _search(pattern: str, state: PathState, data: bytes | None, expected: str) -> Finding:
    if data is None:
        return unseen(expected, "its contents were not read", _EVIDENCE)
    if search(pattern, data.decode("utf-8", "replace")) is not None:
        return held(expected, _content_in_words(state, data), _EVIDENCE)
    return broken(expected, _content_in_words(state, data), _EVIDENCE)


def _content_in_words(state: PathState, data: bytes | None) -> str:
    if data is None:
        return f"a {state.type} of {state.size} bytes, mode {state.mode}"
    text = data[:_SHOWN].decode("utf-8", "replace")
    return f"{state.size} bytes: {text!r}{'…' if len(data) > _SHOWN else ''}"


def _in_words(params: Mapping[str, Any]) -> str:
    if params.get("absent") is True:
        return f"{params['path']} absent"
    checks = [f"{key} {params[key]!r}" for key in _CHECKS[:-1] if key in params]
    words = f"{params['path']} " + (" and ".join(checks) if checks else "there")
    return f"{words}, or absent" if params.get("absent") else words
