"""Messages of Slack: what they consist of, what they say, and how they are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from harness.services.chat.forms import nested, number_of, text_of

Given = Mapping[str, Any]
Message = dict[str, Any]

_LONGEST: Final = 40_000
_MILLION: Final = 1_000_000


class Refused(Exception):
    """The API refuses a request; the text is the name of the error."""


def content(given: Given) -> tuple[dict[str, Any], str]:
    """What a message consists of, and all that it says."""
    text = text_of(given.get("text"))
    rest = {
        key: value
        for key in ("blocks", "attachments")
        if isinstance(value := nested(given.get(key)), list) and value
    }
    if not text and not rest:
        raise Refused("no_text")
    said = dict.fromkeys(part for part in (text, *_texts(rest)) if part)
    return {"text": text, **rest}, "\n".join(said)[:_LONGEST]


def _texts(value: object) -> Iterator[str]:
    """Every text in blocks and attachments, in order."""
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, list):
            waiting += reversed(inner)
        elif isinstance(inner, dict):
            for key in ("pretext", "title", "text", "fallback"):
                if isinstance(inner.get(key), str):
                    yield inner[key]
            waiting += [v for v in reversed(inner.values()) if isinstance(v, dict | list)]


def is_reply(message: Message) -> bool:
    """Whether it stands in a thread that another one began."""
    return bool(message.get("thread_ts", message["ts"]) != message["ts"])


def shown(message: Message) -> Message:
    """A message as the API shows it, as it is now."""
    hidden = {"channel"} if message["reactions"] else {"channel", "reactions"}
    shown = {key: value for key, value in message.items() if key not in hidden}
    if message["reactions"]:
        shown["reactions"] = [{**r, "users": list(r["users"])} for r in message["reactions"]]
    return shown


def add_reaction(message: Message, name: str, user: str) -> None:
    """Somebody adds a reaction to it."""
    for reaction in message["reactions"]:
        if reaction["name"] == name:
            reaction["users"] = [*dict.fromkeys([*reaction["users"], user])]
            reaction["count"] = len(reaction["users"])
            return
    message["reactions"].append({"name": name, "users": [user], "count": 1})


def remove_reaction(message: Message, name: str, user: str) -> None:
    """Somebody takes hers away."""
    for reaction in message["reactions"]:
        if reaction["name"] == name:
            reaction["users"] = [each for each in reaction["users"] if each != user]
            reaction["count"] = len(reaction["users"])
    message["reactions"] = [r for r in message["reactions"] if r["users"]]


def between(messages: Sequence[Message], given: Given) -> Sequence[Message]:
    """The messages between the two times that a request names."""
    oldest, latest = text_of(given.get("oldest")), text_of(given.get("latest"))
    inclusive = text_of(given.get("inclusive")).lower() in {"1", "true"}
    low = _micros(oldest) - inclusive if oldest not in {"", "0"} else -1
    high = _micros(latest) + inclusive if latest not in {"", "now"} else None
    return [
        message
        for message in messages
        if low < (at := _micros(message["ts"])) and (high is None or at < high)
    ]


def _micros(stamp: str) -> int:
    """A time in millionths of a second; what is no time is the beginning of all."""
    seconds, _, rest = stamp.partition(".")
    return number_of(seconds, 0) * _MILLION + number_of(rest[:6].ljust(6, "0"), 0)
