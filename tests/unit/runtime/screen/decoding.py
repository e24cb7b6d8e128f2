"""A plain decoder of its own kind: whatever of a text can be read back, as one long text."""

from __future__ import annotations

import base64
import html
import re
import urllib.parse


def read_back(text: str) -> str:
    """The text, and all that simple means make of it."""
    seen = [text]
    for _ in range(3):
        seen += [each for old in list(seen) for each in once(old) if each not in seen]
    return "\0\0".join([*seen, *(re.sub(r"\s+", "", each) for each in seen)])


def once(text: str) -> list[str]:
    out = [
        urllib.parse.unquote(text),
        html.unescape(text),
        re.sub(r"\\u([0-9a-f]{4})", lambda m: chr(int(m[1], 16)), text),
        re.sub(r"\\x([0-9a-f]{2})", lambda m: chr(int(m[1], 16)), text),
        re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), text),
        text.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\"),
        re.sub(r"\x1b\[[0-9;]*m|\u200b|\\\n|=\n", "", text),
        re.sub(r"=3D", "=", text),
        re.sub(r"[\"']\s*\+?\s*[\"']", "", text),
    ]
    out += [decoded(run) for run in re.findall(r"[\w+/-]{12,}", text, re.ASCII)]
    out += [decoded(run) for run in re.findall(r"[\w+/-]{12,}", re.sub(r"\s", "", text), re.ASCII)]
    bare = re.sub(r"0x|[\s:,]", "", text)
    out += [
        bytes.fromhex(run[: len(run) // 2 * 2]).decode("latin-1")
        for run in re.findall(r"[0-9a-fA-F]{16,}", bare)
    ]
    return [each.replace("\0", "") for each in out]


def decoded(run: str) -> str:
    run = run.replace("-", "+").replace("_", "/")
    groups = [run[at:] for at in range(4)]
    padded = [each[:-1] if len(each) % 4 == 1 else each for each in groups]
    return "\0\0".join(
        base64.b64decode(each + "=" * (-len(each) % 4)).decode("latin-1") for each in padded
    )
