"""The part of the API by which tools are plugged in and out."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from pydantic import ConfigDict
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from runtime.daemon.answers import Answers, ApiError
from runtime.daemon.bodies import Body, body_of
from runtime.tools.hotplug.plugs import Plugs
from runtime.tools.hotplug.specs import BadPlug, UnknownPlug

T = TypeVar("T")


class NewPlug(Body):
    """What to plug in; its other fields depend on its kind."""

    model_config = ConfigDict(extra="allow", frozen=True)

    kind: str
    name: str


class Plugging:
    """What each path does."""

    def __init__(self, plugs: Plugs, answers: Answers) -> None:
        self._plugs = plugs
        self._answers = answers

    def routes(self) -> list[Route]:
        """All of them."""
        return [
            Route("/plugs", self.all, methods=["GET"]),
            Route("/plugs", self.plug, methods=["POST"]),
            Route("/plugs/{name}", self.unplug, methods=["DELETE"]),
            Route("/plugs/{name}/accept", self.accept, methods=["POST"]),
        ]

    async def all(self, request: Request) -> Response:  # noqa: ARG002
        """What is plugged in."""
        return await self._answers.value({"plugs": self._plugs.list()})

    async def plug(self, request: Request) -> Response:
        """Plug something in."""
        body = await body_of(request, NewPlug)
        report = await _done(self._plugs.plug(body.model_dump()))
        return await self._answers.value(report, 201)

    async def unplug(self, request: Request) -> Response:
        """Take something out."""
        return await self._answers.value(await _done(self._plugs.unplug(_name(request))))

    async def accept(self, request: Request) -> Response:
        """Let definitions be used that have changed."""
        return await self._answers.value(await _done(self._plugs.accept(_name(request))))


def _name(request: Request) -> str:
    return str(request.path_params["name"])


async def _done(work: Awaitable[T]) -> T:
    try:
        return await work
    except UnknownPlug as error:
        raise ApiError(404, "not_found", str(error)) from None
    except BadPlug as error:
        raise ApiError(422, "bad_plug", str(error)) from None
