"""The schema of the model's script, which stands alone for ``shakeout model`` too."""

from __future__ import annotations

from harness.case.pieces import (
    Schema,
    counted,
    either,
    formatted,
    listing,
    record,
    table,
    text,
    whole,
)

_CALL: Schema = table(
    "tools by their own names, offered or not, each with its arguments",
    {"type": "object", "description": "the tool's arguments"},
    minProperties=1,
)

SCRIPT: Schema = listing(
    "the model's turns, in order",
    record(
        "one turn: text, tool calls, or a raw body",
        {
            "say": text("text of the reply"),
            "call": either(
                "tool calls, in order", _CALL, listing("several at once", _CALL, minItems=1)
            ),
            "run": text("call whatever tool runs commands, with this command line", minLength=1),
            "write": record(
                "call whatever tool writes files",
                {"path": text("which file", minLength=1), "text": text("its text")},
                ("path", "text"),
            ),
            "read": record(
                "call whatever tool reads files", {"path": text("which", minLength=1)}, ("path",)
            ),
            "usage": record(
                "tokens to report, instead of one per four bytes",
                {
                    "input": whole("tokens read", minimum=0),
                    "output": whole("tokens written", minimum=0),
                },
                ("input", "output"),
            ),
            "stop": text("stop reason to send instead of the fitting one", minLength=1),
            "raw": text("a body to send as it is, instead of all this"),
            "if": formatted("regex", "skip the turn unless the last tool result matches"),
            "repeat": counted("how many turns it serves", 1),
        },
        minProperties=1,
    ),
)
