"""Errors of the sandbox layer.

::

    SandboxError
    ├── BackendUnavailable   the backend cannot work here
    ├── SandboxLost          the place died or stopped answering
    ├── CommandNotFound      argv[0] is not there, or not executable
    └── AddressInUse         an address inside is taken

What the subject does (exit codes, signals, running out of memory) is no error.
"""

from __future__ import annotations


class SandboxError(Exception):
    """The place did not do what was asked of it; the message says what and why."""


class BackendUnavailable(SandboxError):
    """The backend cannot work on this machine.

    Attributes:
        remedy: what to run or do about it.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class SandboxLost(SandboxError):
    """The sandbox, or the helper that keeps it, died or stopped answering."""


class CommandNotFound(SandboxError):
    """The program to start is not in the sandbox or cannot be executed."""


class AddressInUse(SandboxError):
    """Something in the sandbox listens on the address already."""


class NotJoinable(SandboxError):
    """A container cannot be entered from here: its kernel, or its machine, is another."""
