"""Migrations: SQL files of a folder, applied in the order of their names, each once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from runtime.tools.databases.base import Database, DatabaseFailed
from runtime.tools.paths import opened, reading

_MOST: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class Migration:
    """A file of SQL.

    Attributes:
        name: of the file.
        sql: what is in it.
        digest: SHA-256 of it.
    """

    name: str
    sql: str
    digest: str


def pending(workspace: Path, folder: str, database: Database) -> list[Migration]:
    """The migrations of a folder that were not applied yet.

    Raises:
        DatabaseFailed: one that was applied has changed since, or is gone.
        OSError: the folder, or a file in it, cannot be read.
    """
    found = {each.name: each for each in _all(workspace, folder)}
    applied = database.applied()
    for name, digest in applied.items():
        if name not in found:
            raise DatabaseFailed(f"{name} was applied, and is not in {folder} any more")
        if found[name].digest != digest:
            raise DatabaseFailed(f"{name} was applied, and has changed since")
    return [each for name, each in found.items() if name not in applied]


def _all(workspace: Path, folder: str) -> Iterator[Migration]:
    with (
        opened(workspace, folder, os.O_RDONLY | os.O_DIRECTORY) as descriptor,
        os.scandir(descriptor) as entries,
    ):
        names = sorted(entry.name for entry in entries if entry.name.endswith(".sql"))
    for name in names:
        with reading(workspace, f"{folder}/{name}") as file:
            data = file.read(_MOST)
        try:
            sql = data.decode()
        except UnicodeDecodeError as error:
            raise DatabaseFailed(f"{name}: {error}") from None
        yield Migration(name, sql, hashlib.sha256(data).hexdigest())
