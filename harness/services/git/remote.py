"""The service ``git``, and what else serves repositories: smart HTTP onto them."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from harness.case.model import ServiceDecl
from harness.git.objects import Unreadable
from harness.services.base import Answer, Asked, Hit, Incoming
from harness.services.git.declared import GitDecl
from harness.services.git.repository import Repository
from harness.services.git.wire import RECEIVE, UPLOAD, Garbled, advertisement, receive, upload
from harness.services.hits import rewritten
from harness.services.reply import Part, Wire

_MOST_BODY: Final = 8 << 20
_NO_CACHE: Final = {"cache-control": "no-cache, max-age=0, must-revalidate"}
_ENDINGS: Final = ("/info/refs", f"/{UPLOAD}", f"/{RECEIVE}")


def is_git(path: str) -> bool:
    """Whether a path, without its query, is one that git clients ask for."""
    return path.endswith(_ENDINGS)


class GitRemote:
    """Bare repositories of one host; see :mod:`harness.services.git.wire`."""

    def __init__(self, decl: ServiceDecl) -> None:
        declared: GitDecl = decl.params
        self._name = decl.name
        self._token = declared.token
        self._repos = {repo.name: Repository.of(repo) for repo in declared.repos}
        self._answered = 0

    @property
    def name(self) -> str:
        return self._name

    def hosted(self) -> Mapping[str, Repository]:
        """Copies of the repositories, as they are now."""
        return {name: repo.copy() for name, repo in self._repos.items()}

    def kept(self) -> Mapping[str, Any]:
        """What became of each repository."""
        return {name: repo.account() for name, repo in self._repos.items()}

    def repositories(self) -> Mapping[str, Repository]:
        """Every repository by its name, as it is now."""
        return self._repos

    def classify(self, incoming: Incoming) -> Asked:  # noqa: ARG002 - the contract's
        return Asked(kind="turn", counts=True)

    def answer(self, incoming: Incoming, asked: Asked, hits: Sequence[Hit]) -> Answer:
        before = {name: repo.copy() for name, repo in self._repos.items()} if hits else {}
        made = rewritten(serve_git(incoming, self._repos, self._token), hits)
        if not made.done:
            self._repos = before
        self._answered += 1
        for repo in self._repos.values():
            repo.answered(self._answered)
        return Answer(made.wire, asked.kind, serves=made.serves, missed=made.missed)

    def ended(self, answer: Answer, how: str) -> None:
        """Nothing depends on it: what was asked for was done when it was answered."""


def serve_git(incoming: Incoming, repos: Mapping[str, Repository], token: str | None) -> Wire:
    """The answer of a git server over ``repos``, whose every request must carry ``token``."""
    target = urlsplit_or_nothing(incoming.path)
    if target is None:
        return said(400, "no request target")
    path, query = unquote(target[0]), parse_qs(target[1])
    ending = next((ending for ending in _ENDINGS if path.endswith(ending)), "")
    repository = repos.get(path.removesuffix(ending).strip("/").removesuffix(".git"))
    if token is not None and token not in credentials(incoming.headers):
        refusal = said(401, "Authentication required")
        return Wire(
            401, {**refusal.headers, "www-authenticate": 'Basic realm="git"'}, refusal.parts
        )
    if repository is None or not ending:
        return said(404, "Repository not found")
    if ending == _ENDINGS[0]:
        return _refs(incoming, repository, query.get("service", [""])[0])
    if incoming.method != "POST":
        return said(405, "Method not allowed")
    return _exchange(incoming, repository, ending[1:])


def _refs(incoming: Incoming, repository: Repository, service: str) -> Wire:
    if incoming.method not in {"GET", "HEAD"}:
        return said(405, "Method not allowed")
    if service not in {UPLOAD, RECEIVE}:
        return said(403, "Please upgrade your git client: only smart HTTP is served here.")
    body = advertisement(repository, service)
    return _git_wire(f"application/x-{service}-advertisement", body)


def _exchange(incoming: Incoming, repository: Repository, service: str) -> Wire:
    act: Callable[[Repository, bytes], bytes] = upload if service == UPLOAD else receive
    try:
        body = _unpacked(incoming)
        return _git_wire(f"application/x-{service}-result", act(repository, body))
    except OverflowError:
        return said(413, f"More than {_MOST_BODY} bytes are not taken.")
    except (Garbled, Unreadable, zlib.error) as error:
        return said(400, str(error))


def _unpacked(incoming: Incoming) -> bytes:
    body = incoming.body
    if incoming.headers.get("content-encoding") in {"gzip", "x-gzip"}:
        engine = zlib.decompressobj(wbits=31)
        body = engine.decompress(body, _MOST_BODY + 1)
        if not engine.eof and len(body) <= _MOST_BODY:
            raise Garbled("a body that is cut")
    if len(body) > _MOST_BODY:
        raise OverflowError
    return body


def credentials(headers: Mapping[str, str]) -> set[str]:
    """What a request brings to be let in: a bearer's token, and either half of a login."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() in {"bearer", "token"}:
        return {value.strip()}
    if scheme.lower() != "basic":
        return set()
    try:
        user, _, password = base64.b64decode(value).decode("utf-8", "replace").partition(":")
    except (binascii.Error, ValueError):
        return set()
    return {user, password}


def urlsplit_or_nothing(target: str) -> tuple[str, str] | None:
    """Path and query of a request target; ``None`` where it has none."""
    try:
        parts = urlsplit(target if not target.startswith("//") else f"/{target.lstrip('/')}")
    except ValueError:
        return None
    return parts.path or "/", parts.query


def _git_wire(kind: str, body: bytes) -> Wire:
    return Wire(200, {"content-type": kind, **_NO_CACHE}, (Part(body),))


def said(status: int, text: str) -> Wire:
    """A plain sentence."""
    return Wire(
        status, {"content-type": "text/plain; charset=utf-8"}, (Part(f"{text}\n".encode()),)
    )
