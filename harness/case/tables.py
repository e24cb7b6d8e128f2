"""The four registries that a case's names come from, as one value."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from harness.case.model import ServiceDecl
from harness.extension import Extension
from harness.faults.base import FaultTable
from harness.oracles.base import Oracle


class ServiceEntry(Extension, Protocol):
    """A kind of service; its schema is of what stands under the kind's key: host names."""

    @property
    def parse(self) -> Callable[[str, Any], ServiceDecl] | None:
        """Makes the declaration of one host; ``None`` where a case declares no such thing."""

    @property
    def person(self) -> bool:
        """Whether there is a person behind it."""


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """What a case can name.

    Attributes:
        faults: injectors.
        oracles: ways of judging.
        services: kinds of scripted services.
        subjects: adapters; ``command`` among them.
    """

    faults: FaultTable
    oracles: Mapping[str, Oracle]
    services: Mapping[str, ServiceEntry]
    subjects: Mapping[str, Extension]


@functools.cache
def installed() -> Tables:
    """The registries of this installation; imported when first asked for."""
    from harness.faults.registry import FAULTS  # noqa: PLC0415 - reading YAML needs none of it
    from harness.oracles.registry import ORACLES  # noqa: PLC0415
    from harness.services.registry import SERVICES  # noqa: PLC0415
    from harness.subjects.registry import SUBJECTS  # noqa: PLC0415

    return Tables(FAULTS, ORACLES, SERVICES, SUBJECTS)
