"""``agentd run TASK``: one task, and an honest exit code.

The daemon of the state folder does it where one runs. Else it is done here, with everything that
the daemon has.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Final

from runtime.daemon import folder
from runtime.errors import only
from runtime.places import Places
from sandboxes import clock

#: Exit codes: the model ended the task itself, or it did not come to that.
DONE: Final = 0
NOT_DONE: Final = 1
INTERRUPTED: Final = 130
#: Seconds that a daemon which starts or ends may take for it.
_PATIENCE: Final = 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what it takes."""
    parser.add_argument("task", help="what is to be done")


def run(options: argparse.Namespace) -> int:
    """Do the task; what the model said last goes to the output, what went wrong to the errors."""
    try:
        text, why = _done(Places.of(os.environ), options.task)
    except KeyboardInterrupt:
        sys.stderr.write("agentd: not done: it was interrupted\n")
        return INTERRUPTED
    if text:
        sys.stdout.write(f"{text}\n")
    if why is not None:
        sys.stderr.write(f"agentd: not done: {why}\n")
    return DONE if why is None else NOT_DONE


def _done(places: Places, task: str) -> tuple[str, str | None]:
    """What was said last, and why it is not done, if it is not."""
    until = clock.monotonic() + _PATIENCE
    while True:
        with folder.beside(places) as share:
            if share:
                return _here(task, share)
            if places.socket.exists():
                return _there(places, task)
        if clock.monotonic() > until:
            raise folder.FolderBusy(f"another agentd has {places.folder}, and no socket", "stop it")
        clock.sleep(0.05)


def _here(task: str, share: folder.Share) -> tuple[str, str | None]:
    import anyio  # noqa: PLC0415 - none of this is loaded where a daemon does it

    from runtime.daemon.alone import project  # noqa: PLC0415

    try:
        ended = anyio.run(project, os.environ, task, share)
    except BaseExceptionGroup as group:
        raise only(group) from group
    return ended.text, None if ended.done else ended.why


def _there(places: Places, task: str) -> tuple[str, str | None]:
    from runtime.daemon.client import Client  # noqa: PLC0415

    client = Client(places)
    made = client.ask("POST", "/conversations", {"kind": "project", "message": task})
    if made["workspace"] != str(Path.cwd()):
        sys.stderr.write(f"agentd: the daemon does it, in {made['workspace']}\n")
    conversation = f"/conversations/{made['id']}"
    try:
        events = client.events(made["id"], made["after"])
        ended = next(each for kind, each in events if kind == "turn.ended")
    except KeyboardInterrupt:
        client.ask("POST", f"{conversation}/interrupt")
        raise
    said = [each for each in client.ask("GET", conversation)["messages"] if each["role"] != "card"]
    text = said[-1]["content"]["text"] if said[-1]["role"] == "assistant" else ""
    return text, None if ended["data"]["done"] else ended["data"]["why"]
