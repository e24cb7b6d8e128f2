"""The service ``github``: who may ask, how often, in which pages; the rest is in the routes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlencode

from harness.case.model import ServiceDecl
from harness.git.objects import Unreadable
from harness.services.base import Answer, Asked, Hit, Incoming
from harness.services.bounds import read_json
from harness.services.git.remote import credentials, is_git, serve_git, urlsplit_or_nothing
from harness.services.git.repository import Repository
from harness.services.github import code as code
from harness.services.github import talk as talk
from harness.services.github.declared import GithubDecl
from harness.services.github.routes import Call, Refused, Said, find, missing
from harness.services.github.shapes import Shapes
from harness.services.github.state import Forge
from harness.services.hits import rewritten
from harness.services.reply import Part, Wire
from sandboxes import clock

_DOCS: Final = "https://docs.github.com/rest"
_HOUR: Final = 3600
_LIMIT: Final = 5000
_MOST: Final = 100
_USUAL: Final = 30
_PREFIX: Final = "/api/v3"


class Github:
    """A scripted GitHub; see the package."""

    def __init__(self, decl: ServiceDecl) -> None:
        declared: GithubDecl = decl.params
        self._name = decl.name
        self._decl = declared
        self._forges = {repo.git.name: Forge.of(repo) for repo in declared.repos}
        self._requests = 0
        self._answered = 0
        self._reset = int(clock.wall()) + _HOUR

    @property
    def name(self) -> str:
        return self._name

    def hosted(self) -> Mapping[str, Repository]:
        """Copies of the repositories, as they are now."""
        return {name: forge.git.copy() for name, forge in self._forges.items()}

    def kept(self) -> Mapping[str, Any]:
        """What became of each repository, its issues and its pull requests."""
        return {name: forge.account() for name, forge in self._forges.items()}

    def classify(self, incoming: Incoming) -> Asked:  # noqa: ARG002 - the contract's
        return Asked(kind="turn", counts=True)

    def answer(self, incoming: Incoming, asked: Asked, hits: Sequence[Hit]) -> Answer:
        before = {name: forge.copy() for name, forge in self._forges.items()} if hits else {}
        made = rewritten(self._wire(incoming), hits)
        if not made.done:
            self._forges = before
        self._answered += 1
        for forge in self._forges.values():
            forge.git.answered(self._answered)
        return Answer(made.wire, asked.kind, serves=made.serves, missed=made.missed)

    def ended(self, answer: Answer, how: str) -> None:
        """Nothing depends on it: what was asked for was done when it was answered."""

    def _wire(self, incoming: Incoming) -> Wire:
        target = urlsplit_or_nothing(incoming.path)
        path = unquote(target[0]) if target else "/"
        if is_git(path):
            repos = {name: forge.git for name, forge in self._forges.items()}
            return serve_git(incoming, repos, self._decl.token)
        is_free = path.removeprefix(_PREFIX) == "/rate_limit"
        self._requests += not is_free
        try:
            self._admit(incoming, is_free=is_free)
            said = self._said(incoming, path, dict(parse_qsl(target[1])) if target else {})
        except Refused as refused:
            said = refused.said
        except Unreadable as error:
            said = Said(422, {"message": str(error)})
        return self._sent(incoming, said)

    def _admit(self, incoming: Incoming, *, is_free: bool) -> None:
        """Let a request in.

        Raises:
            Refused: it has no token, a wrong one, or there were too many.
        """
        token, given = self._decl.token, credentials(incoming.headers)
        if token is not None and token not in given:
            raise Refused(401, "Bad credentials" if given else "Requires authentication")
        if self._is_slowed():
            raise Refused(403, "You have exceeded a secondary rate limit. Please wait a few "
                          "minutes before you try again.")  # fmt: skip
        if not is_free and self._requests > self._decl.remaining:
            raise Refused(403, f"API rate limit exceeded for user {self._decl.login}.")

    def _is_slowed(self) -> bool:
        if self._decl.secondary is None:
            return False
        first, times, _ = self._decl.secondary
        return first <= self._requests < first + times

    def _said(self, incoming: Incoming, path: str, query: Mapping[str, str]) -> Said:
        root = f"http://{incoming.headers.get('host', self._name)}"
        if path.startswith(_PREFIX):
            root, path = root + _PREFIX, path.removeprefix(_PREFIX)
        parts = path.strip("/").split("/")
        any_forge = next(iter(self._forges.values()))
        if parts == ["user"]:
            return Said(200, Shapes(root, any_forge).user(self._decl.login))
        if parts == ["rate_limit"]:
            return Said(200, {"resources": {"core": self._rate()}, "rate": self._rate()})
        if parts == ["user", "repos"]:
            repos = [Shapes(root, forge).repo() for forge in self._forges.values()]
            return _page(Said(200, repos), query, f"{root}{path}")
        forge = self._forges.get("/".join(parts[1:3]))
        if parts[0] != "repos" or forge is None:
            raise missing()
        rest = "".join(f"/{part}" for part in parts[3:])
        handler, at = find(incoming.method, rest)
        shapes = Shapes(root, forge)
        said = handler(Call(forge, shapes, self._decl.login, query, _object(incoming), at))
        return _page(said, query, f"{root}{path}") if said.listed else said

    # -- what goes out

    def _rate(self) -> Mapping[str, int]:
        left = max(0, self._decl.remaining - self._requests)
        return {"limit": _LIMIT, "remaining": left, "reset": self._reset, "used": _LIMIT - left}

    def _sent(self, incoming: Incoming, said: Said) -> Wire:
        page = said.value if isinstance(said.value, _Page) else _Page(said.value, "")
        value, links = page.items, page.links
        if said.status >= 400:
            value = {**value, "documentation_url": _DOCS, "status": str(said.status)}
        rate = {f"x-ratelimit-{key}": str(number) for key, number in self._rate().items()}
        headers = {
            "content-type": "application/json; charset=utf-8",
            "x-github-media-type": "github.v3; format=json",
            "x-github-request-id": f"{self._requests:04X}:1",
            "x-ratelimit-resource": "core",
            **rate,
        }
        if links:
            headers["link"] = links
        if said.status == 403 and self._is_slowed() and self._decl.secondary:
            headers["retry-after"] = str(self._decl.secondary[2])
        if value is None or incoming.method == "HEAD":
            return Wire(said.status, headers)
        body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        return Wire(said.status, headers, (Part(body),))


class _Page:
    def __init__(self, items: Any, links: str) -> None:
        self.items = items
        self.links = links


def _page(said: Said, query: Mapping[str, str], url: str) -> Said:
    """One page of a list, and where the others are."""
    size = max(1, min(_number(query, "per_page", _USUAL), _MOST))
    page = max(1, _number(query, "page", 1))
    last = max(1, -(-len(said.value) // size))
    places = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
    if page <= 1:
        del places["prev"], places["first"]
    if page >= last:
        del places["next"], places["last"]
    links = ", ".join(
        f'<{url}?{urlencode({**query, "page": number})}>; rel="{name}"'
        for name, number in places.items()
    )
    items = said.value[(page - 1) * size : page * size]
    return Said(said.status, _Page(items, links))


def _number(query: Mapping[str, str], name: str, usual: int) -> int:
    text = query.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 9 else usual


def _object(incoming: Incoming) -> Mapping[str, Any]:
    """The JSON object that came with a request.

    Raises:
        Refused: it is none.
    """
    if not incoming.body:
        return {}
    try:
        value = read_json(incoming.body)
        json.dumps(
            value, ensure_ascii=False
        ).encode()  # it may end in git, which takes no surrogates
    except (ValueError, RecursionError) as error:
        raise Refused(400, "Problems parsing JSON") from error
    if isinstance(value, list):  # labels may come bare
        return {"labels": value}
    if not isinstance(value, dict):
        raise Refused(400, "Body should be a JSON object")
    return value
