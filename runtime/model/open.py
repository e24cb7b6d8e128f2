"""The model that the settings name; its SDK is loaded when it is asked for, and no sooner."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Mapping
from functools import partial

import anyio
import anyio.to_thread

from runtime.model.base import Model, ModelError
from runtime.settings import ModelSettings

_KEYS = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai-chat": "OPENAI_API_KEY",
    "openai-responses": "OPENAI_API_KEY",
}


class Models:
    """The model of the settings, opened when it is first asked for, and kept.

    Its SDK takes a second to load, so that is done beside the event loop.
    """

    def __init__(self, settings: ModelSettings, environment: Mapping[str, str]) -> None:
        self._settings = settings
        self._environment = environment
        self._lock = anyio.Lock()
        self._open: Model | None = None

    def load(self) -> None:
        """Begin to load the SDK, for a turn that may come; whoever ends does not wait for it."""
        if _key_of(self._settings, self._environment):
            name = f"runtime.model.{self._settings.protocol.replace('-', '_')}"
            threading.Thread(target=importlib.import_module, args=[name], daemon=True).start()

    async def get(self) -> Model:
        """The model.

        Raises:
            ModelError: its key is in no variable of the environment.
        """
        async with self._lock:
            if self._open is None:
                opening = partial(open_model, self._settings, self._environment)
                self._open = await anyio.to_thread.run_sync(opening, abandon_on_cancel=True)
            return self._open

    async def close(self) -> None:
        """Give its connections back."""
        if self._open is not None:
            await self._open.close()


def open_model(settings: ModelSettings, environment: Mapping[str, str]) -> Model:
    """A model to ask.

    Raises:
        ModelError: its key is in no variable of the environment.
    """
    key = _key_of(settings, environment)
    if not key:
        variable = settings.api_key or _KEYS[settings.protocol]
        raise ModelError("auth", f"the variable {variable} has no key", "set it, and start again")
    match settings.protocol:
        case "anthropic":
            from runtime.model.anthropic import Anthropic  # noqa: PLC0415

            return Anthropic(settings, key)
        case "openai-chat":
            from runtime.model.openai_chat import OpenAIChat  # noqa: PLC0415

            return OpenAIChat(settings, key)
        case "openai-responses":
            from runtime.model.openai_responses import OpenAIResponses  # noqa: PLC0415

            return OpenAIResponses(settings, key)


def _key_of(settings: ModelSettings, environment: Mapping[str, str]) -> str | None:
    return environment.get(settings.api_key or _KEYS[settings.protocol])
