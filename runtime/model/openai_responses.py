"""OpenAI's Responses, through its own SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

import openai

from runtime.model.base import Asked, Hear, ModelError, Offer, Reply, Said, Stop, Usage
from runtime.model.errors import raised
from runtime.model.reading import NOTHING, Pieces, Text, message_of, named
from runtime.settings import ModelSettings

_ENDED: Final = frozenset({"response.completed", "response.incomplete"})
_FAILED: Final = frozenset({"response.failed", "error"})


class OpenAIResponses:
    """A model that speaks Responses; nothing is stored on its side."""

    def __init__(self, settings: ModelSettings, api_key: str | None) -> None:
        self._settings = settings
        self._client = openai.AsyncOpenAI(
            api_key=api_key,
            base_url=settings.base_url,
            timeout=settings.timeout,
            max_retries=settings.retries,
        )

    async def ask(
        self, system: str, conversation: Sequence[Said], tools: Sequence[Offer], hear: Hear
    ) -> Reply:
        """Ask, and put the answer together from the stream."""
        request: dict[str, Any] = {
            "model": self._settings.name,
            "max_output_tokens": self._settings.max_tokens,
            "instructions": system,
            "input": [item for said in conversation for item in _items(said)],
            "tools": [_tool(offer) for offer in tools],
            "store": False,
        }
        reading = _Reading(hear)
        with raised(openai) as progress:
            stream = await self._client.responses.create(**request, stream=True)
            progress.begun = True
            async with stream:
                async for event in stream:
                    await reading.take(event)
            return reading.reply()

    async def close(self) -> None:
        """Give its connections back."""
        await self._client.close()


class _Reading:
    """A stream, as far as it came."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._text = Text()
        self._calls: list[Asked] = []
        self._refused = False
        self._ended: Any = None

    async def take(self, event: Any) -> None:
        if event.type == "response.output_text.delta":
            self._text.add(event.delta)
            await self._hear(event.delta)
        elif event.type == "response.refusal.delta":
            self._refused = True
            self._text.add(event.delta)
        elif event.type == "response.output_item.done" and event.item.type == "function_call":
            item = event.item
            call = Pieces(item.call_id or "", item.name or "")
            call.add(item.arguments or "")
            self._calls.append(call.asked())
        elif event.type in _ENDED:
            self._ended = event.response
        elif event.type in _FAILED:
            failed = getattr(event, "response", None)
            why = getattr(failed, "error", None) or event
            raise ModelError("broken", f"the model broke off: {message_of(why)}")

    def reply(self) -> Reply:
        if self._ended is None:
            raise ModelError("incomplete", "the model's answer ended before its end")
        tokens = self._ended.usage
        usage = Usage(tokens.input_tokens or 0, tokens.output_tokens or 0) if tokens else Usage()
        return Reply(str(self._text), tuple(self._calls), self._stop(), usage)

    def _stop(self) -> Stop:
        if self._ended.status == "incomplete":
            why = self._ended.incomplete_details
            return "refusal" if why and why.reason == "content_filter" else "length"
        if self._refused:
            return "refusal"
        return "calls" if self._calls else "end"


def _tool(offer: Offer) -> dict[str, Any]:
    return {
        "type": "function",
        "name": offer.name,
        "description": offer.summary,
        "parameters": dict(offer.schema),
        "strict": False,
    }


def _items(said: Said) -> Iterator[dict[str, Any]]:
    if said.role == "tool":
        yield {"type": "function_call_output", "call_id": said.call, "output": said.text or NOTHING}
        return
    if said.text.strip():
        yield {"role": said.role, "content": said.text}
    for call in said.calls:
        yield {
            "type": "function_call",
            "call_id": call.id,
            "name": named(call.name),
            "arguments": json.dumps(call.arguments or {}),
        }
