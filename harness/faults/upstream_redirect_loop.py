"""``upstream.redirect-loop``: a service sends its client round in a circle."""

from __future__ import annotations

from dataclasses import replace

from harness.case.model import Params
from harness.faults.schemas import text
from harness.faults.upstream_base import UpstreamFault, with_service
from harness.services.reply import End, Wire


class RedirectLoop(UpstreamFault):
    """A redirect to the address that was asked for; a loop as long as ``times`` lets it be."""

    name = "upstream.redirect-loop"
    summary = "A service redirects to the address that was asked for (write `times: always`)."
    schema = with_service(
        status={
            "enum": [301, 302, 303, 307, 308],
            "description": "status of the redirect",
            "default": 302,
        },
        to=text(
            "where to; the default is the path that was asked for", default="?again", minLength=1
        ),
    )

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Put the redirect in its place; a location without a path keeps the path."""
        headers = {"location": params["to"]}
        return replace(
            wire,
            status=params["status"],
            headers=headers,
            parts=(),
            chunked=False,
            end=End.KEEP,
            head=True,
        )
