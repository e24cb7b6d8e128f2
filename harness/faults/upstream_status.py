"""``upstream.status``: a service answers with another status."""

from __future__ import annotations

from dataclasses import replace

from harness.case.model import Params
from harness.faults.schemas import text
from harness.faults.upstream_base import UpstreamFault, with_service
from harness.services.reply import End, Part, Wire


class Status(UpstreamFault):
    """A whole, well-formed reply of another kind than the one that the rules give."""

    name = "upstream.status"
    summary = "A service answers with another status, such as 503, or 429 with Retry-After."
    schema = with_service(
        status={
            "type": "integer",
            "minimum": 200,
            "maximum": 599,
            "description": "status of the reply",
            "default": 503,
        },
        headers={
            "type": "object",
            "description": "headers to send, such as Retry-After; none of the rule's are left",
            "default": {},
            "propertyNames": {"pattern": "^[A-Za-z0-9-]+$"},
            "additionalProperties": {
                "type": ["string", "integer", "number"],
                "pattern": "^[^\\r\\n]*$",
            },
        },
        body=text("body of the reply", default=""),
    )

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Put a reply of that status in its place."""
        headers = {name: str(value) for name, value in params["headers"].items()}
        body = params["body"].encode()
        parts = (Part(body),) if body else ()
        return replace(
            wire,
            status=params["status"],
            headers=headers,
            parts=parts,
            chunked=False,
            end=End.KEEP,
            head=True,
        )
