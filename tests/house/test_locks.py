"""What is installed is locked by hash, and the locks say nothing of where it comes from."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.house.checkout import ROOT

LOCKS = sorted((ROOT / "ci/requirements").glob("*.txt"))
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())


def locked(name: str) -> dict[str, list[str]]:
    """Requirement line to hashes, of one lock file."""
    joined = (ROOT / "ci/requirements" / name).read_text().replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if line.strip()]
    return {line.split(" --hash=")[0].strip(): re.findall(r"--hash=(\S+)", line) for line in lines}


def versions(name: str) -> dict[str, set[Version]]:
    """What a lock file pins each name to; more than one where markers tell them apart."""
    pins: dict[str, set[Version]] = {}
    for line in locked(name):
        requirement = Requirement(line)
        (specifier,) = requirement.specifier
        pins.setdefault(requirement.name, set()).add(Version(specifier.version))
    return pins


def group(name: str) -> Iterator[str]:
    for entry in PROJECT["dependency-groups"][name]:
        if isinstance(entry, dict):
            yield from group(entry["include-group"])
        else:
            yield entry


DEPENDENCIES: list[str] = PROJECT["project"]["dependencies"]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_line_of_a_lock_is_an_exact_version_with_its_hashes(lock):
    for line, hashes in locked(lock.name).items():
        assert [spec.operator for spec in Requirement(line).specifier] == ["=="], line
        assert hashes, line
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", value) for value in hashes), line


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_names_no_index(lock):
    assert not re.search(r"://|^\s*-[-if]", lock.read_text().replace("--hash", ""), re.MULTILINE)


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        ("base.txt", DEPENDENCIES),
        ("dev.txt", [*DEPENDENCIES, *group("dev"), *group("build")]),
        ("node.txt", list(group("node"))),
    ],
)
def test_the_locks_hold_what_the_project_asks_for(lock: str, wanted: list[str]):
    pins = versions(lock)
    for requirement in map(Requirement, wanted):
        name = canonicalize_name(requirement.name)
        assert name in pins, f"{name} is not in {lock}: run ci/setup --lock"
        assert all(requirement.specifier.contains(pin) for pin in pins[name]), requirement


def test_the_two_environments_agree():
    assert versions("base.txt").items() <= versions("dev.txt").items()


@pytest.mark.parametrize("folder", ["agents", "peers"])
def test_what_npm_installs_is_pinned_by_hash_and_by_no_address(folder: str):
    lock = json.loads((ROOT / "ci" / folder / "package-lock.json").read_text())
    asked = json.loads((ROOT / "ci" / folder / "package.json").read_text())["dependencies"]
    packages = {path: entry for path, entry in lock["packages"].items() if path}

    assert lock["packages"][""]["dependencies"] == asked
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in asked.values())
    assert all(entry["integrity"].startswith("sha512-") for entry in packages.values())
    assert [path for path, entry in packages.items() if "resolved" in entry] == []
