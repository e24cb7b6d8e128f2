"""How a request finds what answers it, and what an answer can be."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from harness.services.github.shapes import Shapes
from harness.services.github.state import Forge, Issue


class Said(NamedTuple):
    """An answer; ``listed``: one that is given in pages."""

    status: int
    value: Any
    listed: bool = False


class Refused(Exception):
    """What GitHub does not do, with what it says instead."""

    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.said = Said(status, {"message": message, **more})


def missing() -> Refused:
    """Nothing is there, or nothing that this client may see."""
    return Refused(404, "Not Found")


def invalid(resource: str, field: str, code: str, message: str = "") -> Refused:
    """A field that is not as it must be."""
    error = {"resource": resource, "field": field, "code": code}
    if message:
        error["message"] = message
    return Refused(422, "Validation Failed", errors=[error])


@dataclass(frozen=True, slots=True)
class Call:
    """A request to one repository.

    Attributes:
        by: whose token it carries.
        body: the JSON that came with it, an empty object if none did.
        at: the parts of the path that the route leaves open.
    """

    forge: Forge
    shapes: Shapes
    by: str
    query: Mapping[str, str]
    body: Mapping[str, Any]
    at: Mapping[str, str]

    def text(self, resource: str, field: str) -> str:
        """A text of the body that must be there."""
        value = self.body.get(field)
        if not isinstance(value, str) or not value:
            code = "missing_field" if value in (None, "") else "invalid"
            raise invalid(resource, field, code)
        return value

    def issue(self, *, pull: bool = False) -> Issue:
        """The issue or pull request that the path names."""
        found = self.forge.issues.get(int(self.at["number"]))
        if found is None or (pull and not found.is_pull):
            raise missing()
        return found

    def commit(self, ref: str) -> str:
        """The commit that a ref means."""
        found = self.forge.commit(ref)
        if found is None:
            raise Refused(422, f"No commit found for SHA: {ref}")
        return found


Handler = Callable[[Call], Said]
ROUTES: Final[list[tuple[str, re.Pattern[str], Handler]]] = []
_OPEN: Final = {"number": r"\d{1,9}", "path": ".*", "ref": ".+"}


def route(method: str, path: str) -> Callable[[Handler], Handler]:
    """Have ``method`` on a path below the repository's be answered; ``{x}`` is left open."""
    pattern = re.sub(r"{(\w+)}", lambda m: f"(?P<{m[1]}>{_OPEN.get(m[1], '[^/]+')})", path)

    def taken(handler: Handler) -> Handler:
        ROUTES.append((method, re.compile(pattern), handler))
        return handler

    return taken


def find(method: str, path: str) -> tuple[Handler, Mapping[str, str]]:
    """What answers a request, and the open parts of its path.

    Raises:
        Refused: nothing does.
    """
    for verb, pattern, handler in ROUTES:
        match = pattern.fullmatch(path)
        if verb == method and match is not None:
            return handler, match.groupdict()
    raise missing()
