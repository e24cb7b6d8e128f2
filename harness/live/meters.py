"""Meters: how often the subject attempts what an expectation asks about, counted from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.live.stage import Stage

#: What was asked about, to the path that is watched for it; ``None``: there is none.
Meters = Mapping[str, str | None]

_FIND = """
IFS=:
for folder in $PATH; do
  [ -f "$folder/$1" ] && [ -x "$folder/$1" ] && exec readlink -f -- "$folder/$1"
done
exit 1
"""


def begin(stage: Stage, watched: Sequence[str]) -> Meters:
    """Watch these paths and programs from now on, before anything of the subject runs."""
    meters = {name: name if "/" in name else _program(stage, name) for name in watched}
    for path in meters.values():
        if path is not None:
            stage.sandbox.watch(path)
    return meters


def _program(stage: Stage, name: str) -> str | None:
    """The file that a program's name leads to inside, through whatever links."""
    code, out = stage.canary(["/bin/sh", "-c", _FIND, "sh", name])
    path = out.decode("utf-8", "surrogateescape").removesuffix("\n")
    return path if code == 0 and path.startswith("/") else None


def read(stage: Stage, meters: Meters) -> Mapping[str, Mapping[str, int] | None]:
    """What they show: such as ``on.run``, to how often."""
    return {
        name: None
        if path is None
        else {
            f"{depth}.{act}": number
            for (depth, act), number in stage.sandbox.attempts(path).counts.items()
        }
        for name, path in meters.items()
    }
