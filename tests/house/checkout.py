"""The checkout as Git sees it."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
WHICH = ("--cached", "--others", "--exclude-standard")


def tracked(*patterns: str) -> list[Path]:
    """Files in the index or new and not ignored that are there, in order."""
    listing = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", *WHICH, "--", *patterns],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    paths = sorted(ROOT / name for name in set(listing.stdout.split("\0")) if name)
    return [path for path in paths if path.is_file()]
