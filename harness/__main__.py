"""``python -m harness`` is the ``shakeout`` command."""

import os
import sys


def _leave_current_folder() -> None:
    """Take the current folder off the path, where ``-m`` has put it, unless we are loaded from it.

    It is the user's, and a ``yaml.py`` in it is not for us. Nothing is imported before.
    """
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    if not sys.flags.safe_path and sys.path[0] == os.getcwd() != ours:  # noqa: PTH109
        del sys.path[0]


if __name__ == "__main__":
    _leave_current_folder()
    from harness.cli import main

    sys.exit(main())
