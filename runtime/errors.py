"""What stops a command, said so that a person can act on it."""

from __future__ import annotations


def only(error: BaseException) -> BaseException:
    """What a group of task groups' errors is about: the first that is none itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class AgentdError(Exception):
    """Something that the user has to put right.

    Attributes:
        remedy: what to do about it.
    """

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}" if remedy else what)
        self.remedy = remedy
