"""What every fault, oracle, service and subject has: a name, a sentence, and a schema.

The published case schema, ``shakeout explain`` and the loader are all made from these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

Schema = Mapping[str, Any]


class Extension(Protocol):
    """An entry of one of the registries.

    ``schema`` is a JSON Schema (draft 2020-12) of what a case writes for it, with
    ``description`` and ``default`` on each property and ``additionalProperties: false``.
    """

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str:
        """One sentence for people."""

    @property
    def schema(self) -> Schema: ...
