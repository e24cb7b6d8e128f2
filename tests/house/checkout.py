"""The checkout as Git sees it."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def tracked(*patterns: str) -> list[Path]:
    """Files in the index or new and not ignored that are there, in order."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    paths = sorted(ROOT / name for name in set(listing.stdout.split("\0")) if name)
    return [path for path in paths if path.is_file()]
