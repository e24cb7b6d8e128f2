"""Files that cases show to their subjects: pytest must not run them on the host.

A ``conftest.py`` or ``test_x.py`` in a folder that a case mounts is the subject's. Pytest runs the
one of every folder that it enters, or that lies above what is named, so cases are looked for not
only among what is named.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterable, Iterator
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from harness.case import yaml
from harness.case.errors import CaseErrors
from harness.case.find import SUFFIXES, is_case, is_run_folder

_KEY = "mount"


class Mounted:
    """What the cases of a session and around it mount.

    They are looked for beneath what is named, beneath the root of pytest and the folder where it
    was started, and in the folders above what is named.

    Attributes:
        unclear: what is wrong with cases of which it cannot be told what they mount.
        left: files with tests that were left alone beside cases, where the user's could be.
    """

    def __init__(self, config: pytest.Config) -> None:
        """Look at nothing yet, for ``config`` has still to read the command line."""
        self._config = config
        self.unclear: list[str] = []
        self.left = 0

    def __contains__(self, path: Path) -> bool:
        """Whether a file or folder is, or lies in, what a case mounts or perhaps mounts."""
        around = _around(path)
        found = any(not around.isdisjoint(sources) for sources in self._sources.values())
        return found or bool(self.unclear)

    def apart(self, path: Path) -> bool:
        """Whether a folder is wholly the subject's: not one that holds the case as well."""
        around = _around(path)
        return any(
            around.intersection(source for source in sources if source not in _around(folder))
            for folder, sources in self._sources.items()
        )

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self) -> Generator[None]:
        """Refuse the session where it would begin with a subject's ``conftest.py``."""
        try:
            yield
        except pytest.Collector.CollectError as error:
            raise pytest.UsageError(*error.args) from error

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave alone what is the subject's, but for cases beside it."""
        if collection_path.suffix in SUFFIXES or collection_path.is_dir():
            return True if self.apart(collection_path) else None
        if collection_path not in self:
            return None
        tests = self._config.getini("python_files")
        self.left += any(fnmatch(collection_path.name, pattern) for pattern in tests)
        return True

    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Dir | None:
        """Have no package be one where its ``__init__.py`` is the subject's."""
        return pytest.Dir.from_parent(parent, path=path) if path in self else None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collect_file(self, file_path: Path) -> Generator[None, object, object]:
        """Refuse what is named itself, which no plugin can ignore."""
        found = yield
        if found and file_path.suffix not in SUFFIXES and file_path in self:
            raise pytest.Collector.CollectError(self.refusal(file_path))
        return found

    def refusal(self, path: Path) -> str:
        """Why a file is not run."""
        if self.unclear:
            return f"{self.unclear[0]}; what the case mounts is unclear, so {path} is not run"
        message = f"{path.parent} is mounted by a case, and pytest would run its {path.name} here"
        return f"{message}; give the folder another name, or --noconftest"

    @cached_property
    def _sources(self) -> dict[Path, set[str]]:
        """Folders with cases, and what these mount."""
        found: dict[Path, set[str]] = {}
        for case in self._cases():
            try:
                found.setdefault(case.parent, set()).update(_sources(case))
            except CaseErrors as error:
                self.unclear.append(str(error.errors[0]))
        return found

    def _cases(self) -> Iterator[Path]:
        named = list(_named(self._config))
        wide = [self._config.rootpath, self._config.invocation_params.dir]
        home = Path.home()
        trees = [path for path in named if path.is_dir()]
        trees += [path for path in wide if path not in (home, *home.parents)]
        seen: set[str] = set()
        for tree in trees:
            yield from filter(is_case, self._files(tree, seen))
        for folder in {parent for path in named for parent in path.parents}:
            if os.path.realpath(folder) not in seen:
                yield from filter(is_case, _listed(folder))

    def _files(self, tree: Path, seen: set[str]) -> Iterator[Path]:
        """YAML files wherever pytest may go: through links too, and past what cannot be read."""
        avoided = self._config.getini("norecursedirs")

        def entered(folder: Path) -> bool:
            if any(fnmatch(folder.name, pattern) for pattern in avoided) or is_run_folder(folder):
                return False
            return not (folder / "pyvenv.cfg").exists() and _new(folder, seen)

        if not _new(tree, seen):
            return
        for parent, folders, names in os.walk(tree, followlinks=True):
            folders[:] = [name for name in folders if entered(Path(parent, name))]
            yield from _yaml(Path(parent), names)


def guard(manager: pytest.PytestPluginManager, mounted: Mounted) -> None:
    """Have pytest ask before it runs a ``conftest.py``, for which it has no hook.

    Raises:
        AttributeError: of a pytest that runs them in another way.
    """
    importing = manager._importconftest

    def importconftest(path: Path, *rest: Any, **more: Any) -> Any:
        if path in mounted:
            raise pytest.Collector.CollectError(mounted.refusal(path))
        return importing(path, *rest, **more)

    manager._importconftest = importconftest  # type: ignore[assignment,method-assign]


def _named(config: pytest.Config) -> Iterator[Path]:
    """The paths among the words of the command line; an item's id begins with one."""
    for word in config.known_args_namespace.file_or_dir:
        path = config.invocation_params.dir / str(word).partition("::")[0]
        if path.exists():
            yield Path(os.path.abspath(path))  # noqa: PTH100 - follows no link


def _sources(case: Path) -> Iterator[str]:
    """What a case mounts, whether it is valid or not.

    Raises:
        CaseErrors: it is not to be understood, and may mount something.
    """
    with case.open("rb") as file:
        if _KEY.encode() not in file.read(yaml.MAX_BYTES):
            return
    document = yaml.read(case)
    if document.errors:
        raise CaseErrors(document.errors)
    for source in _under_the_key(document.data):
        yield os.path.realpath(case.parent / source)


def _under_the_key(data: Any) -> Iterator[str]:
    """The texts below each key ``mount``, wherever it stands."""
    inside = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    for value in inside:
        yield from _under_the_key(value)
    if isinstance(data, dict) and isinstance(found := data.get(_KEY), dict | list | str):
        yield from ([found] if isinstance(found, str) else map(str, found))


def _around(path: Path) -> frozenset[str]:
    """A path and the folders that it lies in, by its name and where its links lead."""
    real = Path(os.path.realpath(path))
    return frozenset(map(str, (path, *path.parents, real, *real.parents)))


def _new(folder: Path, seen: set[str]) -> bool:
    """Whether a folder was not seen yet, which it now is."""
    real = os.path.realpath(folder)
    if real in seen:
        return False
    seen.add(real)
    return True


def _yaml(folder: Path, names: Iterable[str]) -> Iterator[Path]:
    files = (folder / name for name in names if name.endswith(SUFFIXES))
    return filter(Path.is_file, files)  # of a pipe nothing is read


def _listed(folder: Path) -> Iterable[Path]:
    """YAML files of a folder; none of one that cannot be read, or that anyone can write to."""
    try:
        shared = folder.stat().st_mode & stat.S_IWOTH
        return [] if shared else list(_yaml(folder, os.listdir(folder)))  # noqa: PTH208 - names
    except OSError:
        return []
