"""A workspace of Slack: its channels and what is said in them, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from harness.services.chat import posts
from harness.services.chat.forms import number_of, text_of
from harness.services.chat.human import REACT, SAY, Act, Due
from harness.services.chat.posts import Given, Message, Refused
from harness.services.chat.uploads import PLACE, Uploads
from sandboxes import clock

TEAM: Final = "T0000000001"
BOT_USER: Final = "U0000000001"
PERSON: Final = "U0000000002"
BOT: Final = "B0000000001"
DIRECT: Final = "D0000000001"
_MILLION: Final = 1_000_000
_PAGE: Final = 100
_MOST: Final = 999


def _nothing() -> None:
    pass


class Outcome(NamedTuple):
    """What a method gives, what it does once its reply holds, and what it said to the person.

    ``message`` is the one that it sent, ``text`` what that says.
    """

    result: Mapping[str, Any]
    follows: Callable[[], None] = _nothing
    message: Message | None = None
    text: str | None = None


class Workspace:
    """The channels and the messages there; the person and the app are in all of them."""

    def __init__(self, host: str, channels: Sequence[str], person: str) -> None:
        self._host = host
        self._person = person
        self._channels = {f"C{number:010}": name for number, name in enumerate(channels, 1)}
        self._said: dict[str, list[Message]] = {key: [] for key in (*self._channels, DIRECT)}
        self._last = 0
        self._address = host
        self.uploads = Uploads()

    def called(self, address: str) -> None:
        """A request came to this host and port, where files are to be sent to as well."""
        self._address = address or self._address

    # -- the person

    def acted(self, due: Due) -> None:
        """She says something, or adds a reaction."""
        act, about = due.act, due.about
        if act.kind == REACT:
            if about in self._said[about["channel"]]:
                posts.add_reaction(about, act.what, PERSON)
            return
        channel = next(iter(self._said)) if about is None else about["channel"]
        message = self._message(channel, {"user": PERSON, "text": act.what})
        if about is not None and (act.thread or "thread_ts" in about):
            message["thread_ts"] = about.get("thread_ts", about["ts"])
        self._keep(message)

    def allows(self, message: Message, act: Act) -> bool:  # noqa: ARG002 - every message does
        """Whether she can do something about a message."""
        return act.kind in {SAY, REACT}

    # -- webhooks

    def hooked(self, payload: Given) -> Outcome:
        """A message by an incoming webhook, to the first channel."""
        return self._posted(next(iter(self._said)), payload)

    # -- methods

    def api_test(self, given: Given) -> Outcome:
        return Outcome({"args": {key: text_of(value) for key, value in given.items()}})

    def auth_test(self, _: Given) -> Outcome:
        return Outcome(
            {
                "url": f"http://{self._host}/",
                "team": self._host,
                "user": "shakeout",
                "team_id": TEAM,
                "user_id": BOT_USER,
                "bot_id": BOT,
            }
        )

    def post_message(self, given: Given) -> Outcome:
        return self._posted(self._channel(given), given)

    def update(self, given: Given) -> Outcome:
        message = self._own(given, "update")
        changed, text = posts.content(given)
        edited = {"edited": {"user": BOT_USER, "ts": self._stamp()}, **changed}
        result = {"channel": message["channel"], "ts": message["ts"], "text": text}
        shown = posts.shown({**message, **edited})
        return Outcome({**result, "message": shown}, partial(message.update, edited))

    def delete(self, given: Given) -> Outcome:
        message = self._own(given, "delete")
        said = self._said[message["channel"]]
        result = {"channel": message["channel"], "ts": message["ts"]}
        return Outcome(result, partial(said.remove, message))

    def history(self, given: Given) -> Outcome:
        said = self._said[self._channel(given)]
        shown = [message for message in reversed(said) if not posts.is_reply(message)]
        return Outcome(self._page(shown, given))

    def replies(self, given: Given) -> Outcome:
        said = self._said[self._channel(given)]
        root = text_of(given.get("ts"))
        shown = [message for message in said if root in (message["ts"], message.get("thread_ts"))]
        if not shown:
            raise Refused("thread_not_found")
        return Outcome(self._page(shown, given))

    def add_reaction(self, given: Given) -> Outcome:
        message, name = self._reacted(given)
        if any(r["name"] == name and BOT_USER in r["users"] for r in message["reactions"]):
            raise Refused("already_reacted")
        return Outcome({}, partial(posts.add_reaction, message, name, BOT_USER))

    def remove_reaction(self, given: Given) -> Outcome:
        message, name = self._reacted(given)
        if not any(r["name"] == name and BOT_USER in r["users"] for r in message["reactions"]):
            raise Refused("no_reaction")
        return Outcome({}, partial(posts.remove_reaction, message, name, BOT_USER))

    def get_reactions(self, given: Given) -> Outcome:
        message = self._found(given, "timestamp")
        return Outcome(
            {"type": "message", "channel": message["channel"], "message": posts.shown(message)}
        )

    def list_channels(self, _: Given) -> Outcome:
        channels = [self._described(key) for key in self._channels]
        return Outcome({"channels": channels, "response_metadata": {"next_cursor": ""}})

    def info(self, given: Given) -> Outcome:
        return Outcome({"channel": self._described(self._channel(given))})

    def open(self, given: Given) -> Outcome:
        users = text_of(given.get("users")).split(",")
        if users != [PERSON]:
            raise Refused("user_not_found")
        return Outcome({"channel": {"id": DIRECT}})

    def join(self, given: Given) -> Outcome:
        return Outcome({"channel": self._described(self._channel(given))})

    def user_info(self, given: Given) -> Outcome:
        users = {
            PERSON: {"id": PERSON, "name": self._person, "is_bot": False},
            BOT_USER: {"id": BOT_USER, "name": "shakeout", "is_bot": True},
        }
        user = users.get(text_of(given.get("user")))
        if user is None:
            raise Refused("user_not_found")
        return Outcome({"user": {**user, "team_id": TEAM, "deleted": False}})

    # -- files

    def offer_upload(self, given: Given) -> Outcome:
        file = self.uploads.offer(given)
        url = f"http://{self._address}{PLACE}{file['id']}"
        follows = partial(self.uploads.expect, file)
        return Outcome({"upload_url": url, "file_id": file["id"]}, follows)

    def complete_upload(self, given: Given) -> Outcome:
        files = self.uploads.shared(given)
        channel = text_of(given.get("channel_id"))
        if not channel:
            return Outcome({"files": files})
        text = text_of(given.get("initial_comment"))
        said = {"text": text or ", ".join(file["name"] for file in files)}
        thread = {key: given[key] for key in ("thread_ts",) if key in given}
        posted = self._posted(self._channel({"channel": channel}), {**said, **thread})
        if posted.message is not None:
            posted.message.update(text=text, files=files)
        return posted._replace(result={"files": files})

    # -- messages

    def _posted(self, channel: str, given: Given) -> Outcome:
        content, text = posts.content(given)
        thread = text_of(given.get("thread_ts"))
        if thread and not any(message["ts"] == thread for message in self._said[channel]):
            raise Refused("thread_not_found")
        message = self._message(channel, {"user": BOT_USER, "bot_id": BOT, **content})
        if thread:
            message["thread_ts"] = thread
        result = {"channel": channel, "ts": message["ts"], "message": posts.shown(message)}
        return Outcome(result, partial(self._keep, message), message, text)

    def _message(self, channel: str, content: Mapping[str, Any]) -> Message:
        return {
            "type": "message",
            "channel": channel,
            "ts": self._stamp(),
            "team": TEAM,
            "reactions": [],
            **content,
        }

    def _stamp(self) -> str:
        """The time, and never the same twice."""
        self._last = max(self._last + 1, int(clock.wall() * _MILLION))
        return f"{self._last // _MILLION}.{self._last % _MILLION:06}"

    def _keep(self, message: Message) -> None:
        self._said[message["channel"]].append(message)

    def _channel(self, given: Given) -> str:
        asked = text_of(given.get("channel"))
        if asked in self._said:
            return asked
        if asked == PERSON:
            return DIRECT
        for key, name in self._channels.items():
            if asked.removeprefix("#") == name:
                return key
        raise Refused("channel_not_found")

    def _found(self, given: Given, field: str) -> Message:
        stamp = text_of(given.get(field))
        for message in self._said[self._channel(given)]:
            if message["ts"] == stamp:
                return message
        raise Refused("message_not_found")

    def _own(self, given: Given, what: str) -> Message:
        message = self._found(given, "ts")
        if message["user"] != BOT_USER:
            raise Refused(f"cant_{what}_message")
        return message

    def _reacted(self, given: Given) -> tuple[Message, str]:
        name = text_of(given.get("name")).strip(":")
        if not name:
            raise Refused("invalid_name")
        return self._found(given, "timestamp"), name

    def _page(self, messages: Sequence[Message], given: Given) -> Mapping[str, Any]:
        """The messages between two times, a page of them."""
        within = posts.between(messages, given)
        start = number_of(given.get("cursor"), 0)
        end = start + min(max(number_of(given.get("limit"), _PAGE), 1), _MOST)
        shown = [self._with_thread(message) for message in within[max(start, 0) : end]]
        result: dict[str, Any] = {"messages": shown, "has_more": len(within) > end}
        more = {"response_metadata": {"next_cursor": str(end)}} if result["has_more"] else {}
        return {**result, **more}

    def _with_thread(self, message: Message) -> Message:
        """A message as it is shown; the first of a thread says what there is of it."""
        replies = [
            other
            for other in self._said[message["channel"]]
            if other.get("thread_ts") == message["ts"] and posts.is_reply(other)
        ]
        if not replies:
            return posts.shown(message)
        users = list(dict.fromkeys(reply["user"] for reply in replies))
        return {
            **posts.shown(message),
            "thread_ts": message["ts"],
            "reply_count": len(replies),
            "reply_users": users,
            "reply_users_count": len(users),
            "latest_reply": replies[-1]["ts"],
        }

    def _described(self, key: str) -> Mapping[str, Any]:
        if key == DIRECT:
            return {"id": key, "is_im": True, "user": PERSON}
        name = self._channels[key]
        kind = {"is_channel": True, "is_member": True, "is_archived": False, "is_private": False}
        return {"id": key, "name": name, "name_normalized": name, **kind}


METHODS: Final[Mapping[str, Callable[[Workspace, Given], Outcome]]] = {
    "api.test": Workspace.api_test,
    "auth.test": Workspace.auth_test,
    "chat.delete": Workspace.delete,
    "chat.postMessage": Workspace.post_message,
    "chat.update": Workspace.update,
    "conversations.history": Workspace.history,
    "conversations.info": Workspace.info,
    "conversations.join": Workspace.join,
    "conversations.list": Workspace.list_channels,
    "conversations.open": Workspace.open,
    "conversations.replies": Workspace.replies,
    "files.completeUploadExternal": Workspace.complete_upload,
    "files.getUploadURLExternal": Workspace.offer_upload,
    "reactions.add": Workspace.add_reaction,
    "reactions.get": Workspace.get_reactions,
    "reactions.remove": Workspace.remove_reaction,
    "users.info": Workspace.user_info,
}
