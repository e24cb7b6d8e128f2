"""The API: what is asked of the daemon over HTTP, and who may ask."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from runtime.agent.conversations import Conversation
from runtime.daemon import shown
from runtime.daemon.answers import Answers, ApiError
from runtime.daemon.auth import Guarded
from runtime.daemon.bodies import (
    NewAnswer,
    NewConversation,
    NewMessage,
    body_of,
    number,
    number_of,
)
from runtime.daemon.parts import Parts
from runtime.daemon.plugging import Plugging
from runtime.daemon.stopping import Stopping
from runtime.daemon.stream import EventStream
from runtime.daemon.turns import Turns
from runtime.model.base import Said
from runtime.store.errors import StoreError

_CODES: Final = {404: "not_found", 405: "wrong_method"}


class Api:
    """What each path does."""

    def __init__(self, parts: Parts, turns: Turns, stopping: Stopping) -> None:
        self._parts = parts
        self._turns = turns
        self._stopping = stopping
        self.answers = Answers(parts.screen)

    async def health(self, request: Request) -> Response:  # noqa: ARG002
        """That it is there, and nothing else."""
        return await self.answers.value({"status": "ok"})

    async def conversations(self, request: Request) -> Response:  # noqa: ARG002
        """All conversations, the latest first."""
        found = await self._parts.conversations.all()
        return await self.answers.value(
            {"conversations": [shown.conversation(each) for each in found]}
        )

    async def new_conversation(self, request: Request) -> Response:
        """Begin one, and its first turn where something is said in it."""
        body = await body_of(request, NewConversation)
        said = Said("user", body.message) if body.message is not None else None
        name = self._parts.settings.model.name
        after = await self._parts.events.last()
        made = await self._parts.conversations.begin(body.kind, name, said)
        if said:
            self._turns.start(made)
        value = {
            **shown.conversation(await self._found(made)),
            "workspace": str(self._parts.workspace),
            "after": after,
        }
        return await self.answers.value(value, 201)

    async def conversation(self, request: Request) -> Response:
        """One, with all that was said in it, cards included."""
        conversation = await self._found(request.path_params["id"])
        messages = await self._parts.conversations.messages(conversation.id)
        value = {
            **shown.conversation(conversation),
            "messages": [shown.entry(each) for each in messages],
        }
        return await self.answers.value(value)

    async def new_message(self, request: Request) -> Response:
        """Say something in one, which begins a turn."""
        body = await body_of(request, NewMessage)
        conversation = await self._found(request.path_params["id"])
        if not await self._turns.begin(conversation.id, body.text):
            raise ApiError(409, "running", "a turn is running in this conversation")
        return await self.answers.value({"id": conversation.id, "state": "running"}, 202)

    async def interrupt(self, request: Request) -> Response:
        """End the turn that runs in one."""
        conversation = await self._found(request.path_params["id"])
        if conversation.state != "running":
            raise ApiError(409, "not_running", "no turn is running in this conversation")
        self._turns.interrupt(conversation.id)
        return await self.answers.value({"id": conversation.id}, 202)

    async def events(self, request: Request) -> EventStream:
        """The stream of events behind a number."""
        last = request.headers.get("last-event-id")
        after = number_of(request, "after") if last is None else number(last, "Last-Event-ID")
        return EventStream(
            self._parts.events,
            self._parts.pieces,
            self.answers,
            self._stopping.asked,
            after=after,
            conversation=request.query_params.get("conversation"),
        )

    async def handoffs(self, request: Request) -> Response:  # noqa: ARG002
        """What people were given."""
        found = await self._parts.store.reading(shown.handoffs)
        return await self.answers.value({"handoffs": found})

    async def answer(self, request: Request) -> Response:
        """Take a person's answer to one of those."""
        body = await body_of(request, NewAnswer)
        id = request.path_params["id"]  # noqa: A001
        handoffs = self._parts.supervisor.handoffs
        conversation = await handoffs.conversation_of(id)
        if conversation is None:
            raise ApiError(404, "not_found", "there is no such hand-off")
        state = await handoffs.answer(id, body.answer, body.note)
        if state is None:
            raise ApiError(409, "answered", "this hand-off is not open any more")
        await self._turns.answered(conversation)
        return await self.answers.value({"id": id, "conversation": conversation, "state": state})

    async def tools(self, request: Request) -> Response:  # noqa: ARG002
        """The tools that there are now."""
        disabled = self._parts.settings.tools.disabled
        found = [shown.tool(each, disabled) for each in self._parts.registry]
        return await self.answers.value({"tools": found})

    async def failures(self, request: Request) -> Response:  # noqa: ARG002
        """What went wrong."""
        found = await self._parts.store.reading(shown.failures)
        return await self.answers.value({"failures": found})

    async def stop(self, request: Request) -> Response:  # noqa: ARG002
        """End the daemon."""
        answer = await self.answers.value({"status": "stopping"}, 202)
        self._stopping.ask()
        return answer

    async def _found(self, id: str) -> Conversation:  # noqa: A002
        found = await self._parts.conversations.find(id)
        if found is None:
            raise ApiError(404, "not_found", "there is no such conversation")
        return found

    async def refused(self, request: Request, error: Exception) -> Response:  # noqa: ARG002
        """Answer what went wrong."""
        match error:
            case ApiError():
                return await self.answers.error(error.status, error.code, str(error), error.field)
            case HTTPException():
                code = _CODES.get(error.status_code, "refused")
                return await self.answers.error(error.status_code, code, error.detail)
            case StoreError():
                self._stopping.fail(error)
                return await self.answers.error(503, "store", str(error))
            case _:
                said = f"{type(error).__name__}: {error}"
                return await self.answers.error(500, "internal", said)


def application(parts: Parts, turns: Turns, stopping: Stopping, token: str) -> ASGIApp:
    """The whole of it, behind the token."""
    api = Api(parts, turns, stopping)
    routes = [
        _route("GET", "/health", api.health),
        _route("GET", "/conversations", api.conversations),
        _route("POST", "/conversations", api.new_conversation),
        _route("GET", "/conversations/{id}", api.conversation),
        _route("POST", "/conversations/{id}/messages", api.new_message),
        _route("POST", "/conversations/{id}/interrupt", api.interrupt),
        _route("GET", "/events", api.events),
        _route("GET", "/handoffs", api.handoffs),
        _route("POST", "/handoffs/{id}/answer", api.answer),
        _route("GET", "/tools", api.tools),
        *Plugging(parts.plugs, api.answers).routes(),
        _route("GET", "/failures", api.failures),
        _route("POST", "/stop", api.stop),
    ]
    caught = (ApiError, HTTPException, StoreError, Exception)
    app = Starlette(routes=routes, exception_handlers=dict.fromkeys(caught, api.refused))
    return Guarded(app, token, api.answers)


def _route(method: str, path: str, answer: Callable[[Request], Awaitable[Any]]) -> Route:
    return Route(path, answer, methods=[method])
