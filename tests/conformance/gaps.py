"""What a backend is known not to do, by backend and grade.

The table is strict in both directions: a capability that is missing and not listed fails,
and so does one that is listed and works.
"""

from __future__ import annotations

from collections.abc import Mapping

GAPS: Mapping[tuple[str, str], frozenset[str]] = {
    ("bubblewrap", "root"): frozenset(),
    ("docker", "root"): frozenset(),
    ("bubblewrap", "user"): frozenset(
        {"limits.memory", "oom", "files.system", "user.separate", "user.root"}
    ),
}
