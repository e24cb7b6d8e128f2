"""What a backend is known not to do, by backend and grade.

The table is strict in both directions: a capability that is missing and not listed fails,
and so does one that is listed and works.
"""

from __future__ import annotations

from collections.abc import Mapping

GAPS: Mapping[tuple[str, str], frozenset[str]] = {
    ("bubblewrap", "root"): frozenset(),
    ("docker", "root"): frozenset(),
    ("docker/sidecar", "root"): frozenset(),
    ("docker/runsc", "root"): frozenset(
        {
            "disk.resize",
            "files.answers",
            "files.attempts",
            "files.holds",
            "files.locks",
            "limits.memory",
            "nest",
            "network.binds",
            "network.counter",
            "oom",
            "process.descriptors",
            "processes.inspected",
            "remount",
        }
    ),
    ("bubblewrap", "user"): frozenset(
        {"limits.memory", "oom", "files.system", "user.separate", "user.root"}
    ),
}
