"""A sandbox from nothing to destroyed, beside the least that could do the same.

Ours creates the place, runs ``true`` in it, freezes it, lists what changed, kills and
destroys. Beside it: ``bwrap`` alone over an overlay mounted for it, and ``docker run --rm``.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from ci.measure.figures import Figure, Unavailable, alternate
from sandboxes import proc
from sandboxes.base import ProcessSpec, SandboxSpec, Site
from sandboxes.registry import BACKENDS

ROUNDS = 30
DOCKER_ROUNDS = 5
ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/agent"}


def figures() -> Iterator[Figure | Unavailable]:
    """The embedded backend beside bare bwrap and beside docker."""
    backend = BACKENDS["bubblewrap"]
    probe = backend.probe()
    if not probe.available:
        yield Unavailable("sandbox", probe.reason)
        return
    with ExitStack() as stack:
        site = stack.enter_context(backend.site("bench"))
        yield _beside_bwrap(site, Path(stack.enter_context(tempfile.TemporaryDirectory())))
        yield _beside_docker(site)


def _beside_bwrap(site: Site, folder: Path) -> Figure | Unavailable:
    what = "sandbox: create, true, list, destroy"
    if os.geteuid() != 0:
        return Unavailable(what, "bare bwrap over an overlay is measured as root")
    mine, beside = alternate(ROUNDS, lambda: ours(site), lambda: _bare(folder))
    return Figure(what, mine, beside, "ms", "bare bwrap over an overlay", goal=3)


def _beside_docker(site: Site) -> Figure | Unavailable:
    what = "sandbox: create, true, list, destroy"
    engine = proc.run(["bash", "ci/engine", "start"], timeout=300, env=dict(os.environ))
    if not engine.ok:
        return Unavailable(f"{what}, beside docker", engine.stderr.decode().strip())
    name, _, host = engine.stdout.decode().strip().partition("=")
    env = {**os.environ, name: host, "DOCKER_CONFIG": str(Path(".engine/config").resolve())}
    image = _image(env)
    mine, beside = alternate(DOCKER_ROUNDS, lambda: ours(site), lambda: _docker(image, env))
    return Figure(what, mine, beside, "ms", "docker run --rm", goal=0.05)


def ours(site: Site) -> None:
    """A sandbox from nothing to destroyed."""
    sandbox = site.create(SandboxSpec(name="bench"))
    null = os.open(os.devnull, os.O_RDWR)
    try:
        sandbox.start(ProcessSpec(argv=["true"], env=ENV, stdout=null, stderr=null))
        sandbox.wait(10)
        sandbox.freeze()
        sandbox.listing()
        sandbox.kill()
    finally:
        os.close(null)
        sandbox.destroy()


def _bare(folder: Path) -> None:
    parts = {name: folder / name for name in ("upper", "work", "merged")}
    for part in parts.values():
        part.mkdir(exist_ok=True)
    options = f"lowerdir=/,upperdir={parts['upper']},workdir={parts['work']}"
    merged = str(parts["merged"])
    _must("mount", "-t", "overlay", "overlay", "-o", options, merged)
    try:
        _must(
            "bwrap",
            "--unshare-all",
            "--bind",
            merged,
            "/",
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "true",
        )
        list(parts["upper"].rglob("*"))
    finally:
        _must("umount", merged)


def _docker(image: str, env: dict[str, str]) -> None:
    _must("docker", "run", "--rm", image, "true", env=env)


def _image(env: dict[str, str]) -> str:
    names = proc.run(["docker", "images", "--format", "{{.Repository}}:{{.Tag}}"], env=env)
    return next(name for name in names.stdout.decode().split() if name.startswith("shakeout-base:"))


def _must(*argv: str, env: dict[str, str] | None = None) -> None:
    """Wait as a shell does: a wait with a deadline polls, which would be charged to the other."""
    subprocess.run(argv, env=env, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
