"""What an MCP server answers, as the result of a tool."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from runtime.tools.base import ToolResult

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock

#: The exit code of a call that the server says has failed.
FAILED: Final = 1


def as_result(answer: CallToolResult) -> ToolResult:
    """The texts of an answer; of what is no text, what it was.

    Why a call failed is said as far as the server said it. ``Error executing tool …`` alone names
    no reason, and none is made up.
    """
    parts = [_text(block) for block in answer.content]
    if not parts and answer.structured_content is not None:
        parts = [json.dumps(answer.structured_content, ensure_ascii=False)]
    text = "\n".join(parts)
    if answer.is_error:
        return ToolResult(error=text, exit_code=FAILED)
    return ToolResult(text)


def _text(block: ContentBlock) -> str:
    match block.type:
        case "text":
            return block.text
        case "image" | "audio":
            return f"[{block.type}, {block.mime_type}, {len(block.data)} characters of base64]"
        case "resource_link":
            return f"[resource {block.uri}]"
        case "resource":
            text = getattr(block.resource, "text", None)
            return str(text) if text is not None else f"[resource {block.resource.uri}]"
