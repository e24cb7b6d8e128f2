"""``upstream.tls-failure``: a service cannot be spoken to on TLS, or should not be."""

from __future__ import annotations

from harness.case.model import Params
from harness.faults.upstream_base import UpstreamFault, with_service
from harness.services.knock import GREETINGS
from harness.services.reply import Wire


class TlsFailure(UpstreamFault):
    """The handshake goes wrong, before there can be a request.

    It has landed when the server has seen a client ask for a handshake and has given it what is
    wrong. The proof says how the client ended it; one that does not look at certificates goes
    on, and its first request carries the fault.
    """

    name = "upstream.tls-failure"
    summary = "A TLS handshake with a service fails: a bad certificate, or no handshake at all."
    schema = with_service(
        kind={
            "enum": list(GREETINGS),
            "default": "expired",
            "description": "a certificate that is expired, for another host or of an unknown "
            "authority; an alert instead of a handshake; what is no TLS; or just the end",
        }
    )

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Nothing is wrong with the replies."""
        return wire

    def greeting(self, params: Params) -> str:
        """What is wrong with the handshake."""
        return str(params["kind"])
