"""Which tests that make containers are in the default tier: a few of each kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

#: How many tests of a file, by the file; of every other one that makes containers it is one.
TESTS: Mapping[str, int] = {
    "tests/conformance/test_docker.py": 2,
    "tests/conformance/test_guard.py": 0,
    "tests/conformance/test_healing.py": 0,
    "tests/conformance/test_inspecting.py": 0,
    "tests/conformance/test_isolation.py": 2,
    "tests/conformance/test_left_behind.py": 0,
    "tests/conformance/test_output.py": 0,
    "tests/conformance/test_programs.py": 0,
    "tests/conformance/test_sidecar.py": 2,
    "tests/conformance/test_system.py": 0,
    "tests/conformance/test_trust.py": 0,
    "tests/functional/image/test_image.py": 10,
    "tests/functional/parity/test_parity.py": 10,
    "tests/attacks/test_attacks.py": 1,
}
#: How many cases are judged by every backend, and how many containers there may be in all.
PARITY = 3
CONTAINERS = 60


def spread(of: Sequence[T], count: int) -> list[T]:
    """So many of them, as far apart as can be, the first one always."""
    count = min(count, len(of))
    return [of[number * len(of) // count] for number in range(count)]
