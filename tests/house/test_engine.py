"""The checkout's own Docker Engine: started from packages, used, and gone without a trace."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.checkout import ROOT, tracked

pytestmark = [
    pytest.mark.long,
    pytest.mark.engine,
    pytest.mark.root,
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("engine"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can start an engine"),
]


def engine(checkout: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name != "DOCKER_HOST"}
    return subprocess.run(
        ["bash", "ci/engine", *argv],
        cwd=checkout,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """A copy of the verbs, so that an engine of the real checkout is left alone."""
    for path in tracked("ci/*", "Dockerfile", ".dockerignore"):
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    (tmp_path / ".engine").mkdir()
    for tar in (ROOT / ".engine").glob("base-*.tar"):
        (tmp_path / ".engine" / tar.name).symlink_to(tar)
    yield tmp_path
    engine(tmp_path, "stop")


def running(checkout: Path) -> list[str]:
    """Processes that see the mark of the checkout's engine, or are in its control group."""
    mark = "shakeout-engine-" + hashlib.sha256(str(checkout).encode()).hexdigest()[:12]
    return [
        entry.name
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and mark in _place(entry)
    ]


def _place(process: Path) -> str:
    try:
        return (process / "cgroup").read_text() + (process / "mountinfo").read_text()
    except OSError:
        return ""


def devices() -> set[Path]:
    return set(Path("/sys/class/net").iterdir())


def test_a_container_runs_without_a_way_out_and_nothing_is_left(checkout: Path):
    before = devices()
    connect = "import socket; socket.create_connection(('192.0.2.1', 80), 20)"
    script = (
        'base=$(docker images -q | head -n 1); docker run --rm "$base" id -u\n'
        f'docker run --rm "$base" python3 -c "{connect}" 2>&1 | tail -n 1\n'
    )
    ended = engine(checkout, "run", "--", "sh", "-c", script)

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[0] == "0"
    assert "unreachable" in ended.stdout.splitlines()[1]
    assert running(checkout) == []
    assert devices() == before
    assert not (checkout / ".engine/owner").exists()


def test_the_exit_code_of_the_command_is_handed_on(checkout: Path):
    assert engine(checkout, "run", "--", "sh", "-c", "exit 7").returncode == 7


def test_what_a_killed_engine_leaves_is_ended_by_stop(checkout: Path):
    started = engine(checkout, "start")
    assert started.returncode == 0, started.stderr
    host = started.stdout.strip().partition("=")[2]
    base = subprocess.run(
        ["docker", "-H", host, "images", "-q"], capture_output=True, text=True, check=True
    ).stdout.split()[0]
    subprocess.run(
        ["docker", "-H", host, "run", "--detach", base, "sleep", "1000"],
        check=True,
        capture_output=True,
    )
    os.kill(int((checkout / ".engine/owner").read_text().split()[0]), signal.SIGKILL)

    assert running(checkout) != []
    assert engine(checkout, "status").returncode == 3
    assert engine(checkout, "stop").returncode == 0
    assert running(checkout) == []


def test_a_path_too_long_for_a_socket_is_no_obstacle(checkout: Path):
    deep = checkout / ("a-folder-with-a-long-name-" * 4)
    deep.mkdir()
    for name in ("ci", ".engine"):
        (checkout / name).rename(deep / name)
    ended = engine(deep, "run", "--", "sh", "-c", 'echo "$DOCKER_HOST"; docker version >/dev/null')

    assert ended.returncode == 0, ended.stderr
    assert not Path(ended.stdout.strip().removeprefix("unix://")).parent.exists()


@pytest.fixture
def own_engine() -> Iterator[None]:
    """Stop the real checkout's engine afterwards, unless it ran before."""
    ran = engine(ROOT, "status").returncode == 0
    yield
    if not ran:
        engine(ROOT, "stop")


@pytest.mark.usefixtures("own_engine")
def test_the_image_runs_shakeout_as_a_user_who_owns_nothing():
    built = engine(ROOT, "image")
    assert built.returncode == 0, built.stderr
    host = built.stdout.strip().partition("=")[2]
    script = "id -u; ls -ld /workspace; shakeout --version; find / -xdev -user agent"
    ended = subprocess.run(
        ["docker", "-H", host, "run", "--rm", "--network", "none", "shakeout", "sh", "-c", script],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.stdout.splitlines()[0] == "61000"
    assert "0.1.0" in ended.stdout
    owned = {line for line in ended.stdout.splitlines()[3:] if line.startswith("/")}
    assert {path for path in owned if not path.startswith("/home/agent")} == {"/workspace"}
