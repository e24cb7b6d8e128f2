"""What the SDKs raise, as the few things that can be done about it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

import httpx2

from runtime.model.base import ModelError

_NO_SUCCESS = 300
_AUTH = frozenset({401, 403})
_BUSY = frozenset({429, 529})
_REFUSED = range(400, 500)
# What reading an answer that is not as it should be raises, in the SDKs and in us.
_UNREADABLE = (AttributeError, KeyError, TypeError, ValueError, RecursionError)


@dataclass(slots=True)
class Progress:
    """How far a request came: whether its answer has begun."""

    begun: bool = False


@contextlib.contextmanager
def raised(sdk: ModuleType) -> Iterator[Progress]:
    """Raise as :class:`ModelError` what an SDK, or what it lets through, raises.

    What breaks off after the answer has begun is incomplete, for no SDK asks for it again.

    Args:
        sdk: ``anthropic`` or ``openai``, whose errors have the same names.
    """
    progress = Progress()
    try:
        yield progress
    except sdk.APIStatusError as error:
        if error.status_code < _NO_SUCCESS:  # an error that came in a stream
            raise ModelError("broken", f"the model broke off: {error.message}") from error
        raise ModelError(*_of_status(error.status_code, error.message)) from error
    except sdk.APIConnectionError as error:
        timed_out = isinstance(error, sdk.APITimeoutError)
        raise ModelError(*_of_connection(error, progress, timed_out)) from error
    except sdk.APIError as error:
        raise ModelError("broken", f"the model broke off: {error.message}") from error
    except httpx2.HTTPError as error:
        raise ModelError("incomplete", f"the model's answer was cut off: {_said(error)}") from error
    except _UNREADABLE as error:
        said = f"{type(error).__name__}: {error}"
        raise ModelError("broken", f"the model's answer cannot be read: {said}") from error


def _of_connection(error: Exception, progress: Progress, timed_out: bool) -> tuple[str, str]:
    said = _said(error.__cause__ or error)
    if progress.begun:
        return "incomplete", f"the model's answer was cut off: {said}"
    if timed_out:
        return "unreachable", "the model did not answer in time"
    return "unreachable", f"the model could not be reached: {said}"


def _said(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _of_status(status: int, said: str) -> tuple[str, str, str]:
    if status in _AUTH:
        return "auth", f"the model refused the key ({status}): {said}", "look at the key"
    if status in _BUSY:
        return "rate_limit", f"the model asks to wait ({status}): {said}", ""
    if status in _REFUSED:
        return "refused", f"the model refused the request ({status}): {said}", ""
    return "unreachable", f"the model failed ({status}): {said}", ""
