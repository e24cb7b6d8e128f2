"""Which requests an oracle means: by service, kind, method, path and what they carried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from harness.case.grammar import REGEX, regex
from harness.case.model import Params
from harness.evidence.model import Request
from harness.globs import GlobSet, of_requests
from harness.search import search
from harness.target import path_of

MODEL: Final = "model"
ALL: Final = "all"

#: Properties of a schema.
SERVICE: Final[Mapping[str, Any]] = {
    "type": "string",
    "default": MODEL,
    "description": "The service's key, or `model`.",
}
FILTER: Final[Mapping[str, Any]] = {
    "method": {"type": "string", "description": "Only requests of this method."},
    "path": {
        "type": "string",
        "minLength": 1,
        "description": "Only requests whose path, without its query, fits this glob. It begins "
        "with `/`, such as `/bot*/sendMessage`; `*` does not cross `/`, and `**` does.",
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
}


def parse(value: Mapping[str, Any]) -> Params:
    """What a case wrote of these properties, with the service and the kind filled in.

    Raises:
        GrammarError: the path is a glob that fits no request or none, or the tool result no regular expression.
    """
    if "path" in value:
        of_requests(value["path"])
    if "tool_result" in value:
        regex(value["tool_result"])
    service = value.get("service", MODEL)
    kind = value.get("kind", "turn" if service == MODEL else ALL)
    written = {key: value[key] for key in FILTER if key in value}
    return {**written, "service": service, "kind": kind}


def fits(params: Params, request: Request) -> bool:
    """Whether a request is meant; one beyond the script only where the kind says so."""
    if request.service != params["service"]:
        return False
    if request.kind == "beyond" if params["kind"] == ALL else request.kind != params["kind"]:
        return False
    if "tool_result" in params and not _told(params["tool_result"], request):
        return False
    if "method" in params and request.method.upper() != params["method"].upper():
        return False
    return "path" not in params or GlobSet([params["path"]]).matches(path_of(request.path))


def _told(pattern: str, request: Request) -> bool:
    return request.tool_result is not None and search(pattern, request.tool_result) is not None


def in_words(params: Params, *, one: bool = False) -> str:
    """As ``requests of kind turn to model (POST /v1/*)``."""
    kind = "request" if one else "requests"
    kind += "" if params["kind"] == ALL else f" of kind {params['kind']}"
    what = " ".join(params[key] for key in ("method", "path") if key in params)
    if "tool_result" in params:
        what = f"{what} after {params['tool_result']!r}".strip()
    return f"{kind} to {params['service']}{f' ({what})' if what else ''}"
