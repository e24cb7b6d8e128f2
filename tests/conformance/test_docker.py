"""What is the engine's part in a sandbox, seen through the engine."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import signal
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandboxes import clock
from sandboxes.backends.docker import Docker, container
from sandboxes.base import ROOT, Limits, Planted, SandboxSpec
from sandboxes.errors import BackendUnavailable, CommandNotFound, SandboxError, SandboxLost
from sandboxes.helper import owners
from tests.conformance.containers import found, knows, of_run
from tests.conformance.room import Room, eventually

pytestmark = [
    pytest.mark.engine,
    pytest.mark.xdist_group("docker"),
    pytest.mark.usefixtures("docker"),
]
_numbers = itertools.count()


def test_the_container_is_closed_limited_and_labelled(docker, client):
    run = f"labelled-{os.getpid()}"
    limits = Limits(memory=256 << 20, pids=50)
    with docker.site(run) as site:
        sandbox = site.create(SandboxSpec("one", limits))
        try:
            (identity,) = of_run(run)
            seen = client.inspect_container(identity)
            status = Path(f"/proc/{seen['State']['Pid']}/status").read_text()
        finally:
            assert sandbox.destroy() == []
        assert of_run(run) == []

    host, labels = seen["HostConfig"], seen["Config"]["Labels"]
    assert (host["NetworkMode"], host["ReadonlyRootfs"], host["AutoRemove"]) == ("none", True, True)
    assert (host["CapAdd"] or [], host["Privileged"]) == ([], False)
    assert re.search(r"^CapBnd:\t0+$", status, re.M), "whatever the engine calls it"
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert (host["Memory"], host["MemorySwap"]) == (limits.memory, limits.memory)
    assert host["PidsLimit"] == limits.pids + 1
    assert host["LogConfig"]["Type"] == "none"
    assert (host["Binds"] or [], seen["Mounts"]) == ([], [])
    assert labels["shakeout.run"] == run
    assert labels["shakeout.owner"] == owners.name(run, os.getpid())
    assert labels["shakeout.boot"] == container.boot_id()
    assert int(labels["shakeout.deadline"]) > clock.wall()


def test_what_a_subject_does_to_the_system_never_reaches_the_engine(docker, client):
    run = f"kept-out-{os.getpid()}"
    with docker.site(run) as site:
        room = Room(site.create(SandboxSpec("one")))
        room.ok("echo evil > /etc/evil; rm /usr/bin/env; echo x > /tmp/x", user=ROOT)
        (identity,) = of_run(run)
        changed = {each["Path"] for each in client.diff(identity) or ()}
        assert {c.path for c in room.sandbox.listing().system} == {
            "/etc/evil",
            "/usr/bin/env",
            "/tmp/x",
        }
        assert room.leave() == []

    assert not {path for path in changed if "evil" in path or "env" in path or "tmp" in path}


def test_the_engine_lists_and_stops_what_the_subject_runs(docker, client):
    run = f"seen-{os.getpid()}"
    with docker.site(run) as site:
        room = Room(site.create(SandboxSpec("one")))
        running = room.start("sh", "-c", "echo up; sleep 1000")
        assert running.line() == "up"
        (identity,) = of_run(run)
        listed = " ".join(" ".join(row) for row in client.top(identity)["Processes"])
        assert "sleep 1000" in listed

        client.kill(identity, "KILL")

        before = clock.monotonic()
        with pytest.raises(SandboxLost):
            eventually(lambda: room.sandbox.processes() is None, 5)
        assert clock.monotonic() - before < 5
        assert room.leave() == []
    eventually(lambda: of_run(run) == [])


def test_a_container_that_is_removed_behind_our_back_is_no_leftover(docker, client):
    run = f"removed-{os.getpid()}"
    with docker.site(run) as site:
        room = Room(site.create(SandboxSpec("one")))
        container.remove(client, of_run(run)[0])
        assert room.leave() == []


@pytest.fixture
def hostile(client, tmp_path, monkeypatch) -> Iterator[Path]:
    """A folder of the host, and an image whose paths of ours are links into it."""
    one = found()
    assert one is not None
    folder = tmp_path / "host"
    folder.mkdir()
    (folder / "hosts").write_text("the host's")
    links = {"workspace": folder, "etc/hosts": folder / "hosts", "etc/passwd": folder / "passwd"}
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for path, target in links.items():
            entry = tarfile.TarInfo(path)
            entry.type, entry.linkname = tarfile.SYMTYPE, str(target)
            tar.addfile(entry)
    base = client.images(filters={"label": "org.opencontainers.image.title=shakeout-base"})[0]["Id"]
    holder = client.create_container(base, "true")["Id"]
    client.put_archive(holder, "/", archive.getvalue())
    image = client.commit(holder)["Id"]
    client.remove_container(holder)
    monkeypatch.setenv("SHAKEOUT_IMAGE", image)
    yield folder
    client.remove_image(image)


def test_an_image_cannot_lead_us_out_by_its_links(docker, hostile):
    with docker.site(f"hostile-{os.getpid()}") as site:
        spec = SandboxSpec("one", workspace=[Planted("planted", content=b"x")])
        with contextlib.suppress(SandboxError):  # to refuse is right too
            room = Room(site.create(spec))
            room.shell("echo x > /workspace/y; echo x > /etc/hosts", user=ROOT)
            assert room.ok("cat /workspace/planted") == "x"
            assert "sandbox" in room.ok("cat /etc/hosts")
            assert room.leave() == []

    assert sorted(path.name for path in hostile.iterdir()) == ["hosts"]
    assert (hostile / "hosts").read_text() == "the host's"


def test_whoever_fills_the_memory_with_files_dies_before_the_container(docker):
    """What fills it is nobody's memory, so the kernel's choice is between small programs."""
    with docker.site(f"small-{os.getpid()}") as site:
        room = Room(site.create(SandboxSpec("one", Limits(memory=16 << 20, disk=16 << 20))))
        assert room.ok("cat /proc/self/oom_score_adj") == "1000"
        for _ in range(3):
            assert room.shell("exec cat /dev/zero > /tmp/x").signal == signal.SIGKILL
            assert room.shell("true").signal == signal.SIGKILL, "there is no memory for anything"
            room.sandbox.limit(memory=64 << 20)
            room.ok("rm /tmp/x")
            room.sandbox.reset_limit("memory")
        assert (room.sandbox.usage().oom_kills or 0) >= 6
        assert room.leave() == []


def test_an_image_of_a_single_program_is_enough(docker, tiny):
    tiny("bin/cat")
    with docker.site(f"tiny-{os.getpid()}") as site:
        room = Room(
            site.create(SandboxSpec("one", zone="Asia/Kathmandu", hosts={"up": "127.0.1.1"}))
        )
        reading, writing = os.pipe()
        running = room.start("cat", stdin=reading)
        os.close(reading)
        os.write(writing, b"echoed")
        os.close(writing)
        assert running.finish().out == b"echoed"
        with pytest.raises(CommandNotFound):
            room.start("sh")
        assert room.sandbox.listing().system == []
        assert room.leave() == []


def test_an_image_without_a_program_that_waits_is_told_so(docker, tiny):
    tiny("bin/dog")
    with docker.site(f"mute-{os.getpid()}") as site:
        with pytest.raises(SandboxError, match="/bin/cat"):
            site.create(SandboxSpec("one"))
        assert of_run(f"mute-{os.getpid()}") == []


@pytest.mark.usefixtures("gvisor")
def test_a_runtime_with_a_kernel_of_its_own_gets_a_sidecar_without_being_told(client, monkeypatch):
    monkeypatch.setenv("SHAKEOUT_RUNTIME", "runsc")
    run = f"apart-{os.getpid()}"
    backend = Docker()
    with backend.site(run) as site:
        room = Room(site.create(SandboxSpec("one")))
        (identity,) = of_run(run)
        seen = client.inspect_container(identity)
        assert room.ok("id -un") == "agent"
        assert room.leave() == []

    assert seen["HostConfig"]["Runtime"] == "runsc"
    probe = backend.probe()
    assert probe.versions["containers"].startswith("with a sidecar in each: ")
    assert "a kernel of its own" in probe.versions["containers"]
    assert "SHAKEOUT_RUNTIME" in probe.capabilities["oom"].remedy
    assert of_run(run) == []


@pytest.fixture
def gvisor() -> None:
    if not knows("runsc"):
        pytest.skip("the engine knows no gVisor: apt-get install runsc, then ci/engine start")


def test_a_runtime_that_the_engine_does_not_know_is_named(docker, monkeypatch):
    monkeypatch.setenv("SHAKEOUT_RUNTIME", "no-such-runtime")
    with refused("no-such-runtime"), docker.site(f"odd-{os.getpid()}") as site:
        site.create(SandboxSpec("one"))


def refused(why: str):
    """Podman is never asked: it would take another runtime, and say nothing."""
    return pytest.raises(SandboxError, match=f"{why}|Podman takes no runtime")


def test_an_image_that_is_not_there_is_not_pulled(docker, monkeypatch):
    monkeypatch.setenv("SHAKEOUT_IMAGE", "no-such-image:at-all")

    with pytest.raises(BackendUnavailable, match="no-such-image") as caught, docker.site("none"):
        pass

    assert "SHAKEOUT_IMAGE" in caught.value.remedy
