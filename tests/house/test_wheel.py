"""The wheel carries everything that an installed Shakeout needs."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.house.checkout import ROOT, tracked

SHIPPED = ("harness", "sandboxes", "verifiers", "runtime", "cases")


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        ["bash", "ci/parts/wheel", folder], cwd=ROOT, check=True, capture_output=True, timeout=100
    )
    (wheel,) = folder.glob("shakeout-*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def shipped() -> list[Path]:
    return [path.relative_to(ROOT) for folder in SHIPPED for path in tracked(f"{folder}/**")]


def test_every_tracked_file_of_the_product_is_in_the_wheel(contents: set[str]):
    assert [str(path) for path in shipped() if str(path) not in contents] == []


def test_tests_and_verbs_are_not_in_the_wheel(contents: set[str]):
    assert {name.split("/")[0].split("-")[0] for name in contents} <= {*SHIPPED, "shakeout"}
