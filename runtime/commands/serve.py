"""``agentd serve``: the daemon, in the foreground."""

from __future__ import annotations

import argparse
import os

import anyio

#: Exit code of an end that somebody asked for.
ENDED = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what it takes: nothing, for the settings say all of it."""


def run(options: argparse.Namespace) -> int:  # noqa: ARG001
    """Serve until it is ended."""
    from runtime.daemon.server import serve  # noqa: PLC0415 - the server is loaded by no other verb

    anyio.run(serve, os.environ)
    return ENDED
