"""``model.status``: the model answers with a status and an error body."""

from __future__ import annotations

from dataclasses import replace

from harness.case.model import Params
from harness.faults.model_base import ONE_LINE, ModelFault, error_reply
from harness.faults.schemas import params, text
from harness.services.model.protocols.base import Trouble, encode
from harness.services.reply import Part, Wire

_HEADERS = {
    "type": "object",
    "description": "headers to send, such as Retry-After",
    "default": {},
    "propertyNames": {"pattern": "^[A-Za-z0-9-]+$"},
    "additionalProperties": {
        "type": ["string", "integer", "number"],
        "pattern": ONE_LINE,
    },
}


class Status(ModelFault):
    """Any status with any headers. The body is an error in the protocol's own shape."""

    name = "model.status"
    summary = "The model answers with another status, such as 429 with Retry-After, 500 or 529."
    schema = params(
        status={
            "type": "integer",
            "minimum": 200,
            "maximum": 599,
            "description": "status of the reply",
            "default": 500,
        },
        headers=_HEADERS,
        message=text("message of the error, instead of the status's usual words"),
        code=text("type (Anthropic) or code (OpenAI) of the error, instead of the usual one"),
        body=text("a body to send as it is, instead of the error"),
    )

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Put an error in its place."""
        trouble = Trouble(params["status"], params.get("message"), params.get("code"))
        answer = error_reply(wire, trouble, params["headers"])
        if "body" in params:
            return replace(answer, parts=(Part(encode(params["body"])),))
        return answer
