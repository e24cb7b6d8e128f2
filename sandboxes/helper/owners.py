"""Names that prove whose a control group is: run, owner's pid, its start, its pid namespace.

A pid alone can be somebody else's by now; a pid with its start time cannot, as long as it is
looked up in the namespace it comes from. Groups do not survive a reboot, so no boot id.
"""

from __future__ import annotations

import os
import re

PREFIX = "shakeout-"
_NAME = re.compile(PREFIX + r"(?P<run>.+)\.(?P<pid>\d+)\.(?P<ticks>\d+)\.(?P<ns>\d+)")


def name(run: str, owner: int) -> str:
    """The name of the site group: it proves whose the groups are."""
    return f"{PREFIX}{run}.{owner}.{start_ticks(owner)}.{os.stat('/proc/self/ns/pid').st_ino}"


def dead_run(name: str) -> str | None:
    """The run that a group belonged to, if its owner is known to be dead."""
    match = _NAME.fullmatch(name)
    if match is None or int(match["ns"]) != os.stat("/proc/self/ns/pid").st_ino:
        return None
    ticks = start_ticks(int(match["pid"]))
    return None if ticks and ticks == int(match["ticks"]) else match["run"]


def start_ticks(pid: int) -> int:
    """When a process started, in clock ticks since boot; 0 if it is gone or a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] in "ZX" else int(fields[19])
