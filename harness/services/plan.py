"""Where the services of a trial are found inside its sandbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from harness.case.model import Case
from sandboxes.base import Listen

MODEL: Final = "model"
NAMESERVER: Final = "127.0.0.1"
#: What the name server is called where a service is named.
DNS: Final = "dns"
DNS_PORT: Final = 53
HTTP_PORTS: Final = (80, 8080)
TLS_PORTS: Final = (443, 8443)

_FIRST_FREE: Final = 1024
_FIRST: Final = (127 << 24) + (1 << 8) + 1


@dataclass(frozen=True, slots=True)
class Plan:
    """Addresses inside, made before the sandbox is.

    Names are served by the name server alone and stand in no hosts file: so every look-up is
    seen, and a fault of names hits declared ones too.

    Attributes:
        addresses: of each service, by its host name; the model first.
        ports: that each of them answers on.
        listens: everything to bind, the name server's addresses among them.
    """

    addresses: Mapping[str, str]
    ports: tuple[int, ...] = HTTP_PORTS

    @property
    def listens(self) -> tuple[Listen, ...]:
        """Every address to bind; none where there is no network."""
        if not self.addresses:
            return ()
        names = (
            Listen(NAMESERVER, DNS_PORT, "udp"),
            Listen(NAMESERVER, DNS_PORT, "tcp"),
        )
        hosts = [Listen(host, port) for host in self.addresses.values() for port in self.ports]
        return (*names, *hosts)

    @property
    def by_service(self) -> Mapping[str, Sequence[str]]:
        """``address:port`` of every service, by its host name."""
        return {
            name: [f"{host}:{port}" for port in self.ports] for name, host in self.addresses.items()
        }


def plan(case: Case, *, low_ports: bool = True, tls: bool = False) -> Plan:
    """The addresses for a case: the model at 127.0.1.1, its services after it, in order.

    Args:
        case: says which services there are.
        low_ports: whether the place can bind ports 80 and 443; 8080 and 8443 are always there.
        tls: whether they answer on TLS too.
    """
    if case.sandbox.network == "none":
        return Plan({})
    names = [MODEL, *(service.name for service in case.services)]
    addresses = {name: _dotted(_FIRST + place) for place, name in enumerate(names)}
    ports = (*HTTP_PORTS, *TLS_PORTS) if tls else HTTP_PORTS
    return Plan(addresses, tuple(port for port in ports if low_ports or port >= _FIRST_FREE))


def _dotted(number: int) -> str:
    return ".".join(str(byte) for byte in number.to_bytes(4, "big"))
