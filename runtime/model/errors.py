"""What the SDKs raise, as the few things that can be done about it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import ModuleType

import httpx2

from runtime.model.base import ModelError

_AUTH = frozenset({401, 403})
_BUSY = frozenset({429, 529})
_REFUSED = range(400, 500)
# What reading an answer that is not as it should be raises, in the SDKs and in us.
_UNREADABLE = (AttributeError, KeyError, TypeError, ValueError, RecursionError)


@contextlib.contextmanager
def raised(sdk: ModuleType) -> Iterator[None]:
    """Raise as :class:`ModelError` what an SDK, or what it lets through, raises.

    Args:
        sdk: ``anthropic`` or ``openai``, whose errors have the same names.
    """
    try:
        yield
    except sdk.APIStatusError as error:
        raise ModelError(*_of_status(error.status_code, error.message)) from error
    except sdk.APITimeoutError as error:
        raise ModelError("unreachable", "the model did not answer in time") from error
    except sdk.APIConnectionError as error:
        cause = error.__cause__ or error
        said = _said(cause)
        raise ModelError("unreachable", f"the model could not be reached: {said}") from error
    except sdk.APIError as error:
        raise ModelError("broken", f"the model broke off: {error.message}") from error
    except httpx2.HTTPError as error:
        raise ModelError("incomplete", f"the model's answer was cut off: {_said(error)}") from error
    except _UNREADABLE as error:
        said = f"{type(error).__name__}: {error}"
        raise ModelError("broken", f"the model's answer cannot be read: {said}") from error


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
