"""Only "does not exist" means that the kill switch is not tripped."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from runtime.recovery.killswitch import tripped


def test_where_nothing_is_nothing_stops(tmp_path: Path):
    assert tripped(tmp_path / "RESILIENCE_ACT_OFF") is None
    assert tripped(tmp_path / "no folder" / "RESILIENCE_ACT_OFF") is None


def _file(path: Path) -> Path:
    path.write_text("")
    return path


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


def _pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def _dangling(path: Path) -> Path:
    path.symlink_to("nowhere")
    return path


def _loop(path: Path) -> Path:
    folder = path.with_name("loop")
    folder.symlink_to("loop")
    return folder / path.name


def _below_a_file(path: Path) -> Path:
    return _file(path) / "RESILIENCE_ACT_OFF"


def _too_long(path: Path) -> Path:
    return path.with_name("n" * 300)


def _no_name(path: Path) -> Path:
    return path.with_name("a\0b")


@pytest.mark.parametrize(
    "make", [_file, _folder, _pipe, _dangling, _loop, _below_a_file, _too_long, _no_name]
)
def test_whatever_else_is_found_stops(tmp_path: Path, make: object):
    assert callable(make)
    path = make(tmp_path / "RESILIENCE_ACT_OFF")

    why = tripped(path)

    assert why is not None
    assert str(path) in why


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.ESTALE, errno.EPERM])
def test_what_cannot_be_looked_at_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int):
    def lstat(path: Path) -> os.stat_result:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, "lstat", lstat)

    assert os.strerror(code) in (tripped(tmp_path / "RESILIENCE_ACT_OFF") or "")
