"""What the API answers: JSON, through the screen, with errors in one shape."""

from __future__ import annotations

import json
from typing import Any

import anyio.to_thread
from starlette.responses import Response

from runtime.screen.screen import Screen


class ApiError(Exception):
    """A request that is refused.

    Attributes:
        status: of the answer.
        code: what is wrong, for programs.
        field: of the body, where one is to blame.
    """

    def __init__(self, status: int, code: str, what: str, field: str | None = None) -> None:
        super().__init__(what)
        self.status = status
        self.code = code
        self.field = field


class Answers:
    """Makes answers that hold no secret."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    async def value(self, value: Any, status: int = 200) -> Response:
        """An answer with a value."""
        body = await anyio.to_thread.run_sync(self.written, value)
        return Response(body, status, media_type="application/json")

    async def error(
        self, status: int, code: str, message: str, field: str | None = None
    ) -> Response:
        """An answer that says what is wrong."""
        error = {"code": code, "message": message, "field": field}
        return await self.value({"error": error}, status)

    def written(self, value: Any) -> bytes:
        """A value as JSON, screened; not for the event loop where it may be long."""
        return json.dumps(self._screen.value(value), allow_nan=False).encode()
