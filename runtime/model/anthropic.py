"""Anthropic's Messages, through its own SDK."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import anthropic

from runtime.model.base import Hear, ModelError, Offer, Reply, Said, Stop, Usage
from runtime.model.errors import raised
from runtime.model.reading import NOTHING, Pieces, Text, named
from runtime.settings import ModelSettings

_STOPS: Final[dict[str, Stop]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "calls",
    "max_tokens": "length",
    "refusal": "refusal",
}


class Anthropic:
    """A model that speaks Messages."""

    def __init__(self, settings: ModelSettings, api_key: str | None) -> None:
        self._settings = settings
        self._client = anthropic.AsyncAnthropic(
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
            "max_tokens": self._settings.max_tokens,
            "system": system,
            "messages": _messages(conversation),
            "tools": [_tool(offer) for offer in tools],
        }
        reading = _Reading(hear)
        with raised(anthropic) as progress:
            stream = await self._client.messages.create(**request, stream=True)
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
        self._calls: dict[int, Pieces] = {}
        self._stop: Stop = "other"
        self._input = self._output = 0
        self._ended = False

    async def take(self, event: Any) -> None:
        match event.type:
            case "message_start":
                self._count(event.message.usage)
            case "content_block_start" if event.content_block.type == "tool_use":
                block = event.content_block
                self._calls[event.index] = Pieces(block.id or "", block.name or "")
            case "content_block_delta":
                await self._delta(event)
            case "message_delta":
                self._stop = _STOPS.get(event.delta.stop_reason or "", "other")
                self._count(event.usage)
            case "message_stop":
                self._ended = True
            case _:
                pass

    async def _delta(self, event: Any) -> None:
        delta = event.delta
        if delta.type == "text_delta":
            self._text.add(delta.text)
            await self._hear(delta.text)
        elif delta.type == "input_json_delta" and event.index in self._calls:
            self._calls[event.index].add(delta.partial_json)

    def _count(self, usage: Any) -> None:
        self._input = getattr(usage, "input_tokens", None) or self._input
        self._output = getattr(usage, "output_tokens", None) or self._output

    def reply(self) -> Reply:
        if not self._ended:
            raise ModelError("incomplete", "the model's answer ended before its end")
        calls = tuple(pieces.asked() for _, pieces in sorted(self._calls.items()))
        return Reply(str(self._text), calls, self._stop, Usage(self._input, self._output))


def _tool(offer: Offer) -> dict[str, Any]:
    return {"name": offer.name, "description": offer.summary, "input_schema": dict(offer.schema)}


def _messages(conversation: Sequence[Said]) -> list[dict[str, Any]]:
    """Its messages: what tools answered, and what people said then, is one message of the user's."""
    messages: list[dict[str, Any]] = []
    for said in conversation:
        role = "assistant" if said.role == "assistant" else "user"
        blocks = _blocks(said)
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"].extend(blocks)
        elif blocks:
            messages.append({"role": role, "content": blocks})
    return messages


def _blocks(said: Said) -> list[dict[str, Any]]:
    text = [{"type": "text", "text": said.text}] if said.text.strip() else []
    match said.role:
        case "tool":
            answer = {"type": "tool_result", "tool_use_id": said.call, "is_error": said.failed}
            return [{**answer, "content": said.text or NOTHING}]
        case "assistant":
            calls = [
                {
                    "type": "tool_use",
                    "id": call.id,
                    "name": named(call.name),
                    "input": call.arguments or {},
                }
                for call in said.calls
            ]
            return [*text, *calls]
        case _:
            return text
