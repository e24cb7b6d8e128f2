"""The contract of a subject adapter.

An adapter says how an agent is started headless against the scripted model and where its
own traces lie. It never patches the agent, and nothing it says about an outcome is believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from harness.case.model import Case, SubjectRef
from harness.extension import Extension
from sandboxes.base import Mount, Planted


@dataclass(frozen=True, slots=True)
class Identity:
    """What is tested, pinned: ``digest`` is ``sha256:…`` of what runs."""

    name: str
    version: str
    digest: str


@dataclass(frozen=True, slots=True)
class Missing:
    """The subject is not installed here.

    Attributes:
        reason: what was looked for, and where.
        remedy: the command that installs it.
    """

    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Dialect:
    """How an agent's requests are to be read.

    Attributes:
        offers_tools: its working requests offer tools, so one without is a side request,
            also when it comes first.
        tools: names of the tools to prefer for ``run``, ``write`` and ``read``, in order;
            else the request's own schemas decide.
        extra: arguments to add to a call of a tool, by its name.
    """

    offers_tools: bool = False
    tools: Mapping[str, Sequence[str]] = field(default_factory=dict)
    extra: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start it.

    Attributes:
        argv: the program and its arguments, placeholders replaced.
        env: added to the sandbox's environment.
        home: planted in the home beside the case's files.
        mounts: shown read-only.
        own: globs, relative to the home, of paths that are the agent's own.
    """

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    home: Sequence[Planted] = ()
    mounts: Sequence[Mount] = ()
    own: Sequence[str] = ()


class Subject(Extension, Protocol):
    """One agent, or ``command``. ``schema`` describes its parameters in a case."""

    @property
    def dialect(self) -> Dialect: ...

    def identify(self, ref: SubjectRef, case: Case) -> Identity | Missing:
        """Find what would run, and its digest; cached where it is costly."""

    def launch(self, ref: SubjectRef, case: Case) -> Launch:
        """How to start it for this case; called only after :meth:`identify` found it."""

    def final_text(self, stdout: bytes) -> str | None:
        """The agent's last message, read from its output; ``None`` where there is none."""
