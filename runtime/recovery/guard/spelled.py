"""One spelling for all spellings: letter case, Unicode forms, look-alikes, invisible characters."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path, PurePosixPath
from typing import Final

from runtime.tools.base import Context

# Letters that look like one of ASCII's, and that no normal form turns into it.
_ALIKE: Final = str.maketrans(
    "аеорсухіјѕһԁԛԝѵɡαορνικτυхᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢıƅƽ∕⁄＼‐‑‒–—−",  # noqa: RUF001
    "aeopcyxijshdqwvgaopviktuxabcdefghijklmnoprstuvwyzib5//\\------",
)
_INVISIBLE: Final = frozenset({"Cf", "Mn", "Me", "Cc"})
_KEPT: Final = frozenset("\n\t")


def plain(text: str) -> str:
    """A text in the one spelling that the guard compares."""
    visible = "".join(
        each
        for each in unicodedata.normalize("NFKD", text)
        if each in _KEPT or unicodedata.category(each) not in _INVISIBLE
    )
    return visible.casefold().translate(_ALIKE)


def meant(written: str, context: Context) -> str | None:
    """The path in the workspace that was meant by one that is not there, if only one can be.

    An alias that the user declared counts first, then the one entry that differs in nothing but
    letter case or Unicode form. No link is followed, and nothing leaves the workspace.
    """
    alias = context.settings.recovery.aliases.get(written)
    if alias is not None:
        return alias if _inside(alias) and (context.workspace / alias).exists() else None
    if not _inside(written):
        return None
    folder, parts = context.workspace, []
    for part in PurePosixPath(written).parts:
        found = _entry(folder, part)
        if found is None:
            return None
        parts.append(found)
        folder = folder / found
    corrected = "/".join(parts)
    return None if corrected == written else corrected


def _inside(path: str) -> bool:
    pure = PurePosixPath(path)
    return bool(pure.parts) and not pure.is_absolute() and ".." not in pure.parts


def _entry(folder: Path, name: str) -> str | None:
    """The one entry of a folder that a name can mean."""
    if folder.is_symlink():
        return None
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names, not paths
    except OSError:
        return None
    if name in names:
        return name
    wanted = _form(name)
    alike = [each for each in names if _form(each) == wanted]
    return alike[0] if len(alike) == 1 else None


def _form(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold())
