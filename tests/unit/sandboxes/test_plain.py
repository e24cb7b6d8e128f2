"""A path that is walked name by name leads where the kernel's own walk does, and never out."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from sandboxes.helper import kernel, plain


@pytest.fixture
def root(tmp_path):
    """A folder as a root, with a file beside it that must not be reached."""
    (tmp_path / "outside").write_text("outside")
    folder = tmp_path / "root"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "file").write_text("inside")
    (folder / "outside").write_text("the root's own")
    for name, target in {
        "absolute": "/a/file",
        "relative": "a/../a/file",
        "up": "../outside",
        "a/b/far": "../../../../outside",
        "loop": "loop",
        "folder": "/a",
        "gone": "nowhere",
    }.items():
        (folder / name).symlink_to(target)
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


PATHS = (
    b"a/file",
    b"/a/./file",
    b"absolute",
    b"relative",
    b"up",
    b"a/b/far",
    b"folder/file",
    b"folder/b/far",
    b"../../outside",
    b"loop",
    b"gone",
    b"a/file/x",
    b"nothing",
    b"",
    b"/",
    b"a",
)


def content(action) -> object:
    """What is opened, or the number of the error."""
    try:
        fd = action()
    except OSError as error:
        return error.errno
    try:
        status = os.fstat(fd)
        return status.st_dev, status.st_ino
    finally:
        os.close(fd)


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_PATH, os.O_PATH | os.O_NOFOLLOW])
@pytest.mark.parametrize("path", PATHS)
def test_links_are_followed_within_the_root_as_the_kernel_does_it(root, path, flags):
    theirs = content(lambda: kernel.open_in(root, path or b"/", flags, kernel.RESOLVE_IN_ROOT))

    assert content(lambda: plain.open_in(root, path, flags, 0, links=True)) == theirs


@pytest.mark.parametrize("path", [p for p in PATHS if p.strip(b"/")])
def test_without_links_every_link_and_every_way_out_is_refused(root, path):
    theirs = content(lambda: kernel.open_beneath(root, path.lstrip(b"/"), os.O_RDONLY))
    ours = content(lambda: plain.open_in(root, path.lstrip(b"/"), os.O_RDONLY, 0, links=False))

    assert ours == theirs


def test_a_file_is_made_where_it_was_asked_for(root):
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    os.close(plain.open_in(root, b"folder/new", flags, 0o640, links=True))

    assert os.stat("a/new", dir_fd=root).st_mode & 0o777 == 0o640
    assert content(lambda: plain.open_in(root, b"a/new", flags, 0, links=True)) == errno.EEXIST


def test_no_descriptor_is_left_over(root):
    before = len(list(Path("/proc/self/fd").iterdir()))
    for path in PATHS:
        content(lambda path=path: plain.open_in(root, path, os.O_RDONLY, 0, links=True))

    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_folder_that_a_link_leads_to_is_not_opened(root, monkeypatch):
    monkeypatch.setattr(plain, "is_plain", lambda: True)
    with pytest.raises(NotADirectoryError):
        plain.open_folder("folder", root)
    fd = plain.open_folder("a", root)

    assert os.fstat(fd).st_ino == os.stat("a", dir_fd=root).st_ino
    os.close(fd)
