"""A bot of Telegram and its one chat: the methods of the Bot API, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from harness.services.chat.forms import File, nested, number_of, text_of
from harness.services.chat.human import PRESS, SAY, Act, Due
from sandboxes import clock

Given = Mapping[str, Any]
Message = dict[str, Any]

_LONGEST_TEXT: Final = 4096
_LONGEST_CAPTION: Final = 1024


class Refused(Exception):
    """The API refuses a request; the text is the rest of its description."""


def _nothing() -> None:
    pass


class Outcome(NamedTuple):
    """What a method gives, what it does once its reply holds, and what it said to the person.

    ``message`` is the one that it sent, ``text`` what that says.
    """

    result: Any
    follows: Callable[[], None] = _nothing
    message: Message | None = None
    text: str | None = None


class Bot:
    """The bot, its chat and the messages there."""

    def __init__(self, name: str, chat: int, person: str) -> None:
        self._me: dict[str, Any] = {"id": 1, "is_bot": True, "first_name": name, "username": name}
        self._person = {"id": abs(chat), "is_bot": False, "first_name": person}
        self._chat: dict[str, Any] = {"id": chat, "type": "private", "first_name": person}
        if chat < 0:
            self._chat = {"id": chat, "type": "supergroup", "title": person}
        self._messages: dict[int, Message] = {}
        self._next = 1
        self._queries: set[str] = set()

    def called(self, token: str) -> None:
        """A request came with this token, which begins with the bot's id."""
        self._me["id"] = number_of(token.partition(":")[0], 1)

    def methods(self) -> Mapping[str, Callable[[Given], Outcome]]:
        """What can be asked of it, by the API's names."""
        done = {
            name: lambda _: Outcome(True)
            for name in (
                "deleteWebhook",
                "deleteMyCommands",
                "sendChatAction",
                "setMyCommands",
                "setMessageReaction",
            )
        }
        return {
            **done,
            "getMe": self._get_me,
            "getChat": self._get_chat,
            "getWebhookInfo": lambda _: Outcome(
                {"url": "", "has_custom_certificate": False, "pending_update_count": 0}
            ),
            "sendMessage": self._send_message,
            "sendDocument": partial(self._send_file, "document"),
            "sendPhoto": partial(self._send_file, "photo"),
            "editMessageText": self._edit_text,
            "editMessageReplyMarkup": self._edit_markup,
            "deleteMessage": self._delete,
            "answerCallbackQuery": self._answer_query,
        }

    # -- the person

    def acted(self, due: Due) -> Mapping[str, Any] | None:
        """What she did, as an update; ``None`` where its button is there no more."""
        act, about = due.act, due.about
        if act.kind == PRESS:
            return self._pressed(act.what, about["message_id"])
        message = self._message(self._person, text=act.what)
        if act.what.startswith("/"):
            length = len(act.what.split(maxsplit=1)[0])
            message["entities"] = [{"type": "bot_command", "offset": 0, "length": length}]
        if about is not None:
            message["reply_to_message"] = _quoted(about)
        self._keep(message)
        return {"message": message}

    def _pressed(self, button: str, about: int) -> Mapping[str, Any] | None:
        message = self._messages.get(about, {})
        data = next((data for data, text in _buttons(message) if button in (data, text)), None)
        if data is None:
            return None
        number = str(len(self._queries) + 1)
        self._queries.add(number)
        query = {
            "id": number,
            "from": self._person,
            "message": message,
            "chat_instance": str(self._chat["id"]),
            "data": data,
        }
        return {"callback_query": query}

    def allows(self, message: Message, act: Act) -> bool:
        """Whether she can do something about a message."""
        if act.kind == PRESS:
            return any(act.what in button for button in _buttons(message))
        return act.kind == SAY

    # -- methods

    def _get_me(self, _: Given) -> Outcome:
        able = ("can_join_groups", "can_read_all_group_messages", "supports_inline_queries")
        return Outcome({**self._me, **dict.fromkeys(able, False)})

    def _get_chat(self, given: Given) -> Outcome:
        self._expect_chat(given)
        return Outcome({**self._chat, "accent_color_id": 0, "max_reaction_count": 11})

    def _send_message(self, given: Given) -> Outcome:
        self._expect_chat(given)
        text = text_of(given.get("text"))
        if not text.strip():
            raise Refused("message text is empty")
        if len(text) > _LONGEST_TEXT:
            raise Refused("message is too long")
        return self._sent(self._message(self._me, text=text), given, text)

    def _send_file(self, field: str, given: Given) -> Outcome:
        self._expect_chat(given)
        file = given.get(field)
        if isinstance(file, str) and file.startswith("attach://"):
            file = given.get(file.removeprefix("attach://"))
        if not file:
            raise Refused(f"there is no {field} in the request")
        caption = text_of(given.get("caption"))
        if len(caption) > _LONGEST_CAPTION:
            raise Refused("message caption is too long")
        message = self._message(self._me, **{field: _described(field, file, self._next)})
        if caption:
            message["caption"] = caption
        name = file.name if isinstance(file, File) else text_of(file)
        return self._sent(message, given, caption or name)

    def _sent(self, message: Message, given: Given, text: str) -> Outcome:
        markup = nested(given.get("reply_markup"))
        if isinstance(markup, dict) and "inline_keyboard" in markup:
            message["reply_markup"] = markup
        replied = nested(given.get("reply_parameters"))
        to = replied.get("message_id") if isinstance(replied, dict) else None
        answered = self._messages.get(number_of(to or given.get("reply_to_message_id"), 0))
        if answered is not None:
            message["reply_to_message"] = _quoted(answered)
        return Outcome(message, partial(self._keep, message), message, text)

    def _edit_text(self, given: Given) -> Outcome:
        message = self._named(given, "edit")
        text = text_of(given.get("text"))
        if not text.strip():
            raise Refused("message text is empty")
        markup = nested(given.get("reply_markup"))
        if text == message.get("text") and markup == message.get("reply_markup"):
            raise Refused(
                "message is not modified: specified new message content and reply markup "
                "are exactly the same as a current content and reply markup of the message"
            )
        return self._edited(message, markup, text=text)

    def _edit_markup(self, given: Given) -> Outcome:
        return self._edited(self._named(given, "edit"), nested(given.get("reply_markup")))

    def _edited(self, message: Message, markup: Any, **changes: Any) -> Outcome:
        edited = {**message, **changes, "edit_date": int(clock.wall())}
        edited.pop("reply_markup", None)
        if isinstance(markup, dict) and "inline_keyboard" in markup:
            edited["reply_markup"] = markup
        return Outcome(edited, partial(self._keep, edited))

    def _delete(self, given: Given) -> Outcome:
        message = self._named(given, "delete")
        return Outcome(True, partial(self._forget, message["message_id"]))

    def _answer_query(self, given: Given) -> Outcome:
        if text_of(given.get("callback_query_id")) not in self._queries:
            raise Refused("query is too old and response timeout expired or query ID is invalid")
        return Outcome(True)

    # -- messages

    def _expect_chat(self, given: Given) -> None:
        chat = text_of(given.get("chat_id"))
        if not chat:
            raise Refused("chat_id is empty")
        if chat != str(self._chat["id"]):
            raise Refused("chat not found")

    def _named(self, given: Given, what: str) -> Message:
        self._expect_chat(given)
        message = self._messages.get(number_of(given.get("message_id"), 0))
        if message is None:
            raise Refused(f"message to {what} not found")
        if what == "edit" and message["from"] is not self._me:
            raise Refused("message can't be edited")
        return message

    def _message(self, sender: Mapping[str, Any], **content: Any) -> Message:
        return {
            "message_id": self._next,
            "from": sender,
            "chat": self._chat,
            "date": int(clock.wall()),
            **content,
        }

    def _keep(self, message: Message) -> None:
        self._messages[message["message_id"]] = message
        self._next = max(self._next, message["message_id"] + 1)

    def _forget(self, number: int) -> None:
        self._messages.pop(number, None)


def _quoted(message: Message) -> Message:
    """A message as one that answers it shows it."""
    return {key: value for key, value in message.items() if key != "reply_to_message"}


def _buttons(message: Message) -> Iterator[tuple[str, str]]:
    """Callback data and text of each button that can be pressed."""
    rows = message.get("reply_markup", {}).get("inline_keyboard", ())
    for row in rows if isinstance(rows, list) else ():
        for button in row if isinstance(row, list) else ():
            if isinstance(button, dict) and isinstance(button.get("callback_data"), str):
                yield button["callback_data"], text_of(button.get("text"))


def _described(field: str, file: object, number: int) -> Any:
    """What the API says of a file that was sent; of a photo, its one size."""
    ids = {"file_id": f"file-{number}", "file_unique_id": f"unique-{number}"}
    size = {"file_size": len(file.data)} if isinstance(file, File) else {}
    if field == "photo":
        return [{**ids, **size, "width": 1, "height": 1}]
    named = {"file_name": file.name, "mime_type": file.kind} if isinstance(file, File) else {}
    return {**ids, **size, **named}
