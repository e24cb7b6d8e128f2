"""Files of Slack on their way: a place is asked for, the file sent there, and then shared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from harness.services.chat.forms import nested, number_of, text_of
from harness.services.chat.posts import Given, Refused

PLACE: Final = "/upload/v1/"


class Uploads:
    """The files of a workspace, by their ids; what is in them is only on record."""

    def __init__(self) -> None:
        self._asked: dict[str, dict[str, Any]] = {}
        self._sent: set[str] = set()

    def offer(self, given: Given) -> dict[str, Any]:
        """A file that may be sent, of this name and length."""
        name, size = text_of(given.get("filename")), number_of(given.get("length"), 0)
        if not name or size <= 0:
            raise Refused("invalid_arguments")
        key = f"F{len(self._asked) + 1:010}"
        return {"id": key, "name": name, "title": name, "size": size}

    def expect(self, file: dict[str, Any]) -> None:
        """The client knows where to send it."""
        self._asked[file["id"]] = file

    def expects(self, key: str) -> bool:
        """Whether a place was asked for it."""
        return key in self._asked

    def take(self, key: str) -> None:
        """It has come."""
        self._sent.add(key)

    def shared(self, given: Given) -> Sequence[Mapping[str, Any]]:
        """The files that a client names, as they are shown, titles as it gives them.

        Raises:
            Refused: one was not sent.
        """
        named = nested(given.get("files"))
        named = [one for one in named if isinstance(one, dict)] if isinstance(named, list) else []
        if not named:
            raise Refused("invalid_arguments")
        if any(one.get("id") not in self._sent for one in named):
            raise Refused("file_not_found")
        return [
            {**self._asked[one["id"]], "title": text_of(one.get("title")) or text_of(one["id"])}
            for one in named
        ]
