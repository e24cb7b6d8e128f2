"""``network.port-taken``: somebody listens on a port already."""

from __future__ import annotations

from collections.abc import Mapping

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.met import BINDS
from harness.faults.ruled import Ruled
from harness.faults.schemas import params, text
from sandboxes.rules import Taken


class PortTaken:
    """The port is bound from outside, in the sandbox's own network; nobody answers there."""

    name = "network.port-taken"
    summary = (
        "Somebody listens on a TCP port already, and never answers; it lands when the subject "
        "tries to bind that port on an address that is taken with it."
    )
    layer = Layer.NETWORK
    needs = (BINDS,)
    live = False
    schema = params(
        ("port",),
        port={
            "type": "integer",
            "minimum": 1,
            "maximum": 65535,
            "description": "the port that is taken",
        },
        host=text(
            "the address on which it is taken",
            enum=["127.0.0.1", "0.0.0.0", "::1", "::"],  # noqa: S104 - inside
            default="127.0.0.1",
        ),
    )

    def inject(self, params: Params, place: Place) -> Ruled:
        """Take it."""
        host, port = params["host"], params["port"]

        def prove(met: Mapping[str, int], _: Place) -> Landing:
            binds, where = met.get("binds", 0), f"{host} port {port}"
            what = f"{binds} binds of the subject failed with EADDRINUSE, as {where} was taken"
            return Landing(binds, what)

        return Ruled.begin(place, Taken(host, port), prove)
