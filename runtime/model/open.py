"""The model that the settings name; its SDK is loaded when it is asked for, and no sooner."""

from __future__ import annotations

from collections.abc import Mapping

from runtime.model.base import Model, ModelError
from runtime.settings import ModelSettings

_KEYS = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai-chat": "OPENAI_API_KEY",
    "openai-responses": "OPENAI_API_KEY",
}


def open_model(settings: ModelSettings, environment: Mapping[str, str]) -> Model:
    """A model to ask.

    Raises:
        ModelError: its key is in no variable of the environment.
    """
    variable = settings.api_key or _KEYS[settings.protocol]
    key = environment.get(variable)
    if not key:
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
