"""Secrets that are known by what stands in front of them: URLs, headers, assignments.

These rules read lines: none of them goes on past the end of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from runtime.screen.forms import BOUND
from runtime.screen.naming import folded, is_secret, kind_of, secret_names
from runtime.screen.spans import CONTEXT, Found, Rank

_LONG = 4096  # characters of a value that the patterns go

_JUDGED = 256  # characters of a value that tell whether it is a secret

_URL_PASSWORD = Rank(CONTEXT, "url-password")
_URL_TOKEN = Rank(CONTEXT, "url-token")
_AUTHORIZATION = Rank(CONTEXT, "authorization")
_COOKIE = Rank(CONTEXT, "cookie")

_USER_INFO = re.compile(r"://([^\s/:@?#\"'<>]{0,256}):([^\s/\"'<>]{1,512})@")
_USER_TOKEN = re.compile(r"://([\w.~%-]{20,512})@")
_QUERY = re.compile(
    r"[?&;](?:[\w.-]{0,40}(?:token|sig|signature|secret|password|passwd|api_?key|x-amz-credential)"
    r"|key|code|auth|jwt|sas|session|sessionid|sid)=([^&\s\"'<>#;]{6,4096})"
)
_HEADER_WORDS = ("cookie", "authorization", "api-key", "apikey", "-token")
_HEADER = re.compile(
    r"(?:(cookie)|authorization|api-?key|-token)[\"']?[ \t]{0,4}[:=,][ \t]{0,4}(?:b?[\"'])?"
)
_SCHEME = re.compile(
    r"(?:bearer|basic|token|digest|negotiate|ntlm|apikey|bot|key|aws4-hmac-sha256)[ \t]{1,4}"
)
_BEARER = re.compile(r"bearer[ \t]{1,4}")
_COOKIES = re.compile(r"[\w.!#$%&*+^|~-]{1,256}=[^\r\n\"']{3,4096}")
_CREDENTIALS = re.compile(r"[^\r\n\"'<>]{8,4096}")
_OPAQUE = re.compile(r"(?=[A-Za-z._~+/-]{0,64}[0-9])[\w.~+/:-]{16,4096}={0,2}", re.ASCII)

_FLAG = re.compile(r"(?<![\w-])--?[\w-]{0,40}\Z")
_ENVIRONMENT = re.compile(
    r"(?:^|[\n;\"'`])[ \t]{0,8}(?:export |set )?[A-Za-z_]\w{0,64}\Z", re.ASCII
)
_AFTER_NAME = re.compile(
    r"([\w.-]{0,32})[\"'\]]{0,3}([ \t]{0,16}(?:=>|:=|==?|:|>)[ \t]{0,16}|[ \t=])"
)
_QUOTED = re.compile(
    r"[bfru]?(?:\"((?:[^\"\\\n]|\\.){4,4096}+)|'((?:[^'\\\n]|\\.){4,4096}+)|`([^`\n]{4,4096}+))"
)
_BARE = re.compile(r"[^\s\"'`,;<>(){}\[\]&|]{4,4096}")
_WORD = re.compile(r"[^\s\"'`]{4,4096}")
_CURL = re.compile(
    r"\bcurl\b[^\n]{0,160}?[ \t](?:-u|--user)[ =]?[\"']?[^\s:\"']{1,64}:([^\s\"']{3,512})"
)
_LOGIN = re.compile(r"\blogin[ \t]+\S{1,256}[ \t]+password[ \t]+(\S{3,512})")


def in_context(text: str) -> Iterator[Found]:
    """Every secret that its surroundings give away."""
    small = folded(text)
    if "://" in text:
        yield from _found(_USER_INFO, text, 2, _URL_PASSWORD)
        yield from _found(_USER_TOKEN, text, 1, _URL_TOKEN)
    if "=" in text:
        for match in _QUERY.finditer(small):
            if _is_parameter(match, text):
                yield Found(*match.span(1), _URL_TOKEN)
    yield from _headers(text, small)
    yield from _assignments(text, small)
    if "curl" in text:
        yield from _found(_CURL, text, 1, Rank(CONTEXT, "password"))
    if "login" in text:
        yield from _found(_LOGIN, text, 1, Rank(CONTEXT, "password"))


def _found(pattern: re.Pattern[str], text: str, group: int, what: Rank) -> Iterator[Found]:
    for match in pattern.finditer(text):
        value = match[group]
        if is_secret("password", value, quoted=True, tight=True) and not value.isdigit():
            yield Found(*match.span(group), what)


def _is_parameter(match: re.Match[str], text: str) -> bool:
    start, end = match.span(1)
    value = text[start:end]
    return value[0] not in BOUND + "{$<%" and any(map(str.isdigit, value))


def _headers(text: str, small: str) -> Iterator[Found]:
    done = 0  # what is within a value is not looked at again: that would not be linear
    if any(word in small for word in _HEADER_WORDS):
        for match in _HEADER.finditer(small):
            if match.start() >= done:
                for found in _header(text, small, match.end(), _COOKIES if match[1] else None):
                    yield found
                    done = found.end
    if "bearer" in small:
        for match in _BEARER.finditer(small):
            if value := _OPAQUE.match(text, match.end()):
                yield Found(*value.span(), _AUTHORIZATION)


def _header(text: str, small: str, at: int, cookies: re.Pattern[str] | None) -> Iterator[Found]:
    if text.startswith(BOUND, at):
        return
    if cookies:
        if value := cookies.match(text, at):
            yield Found(at, _whole(text, at, value.end()), _COOKIE)
        return
    scheme = _SCHEME.match(small, at)
    value = (_CREDENTIALS if scheme else _OPAQUE).match(text, scheme.end() if scheme else at)
    if value and value[0][0] not in BOUND + "{$<%" and (not scheme or _is_credential(value[0])):
        start, end = value.span()
        yield Found(start, _whole(text, start, end), _AUTHORIZATION)


def _is_credential(value: str) -> bool:
    """Whether what follows a scheme is no prose: it has digits, signs, or capitals within."""
    first = value.split(maxsplit=1)[0]
    odd = any(map(str.isdigit, first)) or "=" in first or len(first) >= 20
    return odd or any(map(str.isupper, first[1:]))


def _assignments(text: str, small: str) -> Iterator[Found]:
    done = 0
    for match in sorted(secret_names(small), key=re.Match.start):
        if match.start() >= done:
            for found in _assignment(text, match):
                yield found
                done = found.end


def _assignment(text: str, name: re.Match[str]) -> Iterator[Found]:
    after = _AFTER_NAME.match(text, name.end())
    if after is None:
        return
    before = text[max(0, name.start() - 80) : name.start()]
    flag = bool(_FLAG.search(before))
    if after[2].strip() or flag:
        tight = flag or (after[2] == "=" and bool(_ENVIRONMENT.search(before)))
        yield from _value(text, after.end(), name[0] + after[1], tight)


def _value(text: str, at: int, name: str, tight: bool) -> Iterator[Found]:
    quoted = _QUOTED.match(text, at)
    value = quoted or (_WORD if tight else _BARE).match(text, at)
    if value is None:
        return
    group = quoted.lastindex or 0 if quoted else 0
    start, end = value.span(group)
    called = not quoted and text.startswith(("(", "[", "{"), end)
    judged = text[start : min(end, start + _JUDGED)]
    if not called and is_secret(name, judged, quoted=bool(quoted), tight=tight):
        yield Found(start, _whole(text, start, end), Rank(CONTEXT, kind_of(name)))


def _whole(text: str, start: int, end: int) -> int:
    """The end of a value; of one that is longer than the patterns go, the end of its line."""
    if end - start < _LONG:
        return end
    line_end = text.find("\n", end)
    return len(text) if line_end < 0 else line_end
