"""A file that is longer than anybody can read is listed without its hash, at once."""

from __future__ import annotations

import os

import pytest

from sandboxes.helper import plain, rows


@pytest.mark.parametrize("is_plain", [False, True])
def test_a_petabyte_of_nothing_is_not_hashed_whether_or_not_holes_are_told(
    is_plain, tmp_path, monkeypatch
):
    monkeypatch.setattr(plain, "is_plain", lambda: is_plain)
    rows.holes.renew()
    (tmp_path / "small").write_text("x")
    sparse = tmp_path / "sparse"
    sparse.touch()
    os.truncate(sparse, 1 << 42)
    status = sparse.stat()
    allocated = status.st_size // 512 if is_plain else status.st_blocks
    told = os.stat_result([*status[:10], *[0] * 9], {"st_blocks": allocated})
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        assert rows.row(folder, "sparse", told)[5] is None
        assert rows.row(folder, "small", (tmp_path / "small").stat())[5] is not None
    finally:
        os.close(folder)
