"""Build the shim: ``python -m sandboxes.wall``."""

from __future__ import annotations

import sys

from sandboxes import wall


def main() -> int:
    """Compile; 0 when the shim is there, 3 when there is no compiler, 1 when it failed."""
    try:
        print(wall.build())  # noqa: T201 - what the command is for
    except wall.NotBuilt as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 3 if error.no_compiler else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
