"""Folders that cases show to their subjects: pytest must not run what lies in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from harness.case import yaml
from harness.case.errors import CaseErrors
from harness.case.find import files_within, is_case


class Mounted:
    """The folders that the cases beneath what was named mount.

    A file ``conftest.py`` or ``test_x.py`` in one of them is the subject's, and collecting it
    would run it on the host.
    """

    def __init__(self, named: Iterable[Path]) -> None:
        self._named = tuple(named)

    def __contains__(self, path: Path) -> bool:
        """Whether a path is, or lies in, such a folder, by whatever links it is reached."""
        found = path.resolve()
        return not self._sources.isdisjoint((found, *found.parents))

    @cached_property
    def _sources(self) -> frozenset[Path]:
        return frozenset(source for path in self._cases() for source in _sources(path))

    def _cases(self) -> Iterator[Path]:
        for path in self._named:
            files = files_within(path) if path.is_dir() else (path,)
            yield from (file for file in files if is_case(file))


def named(config: pytest.Config, words: Iterable[str]) -> Iterator[Path]:
    """The paths among the words of a command line; an item's id begins with one."""
    for word in words:
        path = config.invocation_params.dir / word.partition("::")[0]
        if path.exists():
            yield path


def _sources(path: Path) -> Iterator[Path]:
    """What a case mounts; nothing of a file that cannot be read, which is refused later."""
    try:
        document: Any = yaml.read(path).data
    except CaseErrors:
        return
    workspace = document.get("workspace") if isinstance(document, dict) else None
    mount = workspace.get("mount") if isinstance(workspace, dict) else None
    for source in mount if isinstance(mount, dict) else ():
        found = (path.parent / str(source)).resolve()
        if found not in path.resolve().parents:  # it would hold the case and all beside it
            yield found
