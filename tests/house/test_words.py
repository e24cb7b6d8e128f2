"""No file names a registry's host, or a path that only one machine has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.house.checkout import ROOT, tracked

# Written in parts, so that this file can be searched as well.
HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("deb", "debian", "org"),
        ("security", "debian", "org"),
        ("archive", "ubuntu", "com"),
        ("index", "docker", "io"),
        ("hub", "docker", "com"),
        ("ghcr", "io"),
        ("quay", "io"),
        ("crates", "io"),
        ("rubygems", "org"),
        ("proxy", "golang", "org"),
    )
]
HOST = re.compile(r"(?<![\w-])(" + "|".join(map(re.escape, HOSTS)) + r")\b", re.IGNORECASE)

# Folders of one person or one machine; the sandbox's own /home/agent is the same everywhere.
PRIVATE = re.compile(r"(?<![\w.~}/-])/(?:work|Users|root/\.?\w+|home/(?!agent\b)[a-z]\w*)/")
PIPED = re.compile(r"\b(?:curl|wget)\b[^\n|]*\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b")


def text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def found(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in tracked()
        for match in pattern.finditer(text(path))
    ]


def test_no_file_names_the_host_of_a_registry():
    assert found(HOST) == []


def test_no_file_names_a_folder_of_one_machine():
    assert found(PRIVATE) == []


def test_nothing_is_fetched_and_run_in_one_go():
    assert found(PIPED) == []


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_is_recognised_in_an_address(host: str):
    assert HOST.search(f"see https://{host}/simple")
    assert HOST.search(f"from https://files.{host}/x")


@pytest.mark.parametrize(
    ("line", "private"),
    [
        ("at " + "/work" + "/main/x", True),
        ("in /home/" + "ada/src", True),
        ("in /home/agent/src", False),
        ("below out/work/x", False),
        ("/" + "root/.cache/x", True),
    ],
)
def test_a_private_folder_is_told_from_the_sandbox_s_own(line: str, private: bool):
    assert bool(PRIVATE.search(line)) is private


def test_the_package_docker_io_is_no_host():
    assert not HOST.search("apt-get install docker.io")
