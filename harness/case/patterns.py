"""What the patterns of the schema mean, for people; a test holds that none is without words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_BRANCH: Final = "a branch of letters, digits and ., _, - or +, with / between, such as fix/time"
_PERMISSIONS: Final = 'permissions in octal, in quotes, such as "0644"'

PATTERNS: Final[Mapping[str, str]] = {
    r"^[A-Za-z0-9][A-Za-z0-9._-]*$": "letters, digits and ., _ or - behind them, such as recovery",
    r"^0[0-7]{3}$": _PERMISSIONS,
    r"^0[0-7]{2}[0-6]$": f"{_PERMISSIONS}, of which the last digit is below 7",
    r"^0[0-7]{3,4}$": _PERMISSIONS,
    r"^[^/]+/.+$": "a service and its repository with / between, such as forge/app",
    r"^[A-Za-z0-9_][A-Za-z0-9_.+-]*(/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*$": _BRANCH,
    r"^[^<>\n]+ <[^<>\n]*>$": "a name and an address, such as Ada <ada@example.org>",
    r"^[A-Za-z_][A-Za-z0-9_]*$": "letters, digits and _, no digit first, such as API_TOKEN",
    r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$": (
        "letters, digits and ., _ or -, with / between, such as team/app"
    ),
    r"\.git$": "it without .git at its end",
    r"^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$": "an owner and a repository, such as acme/app",
    r"^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) /[^\s?#]*$": (
        "a method in capitals and a path without its query, such as GET /report"
    ),
    r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$": "the name of a header, such as Retry-After",
    r"^[^\r\n]*$": "text on one line",
    r"^[^\r\n]*(?![\s\S])": "text on one line",
    r"^[ -~]$": "one printable character of ASCII, such as x",
    r"^[A-Za-z0-9-]+$": "the name of a header, such as Retry-After",
    r"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$": (
        "base64 with its padding and no spaces, such as aGVsbG8="
    ),
    r"^xox[a-z]-[A-Za-z0-9-]+$": "a token of Slack, such as xoxb-1-2",
    r"^[a-z0-9_-]{1,80}$": "a-z, 0-9, _ and -, at most 80 of them, such as general",
    r"^/services/[A-Za-z0-9/_-]+$": "a path below /services/, such as /services/T0/B0/x",
    r"^[a-z0-9_+'-]+(::[a-z0-9-]+)?$": "the name of an emoji without colons, such as thumbsup",
    r"^[0-9]+:[A-Za-z0-9_-]+$": "a token of Telegram, such as 1:abc",
    r"^[A-Za-z0-9_]{2,}bot$": "a name that ends with bot, such as ops_bot",
    r"^[A-Za-z0-9._+-]+$": "the name of a program without its folder, such as git",
    r"^(/.*[^/]|[^/]+)$": "a program by its name or its whole path, such as git or /usr/bin/git",
    r"^/": "a path from the top, such as /nowhere",
    r"^(always|[0-9]+(ms|s|m|h))$": "always, or how long, such as 5s",
    r"^-?[0-9]+(ms|s|m|h)$": "how far, such as 2h or -36h",
    r"^0+(ms|s|m|h)$": "more than nothing, such as 5s",
    r"^[0-9a-f]{64}$": "64 digits of 0-9 and a-f, as sha256sum prints them",
    r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$": "a module and a name in it, such as pkg.module:NAME",
    r"^[^:\0]+\.py:[A-Za-z_]\w*$": "a file and a function in it, such as sabotage.py:always",
    r"^[A-Z][0-9]+$": "a capital letter and a number, such as C1",
}
