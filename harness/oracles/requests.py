"""``requests``: how often a service was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from harness.case.grammar import REGEX, regex
from harness.case.model import Params
from harness.evidence.model import Evidence, Request
from harness.extension import Schema
from harness.globs import GlobSet
from harness.oracles.base import Finding, broken, held, unseen
from harness.oracles.seen import NOTHING_RAN, was_run
from harness.search import search
from sandboxes.base import Root

_EVIDENCE = "requests.jsonl"
_COUNT = {"type": "integer", "minimum": 0}
MODEL = "model"
ALL = "all"


class Requests:
    """Counts the requests on record, retries, cut and refused ones among them.

    Requests beyond the model's script count only where ``kind: beyond`` asks for them.
    """

    name = "requests"
    summary = "A service was asked so often."
    schema: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "service": {
                "type": "string",
                "default": MODEL,
                "description": "The service's key, or `model`.",
            },
            "exactly": {**_COUNT, "description": "How often, exactly."},
            "at_least": {**_COUNT, "description": "How often at least."},
            "at_most": {**_COUNT, "description": "How often at most."},
            "method": {"type": "string", "description": "Only requests of this method."},
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "Only requests whose path, without its query, fits this glob.",
            },
            "tool_result": {
                **REGEX,
                "description": "Only requests whose last tool result matches: proof that a call "
                "of the script came to something, done or refused.",
            },
            "kind": {
                "enum": ["turn", "side", "probe", "beyond", ALL],
                "description": "Only requests of this kind; `turn` for the model, else `all`.",
            },
        },
        "anyOf": [
            {"required": ["exactly"]},
            {"required": ["at_least"]},
            {"required": ["at_most"]},
        ],
        "additionalProperties": False,
    }

    def parse(self, value: Any) -> Params:
        service = value.get("service", MODEL)
        if "path" in value:
            GlobSet([value["path"]])
        if "tool_result" in value:
            regex(value["tool_result"])
        kind = value.get("kind", "turn" if service == MODEL else ALL)
        return {**value, "service": service, "kind": kind}

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        counted = [request for request in evidence.requests if _counts(params, request)]
        expected, seen = _in_words(params), f"{len(counted)}{_which(counted)}"
        if "at_most" in params and len(counted) > params["at_most"]:
            return broken(expected, seen, _EVIDENCE)
        if not was_run(evidence):
            return unseen(expected, NOTHING_RAN, _EVIDENCE)
        good = len(counted) == params.get("exactly", len(counted))
        good = good and len(counted) >= params.get("at_least", 0)
        return (held if good else broken)(expected, seen, _EVIDENCE)

    def final(self, params: Params) -> bool:
        return "at_most" in params and not {"exactly", "at_least"} & params.keys()

    def wants(self, params: Params) -> Sequence[tuple[Root, str]]:
        return ()


def _counts(params: Params, request: Request) -> bool:
    if request.service != params["service"]:
        return False
    if request.kind == "beyond" if params["kind"] == ALL else request.kind != params["kind"]:
        return False
    if "tool_result" in params and not _told(params["tool_result"], request):
        return False
    if "method" in params and request.method.upper() != params["method"].upper():
        return False
    return "path" not in params or GlobSet([params["path"]]).matches(request.path.split("?")[0])


def _told(pattern: str, request: Request) -> bool:
    return request.tool_result is not None and search(pattern, request.tool_result) is not None


def _which(counted: Sequence[Request]) -> str:
    if not counted:
        return ""
    ends = sorted({request.ended for request in counted} - {"whole"})
    numbers = f"numbers {counted[0].seq} to {counted[-1].seq}"
    return f" ({numbers}{', some ' + ' and '.join(ends) if ends else ''})"


def _in_words(params: Params) -> str:
    bounds = [
        f"{words} {params[key]}"
        for key, words in (
            ("exactly", "exactly"),
            ("at_least", "at least"),
            ("at_most", "at most"),
        )
        if key in params
    ]
    kind = "requests" if params["kind"] == ALL else f"requests of kind {params['kind']}"
    what = " ".join(params[key] for key in ("method", "path") if key in params)
    if "tool_result" in params:
        what = f"{what} after {params['tool_result']!r}".strip()
    return f"{' and '.join(bounds)} {kind} to {params['service']}{f' ({what})' if what else ''}"
