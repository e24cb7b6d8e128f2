"""The fixed table: for each class, the only change that a retry may make to the call."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from runtime.recovery.classes import FailureClass


class Change(StrEnum):
    """How a retry may differ from the call that failed."""

    NONE = "none"
    COERCED = "coerced"
    STRICTER = "stricter"
    PATH = "path"


#: A class that is not here is never retried.
TABLE: Final[Mapping[FailureClass, Change]] = {
    FailureClass.PERMISSION_DENIED: Change.NONE,
    FailureClass.MISSING_DEPENDENCY: Change.NONE,
    FailureClass.BAD_ARGUMENTS: Change.COERCED,
    FailureClass.NETWORK: Change.NONE,
    FailureClass.RATE_LIMIT: Change.NONE,
    FailureClass.OUTPUT_CONTRACT: Change.STRICTER,
    FailureClass.MISSING_PATH: Change.PATH,
}


class Effect(StrEnum):
    """What a call writes or changes."""

    FILES = "files"
    PROTECTED = "protected paths"
    GIT = "git"
    DATABASE = "a database"
    PRIVILEGES = "privileges"
    PACKAGES = "packages"
    PROCESSES = "processes"
    CREDENTIALS = "credentials"
    SERVICES = "somebody else's service"
    PROGRAM = "whatever its program does"
    OPAQUE = "what cannot be told"


#: Effects of a call that would work around a failure of a class, beside those of :data:`NEVER`.
WORKAROUNDS: Final[Mapping[FailureClass, frozenset[Effect]]] = MappingProxyType(
    {
        FailureClass.PERMISSION_DENIED: frozenset({Effect.PRIVILEGES}),
        FailureClass.MISSING_DEPENDENCY: frozenset({Effect.PACKAGES}),
        FailureClass.PORT_CONFLICT: frozenset({Effect.PROCESSES}),
        FailureClass.AUTH: frozenset({Effect.CREDENTIALS, Effect.PRIVILEGES}),
    }
)

#: Effects that no call has while a failure of its run waits for a person.
NEVER: Final = frozenset({Effect.GIT, Effect.DATABASE, Effect.PROTECTED, Effect.OPAQUE})
