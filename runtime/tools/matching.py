"""What globs and searches find in a workspace; also a program, for patterns that nobody may wait for.

A regular expression can take for ever, and no thread that runs one lets another in. So a search for
one is done in a process of its own, which a deadline can end: ``python -m runtime.tools.matching``
reads what is asked from its input. For its sake nothing here needs more than the standard library.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, Final

from runtime.tools.paths import inside, reading

#: Lines that a search or a listing names.
MOST: Final = 10_000
#: Bytes of a line that are looked at.
_LINE: Final = 1 << 16
_BAD_PATTERN: Final = 2


def walk(workspace: Path, path: str) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below a folder that is no folder, by its path in the workspace; no links followed.

    Raises:
        OSError: the folder cannot be looked at.
    """
    top = Path(os.path.realpath(workspace))
    begin = inside(workspace, path)
    os.scandir(top / begin).close()
    for parent, folders, names in os.walk(top / begin):
        folders.sort()
        for name in sorted(names):
            found = Path(parent, name)
            try:
                yield str(PurePosixPath(found.relative_to(top))), found.lstat()
            except OSError:
                continue


def matches(pattern: str, name: str) -> bool:
    """Whether a path matches: ``**`` crosses folders, ``*``, ``?`` and ``[a-z]`` do not."""
    wanted = pattern.split("/")
    reached = _across(wanted, {0})
    for part in name.split("/"):
        steps = {place + (wanted[place] != "**") for place in reached if _fits(wanted, place, part)}
        reached = _across(wanted, steps)
    return len(wanted) in reached


def _across(wanted: list[str], places: set[int]) -> set[int]:
    """Places in a pattern, and those behind each ``**`` there, which may stand for nothing."""
    found = set(places)
    for place in sorted(places):
        while place < len(wanted) and wanted[place] == "**":
            place += 1  # noqa: PLW2901 - the walk goes on from here
            found.add(place)
    return found


def _fits(wanted: list[str], place: int, part: str) -> bool:
    return place < len(wanted) and (wanted[place] == "**" or fnmatchcase(part, wanted[place]))


@dataclass(frozen=True, slots=True)
class Search:
    """A search for lines.

    Attributes:
        pattern: a text, or a regular expression.
        regex: whether it is one.
        path: the folder, or the one file, that is looked into.
        glob: only files that match.
    """

    pattern: str
    regex: bool = False
    path: str = "."
    glob: str | None = None

    def lines(self, workspace: Path, heed: Callable[[], None] = lambda: None) -> Iterator[str]:
        """The lines, as ``path:line:text``; what cannot be read is left out.

        Args:
            workspace: where.
            heed: called before each line; it may raise to end the search.

        Raises:
            OSError: the path cannot be looked at.
            re.error: the pattern is none.
        """
        wanted = re.compile(self.pattern if self.regex else re.escape(self.pattern))
        for name in self._files(workspace):
            heed()
            try:
                with reading(workspace, name) as file:
                    for place, line in enumerate(iter(lambda: file.readline(_LINE), b""), 1):
                        heed()
                        said = line.rstrip(b"\r\n").decode("utf-8", "surrogateescape")
                        if wanted.search(said):
                            yield f"{name}:{place}:{said}"
            except OSError:
                continue

    def _files(self, workspace: Path) -> Iterator[str]:
        top, begin = Path(os.path.realpath(workspace)), inside(workspace, self.path)
        if stat.S_ISREG((top / begin).lstat().st_mode):
            yield str(begin)
            return
        for name, status in walk(workspace, self.path):
            if stat.S_ISREG(status.st_mode) and (self.glob is None or matches(self.glob, name)):
                yield name


def tried(pattern: str, text: str) -> Iterator[dict[str, Any]]:
    """Each match of a regular expression in a text.

    Raises:
        re.error: the pattern is none.
    """
    for found in re.finditer(pattern, text, re.MULTILINE):
        yield {
            "start": found.start(),
            "end": found.end(),
            "text": found.group(),
            "groups": list(found.groups()),
            "named": found.groupdict(),
        }


def main() -> int:
    """Read what is asked, and print a line of JSON for each that is found."""
    asked = json.load(sys.stdin)
    try:
        if "text" in asked:
            lines: Iterator[Any] = tried(asked["pattern"], asked["text"])
        else:
            lines = Search(**asked["search"]).lines(Path(asked["workspace"]))
        for line in itertools.islice(lines, MOST + 1):
            sys.stdout.write(f"{json.dumps(line)}\n")
    except re.error as error:
        sys.stderr.write(f"invalid regular expression: {error}\n")
        return _BAD_PATTERN
    except OSError as error:
        sys.stderr.write(f"{error.filename}: {error.strerror}\n")
        return 1
    return 0


def asking(search: Search, workspace: Path) -> str:
    """What the program reads for a search."""
    return json.dumps({"search": dataclasses.asdict(search), "workspace": str(workspace)})


if __name__ == "__main__":
    sys.exit(main())
