"""The name that collides with another one."""

from __future__ import annotations

import pytest

from harness.faults.filesystem_case_collision import other_case
from sandboxes.errors import SandboxError


@pytest.mark.parametrize(
    ("name", "other"),
    [("README.md", "readme.md"), ("readme", "README"), ("Ärger", "ärger"), ("a1", "A1")],
)
def test_it_differs_in_case_alone(name, other):
    assert other_case(name) == other


def test_without_letters_there_is_none():
    with pytest.raises(SandboxError, match="no letters"):
        other_case("123")
