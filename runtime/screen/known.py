"""Secrets that the process was given, found literally."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from runtime.screen.forms import written
from runtime.screen.spans import KNOWN, Found, Rank
from runtime.screen.views import View

_SHORTEST = 6
"""Characters: what is shorter stands in ordinary texts too, and is not looked for."""

_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|PWD|CREDENTIAL|AUTH|COOKIE|PRIVATE|SIGNATURE|DSN|WEBHOOK"
)
_OTHER_NAME = re.compile(
    r"^(?:OLD)?PWD$|_SOCK$|^XAUTHORITY$|AUTHOR|(?:_|^)(?:FILE|PATH|DIR|NAME|ID|URI|TYPE|MODE)$|KEYMAP"
    r"|KEYBOARD|^SSH_AUTH|_KEY_ID$"
)
_PLAIN_VALUE = re.compile(r"[a-z]{1,12}|[0-9]{1,7}|true|false|[~.]{0,2}/[\w./-]*", re.IGNORECASE)
_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")


def environment_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """What in the environment is secret by its name, and the passwords of its URLs."""
    found: dict[str, str] = {}
    for name, value in environ.items():
        if "://" in value:
            if password := _password(value):
                found[name] = password
        elif _is_secret_name(name.upper()) and not _PLAIN_VALUE.fullmatch(value):
            found[name] = value
    return found


def _is_secret_name(name: str) -> bool:
    return bool(_SECRET_NAME.search(name)) and not _OTHER_NAME.search(name)


def _password(url: str) -> str | None:
    try:
        return urlsplit(url).password
    except ValueError:
        return None


class Known:
    """Given values, each with the ways in which it may be written that no rule undoes."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._forms: dict[str, Rank] = {}
        for name, value in sorted(values.items()):
            what = Rank(KNOWN, _kind(name))
            if len(value.strip()) >= _SHORTEST:
                for form in _forms(value.strip()):
                    self._forms.setdefault(form, what)

    def __call__(self, text: str) -> Iterator[Found]:
        """Every place where one of the values is written."""
        for form, what in self._forms.items():
            at = text.find(form)
            while at >= 0:
                yield Found(at, at + len(form), what)
                at = text.find(form, at + len(form))

    @property
    def longest(self) -> int:
        """Characters of the longest form."""
        return max(map(len, self._forms), default=0)


def _kind(name: str) -> str:
    return _NOT_IN_A_NAME.sub("-", name.lower()).strip("-")[:40] or "known"


def _forms(value: str) -> Iterator[str]:
    raw = value.encode("utf-8", "surrogatepass")
    for text in {value, raw.decode("latin-1")}:
        for form in written(View.of(text)):
            if len(form.view.text.strip()) >= _SHORTEST:
                yield form.view.text.strip()
    if len(raw) <= 24:  # too short to be read as an encoding wherever it stands
        yield from (raw.hex(), raw.hex().upper())
        for before in range(3):
            packed = base64.b64encode(b"\0" * before + raw).decode()
            cut = packed[-(-before * 8 // 6) : (before + len(raw)) * 8 // 6]
            yield from (cut, cut.translate(str.maketrans("+/", "-_")))
