"""What is planted is not given away for something else that was put in its place."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandboxes.helper import kernel, paths

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
AGENT = 61234


@pytest.fixture
def root(tmp_path) -> Iterator[int]:
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


@pytest.fixture
def swap(tmp_path, monkeypatch) -> Callable[[Path], None]:
    """Have what is made next be swapped for another thing before it is looked at."""

    def swap(prize: Path) -> None:
        def racing(folder: int, name: bytes, flags: int, mode: int = 0) -> int:
            monkeypatch.setattr(kernel, "open_beneath", real)
            made = Path(f"/proc/self/fd/{folder}") / os.fsdecode(name)
            made.rename(tmp_path / "aside")
            prize.rename(made)
            return real(folder, name, flags, mode)

        real = kernel.open_beneath
        monkeypatch.setattr(kernel, "open_beneath", racing)

    return swap


def folder_of_root(place: Path) -> None:
    place.mkdir(mode=0o700)
    (place / "inside").touch()


@pytest.mark.parametrize("make", [Path.touch, folder_of_root, lambda place: place.symlink_to("x")])
def test_a_folder_that_was_swapped_is_not_given_away(make, tmp_path, root, swap):
    make(prize := tmp_path / "prize")
    before = prize.lstat()
    swap(prize)

    with pytest.raises(paths.Refused, match="'a' was replaced while it was made"):
        paths.make_folders(root, [b"a"], AGENT)

    now = (tmp_path / "a").lstat()
    assert (now.st_ino, now.st_uid) == (before.st_ino, 0)


@pytest.mark.parametrize("make", [Path.touch, folder_of_root])
def test_a_link_that_was_swapped_is_not_given_away(make, tmp_path, root, swap, monkeypatch):
    make(prize := tmp_path / "prize")
    before = prize.lstat()
    monkeypatch.setattr(paths, "open_folder", lambda root, names: os.dup(root))
    swap(prize)

    with pytest.raises(paths.Refused, match="was replaced while it was made"):
        paths.plant(root, {"path": "link", "kind": "link", "target": "there"}, b"", AGENT)

    (now,) = [path.lstat() for path in tmp_path.iterdir() if path.lstat().st_ino == before.st_ino]
    assert now.st_uid == 0


def test_what_was_not_swapped_is_given_away(tmp_path, root):
    paths.plant(root, {"path": "a/link", "kind": "link", "target": "there"}, b"", AGENT)

    assert [(tmp_path / path).lstat().st_uid for path in ("a", "a/link")] == [AGENT] * 2
