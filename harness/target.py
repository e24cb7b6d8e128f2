"""What stands in the first line of a request."""

from __future__ import annotations

from urllib.parse import urlsplit


def path_of(target: str) -> str:
    """The path of a request target, which a client that means a proxy writes as a URL."""
    if target.startswith("/"):
        return target.partition("?")[0]
    try:
        return urlsplit(target).path or "/"
    except ValueError:
        return target
