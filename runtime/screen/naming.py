"""Names of things that are secret, and what under such a name is one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runtime.screen.forms import BOUND

_STEMS = {
    "pass": re.compile(r"pass(?:word|wd|phrase|code)"),
    "pwd": re.compile(r"pwd"),
    "secret": re.compile(r"secret"),
    "token": re.compile(r"token"),
    "credential": re.compile(r"credential"),
    "key": re.compile(
        r"key(?:(?<=api.key)|(?<=apikey)|(?<=(?:access|secret|client|shared|master).key)"
        r"|(?<=(?:access|secret|client|shared|master)key)|(?<=(?:account|private|signing).key)"
        r"|(?<=(?:account|private|signing)key)|(?<=auth.key)|(?<=authkey)|(?<=encryption.key))"
    ),
}
HEADER_NAME = re.compile(
    r"(?:proxy-)?authorization|(?:set-)?cookie|(?:x-)?[a-z-]*(?:api-?key|-token)"
)

_PASSWORD = re.compile(r"pass(?:word|wd|phrase|code)|pwd")
_ABOUT = re.compile(
    r"[_-](?:id|name|path|file|url|uri|type|kind|count|ttl|limit|size|length|len|env|var|field|class)s?\Z"
    r"|(?<=[a-z])(?:File|Path|Url|Name|Type|Count|Length|Id)\Z|hash\Z"
)
_PLACEHOLDER = re.compile(
    r"[$<{%\[(]|[*x.X_-]+\Z|(?:none|null|true|false|undefined|optional|required|string|str|bytes"
    r"|password|passwd|secret|token|changeme|example|redacted|hidden|masked|empty)\Z|(?:your|my)[-_ ]",
    re.IGNORECASE,
)
_PATH = re.compile(r"(?:[~.]{1,2}/|/[\w.-]+/)[\w./ -]*\Z|[a-z][a-z0-9+]*://[^@]*\Z", re.ASCII)
_CODE = re.compile(
    r"[A-Za-z_]\w*(?:\.\w+)*(?:\.|->|::)?\Z|[A-Za-z_]\w*(?:(?:\.|::|->)\w+)+", re.ASCII
)
_NAME_WITH_NUMBER = re.compile(r"[A-Za-z_]+[0-9]{0,2}\Z", re.ASCII)
_ASCII_FOLD = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def folded(text: str) -> str:
    """The text with its ASCII capitals small, each character where it was."""
    return text.lower() if text.isascii() else text.translate(_ASCII_FOLD)


def secret_names(small: str) -> Iterator[re.Match[str]]:
    """Where in a :func:`folded` text something is named as secret."""
    for stem, pattern in _STEMS.items():
        if stem in small:
            yield from pattern.finditer(small)


def is_secret_name(name: str) -> bool:
    """Whether a key, a flag or a header of this name holds a secret."""
    small = folded(name)
    return bool(HEADER_NAME.fullmatch(small) or any(secret_names(small)))


def kind_of(name: str) -> str:
    """The kind of what stands under a name that :func:`secret_names` found."""
    return "password" if _PASSWORD.search(folded(name)) else "credential"


def is_secret(name: str, value: str, *, quoted: bool, tight: bool) -> bool:
    """Whether a value under a secret's name is one, and no placeholder, code or prose.

    Args:
        name: What the value is called, from the telling word on.
        value: The value without its quotes.
        quoted: It stood in quotes.
        tight: It is a flag's or an environment variable's, where no code can stand.
    """
    if value[0] == BOUND or _ABOUT.search(name) or _PLACEHOLDER.match(value) or _PATH.match(value):
        return False
    if not quoted and not tight and _is_code(name, value):
        return False
    if HEADER_NAME.fullmatch(folded(name)):
        return len(value) >= 4
    if _PASSWORD.search(folded(name)):
        return _is_password(name, value, free=quoted or tight)
    return len(value) >= 8 and " " not in value and _is_mixed(value)


def _is_code(name: str, value: str) -> bool:
    """Whether it reads as an identifier; a password of letters and digits is taken for one."""
    if not _CODE.match(value):
        return False
    if "." in value.rstrip(".") or "::" in value or "->" in value or not _is_mixed(value):
        return True
    return bool(_NAME_WITH_NUMBER.match(value)) and not _PASSWORD.search(folded(name))


def _is_password(name: str, value: str, *, free: bool) -> bool:
    if " " in value.strip():
        return folded(name).startswith("passphrase") or (
            free and value.count(" ") < 4 and any(map(str.isdigit, value))
        )
    return free or _is_mixed(value) or (value.isdigit() and len(value) >= 6)


def _is_mixed(value: str) -> bool:
    return any(map(str.isdigit, value)) and not value.replace(".", "").replace("_", "").isdigit()
