"""What requests may say; whatever else they say is refused by the name of its field."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request

from runtime.daemon.answers import ApiError
from runtime.model.reading import sound

#: Bytes of a body.
MOST: Final = 1 << 18
_UNREAD: Final = frozenset({"json_invalid", "model_type", "model_attributes_type"})

B = TypeVar("B", bound="Body")


class Body(BaseModel):
    """A body, and nothing else beside its fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("it says nothing")
    return sound(text)


Text = Annotated[str, AfterValidator(_said)]


class NewConversation(Body):
    """A conversation to begin; with a message, its first turn begins at once."""

    kind: Literal["chat", "project"] = "chat"
    message: Text | None = None


class NewMessage(Body):
    """What a person says."""

    text: Text


class NewAnswer(Body):
    """What a person answers to a hand-off."""

    answer: Literal["approve", "reject", "retry"]
    note: Annotated[str, Field(max_length=10_000), AfterValidator(sound)] = ""


async def body_of(request: Request, shape: type[B]) -> B:
    """The body of a request.

    Raises:
        ApiError: it is too long, no JSON, or not of that shape.
    """
    written = bytearray()
    async for piece in request.stream():
        written += piece
        if len(written) > MOST:
            raise ApiError(413, "too_large", f"a body has at most {MOST} bytes")
    try:
        return shape.model_validate_json(bytes(written))
    except ValidationError as error:
        raise _refused(error.errors()[0]) from None


def _refused(problem: Any) -> ApiError:
    if problem["type"] in _UNREAD:
        return ApiError(400, "bad_json", f"the body is no object of JSON: {problem['msg']}")
    field = ".".join(map(str, problem["loc"]))
    return ApiError(422, "bad_field", f"{field}: {problem['msg']}", field)


def number_of(request: Request, name: str, default: int = 0) -> int:
    """A whole number of the query.

    Raises:
        ApiError: it is none.
    """
    written = request.query_params.get(name, str(default))
    return number(written, name)


def number(written: str, name: str) -> int:
    """A whole number that is not below zero and fits the store.

    Raises:
        ApiError: it is none.
    """
    if not (written.isascii() and written.isdigit() and len(written) <= 18):
        raise ApiError(422, "bad_field", f"{name}: a whole number is wanted", name)
    return int(written)
