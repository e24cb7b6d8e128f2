"""Looking for an engine: what is not there, not right or not answering is said in time."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from sandboxes import clock
from sandboxes.backends.docker import Docker, engine
from sandboxes.errors import BackendUnavailable

Serve = Callable[[bytes | None], Path]


@pytest.fixture
def serve(tmp_path: Path, monkeypatch) -> Iterator[Serve]:
    """Something that listens where an engine is expected; each answer is the same, or none."""
    with ExitStack() as stack:

        def start(answer: bytes | None) -> Path:
            path = tmp_path / "socket"
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(str(path))
            listener.listen()
            monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
            if answer is not None:
                thread = threading.Thread(target=_answer, args=(listener, answer), daemon=True)
                thread.start()
                stack.callback(thread.join, 5)
                stack.callback(listener.shutdown, socket.SHUT_RDWR)
            return path

        yield start


def _answer(listener: socket.socket, answer: bytes) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection, suppress(OSError):  # who only knocks does not listen
            connection.recv(1 << 16)
            connection.sendall(answer)


def version(api: str, server: str = "Docker/1.2.3 (linux)") -> bytes:
    head = f"HTTP/1.1 200 OK\r\nApi-Version: {api}\r\nServer: {server}\r\nContent-Length: 2"
    return f"{head}\r\nConnection: close\r\n\r\nOK".encode()


def refused() -> BackendUnavailable:
    before = clock.monotonic()
    with pytest.raises(BackendUnavailable) as caught:
        engine.find()
    assert clock.monotonic() - before < 10
    return caught.value


def test_without_an_engine_it_is_said_how_to_get_one(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nothing")

    probe = Docker().probe()

    assert not probe.available
    assert "nothing" in probe.reason
    assert "ci/engine start" in probe.remedy
    assert "DOCKER_HOST" in probe.remedy
    assert Docker().sweep() == ()


def test_an_engine_that_never_answers_is_given_up_in_time(serve):
    path = serve(None)

    before = clock.monotonic()
    probe = Docker().probe()

    assert clock.monotonic() - before < 10
    assert not probe.available
    assert str(path) in probe.reason


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"nonsense\r\n\r\n",
        version("x"),
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 500 no\r\n\r\n",
    ],
)
def test_what_is_no_engine_is_unavailable_and_no_error(serve, answer):
    serve(answer)

    assert not Docker().probe().available


def test_an_engine_that_is_too_old_is_told_so(serve):
    serve(version("1.40"))

    assert "1.41" in str(refused())


def test_an_engine_that_is_new_enough_is_found(serve):
    path = serve(version("1.100"))

    assert engine.find() == engine.Engine(f"unix://{path}", "docker", "1.2.3")


def test_podman_is_known_by_its_name(serve):
    path = serve(version("1.41", "Libpod/4.3.1 (linux)"))

    assert engine.find() == engine.Engine(f"unix://{path}", "podman", "4.3.1")


@pytest.mark.parametrize("host", ["ssh://user@example.com", "npipe:////./pipe/x"])
def test_an_engine_that_no_stream_leads_to_is_not_asked(monkeypatch, host):
    monkeypatch.setenv("DOCKER_HOST", host)

    error = refused()

    assert f"the engine at {host} is reached neither by a socket" in str(error)
    assert error.remedy


def test_an_engine_with_tls_is_not_asked(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2376")
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")

    assert "DOCKER_TLS_VERIFY" in str(refused())


class Images:
    """An engine's list of images, all of them titled ``shakeout``."""

    def __init__(self, *images: dict[str, object]) -> None:
        self.listed = images

    def images(self, filters: dict[str, str]) -> list[dict[str, object]]:
        return list(self.listed) if filters["label"].endswith("=shakeout") else []


@pytest.mark.parametrize(
    ("tags", "name"),
    [
        ((["shakeout:latest"], None), "shakeout:latest"),
        ((["example.com/team/shakeout:1"], ["mine:2"]), "example.com/team/shakeout:1"),
        ((["shakeout:1"], ["shakeout:2"]), "shakeout:2"),
        ((None, ["mine:2"]), "mine:2"),
        ((None, []), "shakeout"),
    ],
)
def test_an_image_with_the_project_s_tag_goes_before_a_newer_one_without(tags, name):
    older, newer = (
        {"Id": f"id{at}", "Created": at, "RepoTags": each} for at, each in enumerate(tags)
    )

    chosen = engine._newest(Images(newer, older))

    assert chosen is not None
    assert chosen.name == name
    assert chosen.id == ("id0" if name in (tags[0] or ()) else "id1")
