"""``agentd run TASK``: one task, with everything that the daemon has, and an honest exit code."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Final

import anyio

from runtime.agent.loop import Ended
from runtime.daemon.parts import Parts, assembled
from runtime.model.base import Hear, Said

#: Exit codes: the model ended the task itself, or it did not come to that.
DONE: Final = 0
NOT_DONE: Final = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what it takes."""
    parser.add_argument("task", help="what is to be done")


def run(options: argparse.Namespace) -> int:
    """Do the task; what the model said last goes to the output, what went wrong to the errors."""
    ended = anyio.run(_run, options.task)
    if ended.text:
        sys.stdout.write(f"{ended.text}\n")
    if not ended.done:
        sys.stderr.write(f"agentd: not done: {ended.why}\n")
    return DONE if ended.done else NOT_DONE


async def _run(task: str) -> Ended:
    async with assembled(os.environ, _silent) as parts:
        return await project(parts, task)


async def project(parts: Parts, task: str) -> Ended:
    """Carry a task out in a conversation of its own, as a project run."""
    made = await parts.conversations.begin("project", parts.settings.model.name)
    await parts.conversations.add(made, Said("user", task))
    await parts.conversations.take(made)
    conversation = await parts.conversations.find(made)
    if conversation is None:
        return Ended(False, why="its conversation is gone from the store")
    model = parts.model()
    try:
        return await parts.agent.turn(conversation, model)
    finally:
        await model.close()


def _silent(conversation: str) -> Hear:  # noqa: ARG001
    async def hear(piece: str) -> None:
        pass

    return hear
