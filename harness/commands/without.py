"""What cannot be done where a capability of a sandbox is missing, in words for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from harness.faults.met import ATTEMPTS
from harness.faults.registry import FAULTS
from harness.plural import plural
from sandboxes.capabilities import NEST

_FEW: Final = 3
#: What of a case asks for a capability, beside faults; what is lost where no case can ask for it.
_ASKING: Final[Mapping[str, str]] = {
    "limits.memory": "cases that write sandbox.limits.memory",
    "limits.pids": "cases that write sandbox.limits.pids",
    "limits.disk": "cases that write sandbox.limits.disk",
    "network.none": "every case",
    "network.services": "every case that has a model or another service, so nearly all",
    "network.low-ports": "services on port 80; they answer on 8080 alone",
    "network.counter": "the expectation network, in part",
    "clock.wall": "cases that write sandbox.clock.at",
    "clock.zone": "cases that write sandbox.clock.zone",
    "user.root": "cases with a step `as: root`",
    "user.separate": "a second wall: the subject has your own user on this machine",
    "files.system": "expectations on files outside home and workspace",
    ATTEMPTS: "the expectation attempts",
    NEST: f"cases that write sandbox.needs: [{NEST}]",
}


def without(name: str) -> str:
    """What cannot be done without a capability.

    Args:
        name: of the capability.
    """
    return "; ".join(_lost(name)) or f"cases that write sandbox.needs: [{name}]"


def _lost(name: str) -> Iterator[str]:
    if name in _ASKING:
        yield _ASKING[name]
    faults = [fault.name for fault in FAULTS.values() if name in fault.needs]
    if faults:
        more = ", …" if len(faults) > _FEW else ""
        yield f"{plural(len(faults), 'fault')}: {', '.join(faults[:_FEW])}{more}"
