"""Names under which a subject's files are stored: readable, and harmless whatever they were."""

from __future__ import annotations

import hashlib
import re

from sandboxes.base import Root

_HARMLESS = re.compile(r"[^\w.,+@=~ -]")
_LONGEST_PART = 120
_LONGEST = 900


def stored_name(root: Root, path: str) -> str:
    """The relative path of the copy of ``path``; different for different paths.

    Each part of the path is one part of the name. Characters other than letters, digits and
    a few signs are written ``%XX``, and so is a first dot; what is too long is cut and told
    apart by its digest.
    """
    parts = [_part(part) for part in path.split("/") if part]
    name = "/".join([str(root), *parts])
    if len(name.encode()) > _LONGEST:
        name = f"{root}/{_digest(path)}"
    return f"{name}.copy"


def _part(part: str) -> str:
    text = "".join(
        "".join(f"%{byte:02X}" for byte in c.encode("utf-8", "surrogatepass"))
        if c == "%" or _HARMLESS.match(c) or (index == 0 and c == ".")
        else c
        for index, c in enumerate(part)
    )
    if len(text.encode()) > _LONGEST_PART:
        text = f"{text[: _LONGEST_PART // 4]}%{_digest(part)}"
    return text


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
