"""``model.wrong-content-type``: something else than the model answers with 200."""

from __future__ import annotations

from dataclasses import replace

from harness.case.model import Params
from harness.faults.model_base import ONE_LINE, ModelFault, merged
from harness.faults.schemas import params, text
from harness.services.model.protocols.base import encode
from harness.services.reply import Part, Wire

_PAGE = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Sign in</body></html>\n"


class WrongContentType(ModelFault):
    """As a proxy does that wants a login: status 200, a page, and nothing of the turn."""

    name = "model.wrong-content-type"
    summary = "Status 200 with a web page instead of the model's reply."
    schema = params(
        type={
            "type": "string",
            "description": "the content type",
            "default": "text/html; charset=utf-8",
            "pattern": ONE_LINE,
        },
        body=text("the body", default=_PAGE),
    )

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Put the page in its place."""
        headers = merged(wire.headers, {"content-type": params["type"]})
        return replace(wire, headers=headers, parts=(Part(encode(params["body"])),), chunked=False)
