"""python-telegram-bot, unmodified, talks with the bot's person through the scripted Bot API."""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any

import pytest
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, Update
from telegram.error import (
    BadRequest,
    Conflict,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)
from telegram.ext import Application, CallbackQueryHandler, CommandHandler

TOKEN = "110201543:AAHdqTcv"
CHAT = 4242
KEYS = InlineKeyboardMarkup(
    [[InlineKeyboardButton("Yes", callback_data="approve")], [InlineKeyboardButton("No", url="x")]]
)


def bot(served, token: str = TOKEN) -> Bot:
    return Bot(token, base_url=f"{served.url}/bot", base_file_url=f"{served.url}/file/bot")


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, 30))


def test_a_bot_says_things_edits_them_and_knows_itself(chat):
    served = chat("telegram", bot="deploybot")

    async def work() -> None:
        async with bot(served) as api:
            assert (api.username, api.id) == ("deploybot", 110201543)
            sent = await api.send_message(CHAT, "Deploy <b>now</b>?", parse_mode="HTML")
            assert (sent.message_id, sent.text, sent.chat.id) == (1, "Deploy <b>now</b>?", CHAT)
            edited = await sent.edit_text("Deployed.")
            assert isinstance(edited, type(sent))
            assert (edited.text, edited.message_id) == ("Deployed.", 1)
            assert edited.edit_date is not None
            with pytest.raises(BadRequest, match="is not modified"):
                await edited.edit_text("Deployed.")
            assert (await api.get_chat(CHAT)).first_name == "Sam"
            assert await api.send_chat_action(CHAT, "typing")
            assert await sent.delete()
            with pytest.raises(BadRequest, match="Message to edit not found"):
                await sent.edit_text("again")

    run(work())
    assert served.messages() == ["Deploy <b>now</b>?"]


def test_what_the_api_refuses_is_refused_in_its_words_and_reaches_nobody(chat):
    served = chat("telegram", human=[{"on": ".", "say": "what?"}])

    async def work() -> None:
        async with bot(served) as api:
            for chat_id, text, words in (
                (7, "hello", "Chat not found"),
                (CHAT, " ", "Message text is empty"),
                (CHAT, "x" * 4097, "Message is too long"),
            ):
                with pytest.raises(BadRequest, match=words):
                    await api.send_message(chat_id, text)
            with pytest.raises(BadRequest, match="Query is too old"):
                await api.answer_callback_query("9")
            with pytest.raises(BadRequest, match="Message to delete not found"):
                await api.delete_message(CHAT, 9)
            assert await api.get_updates() == ()

    run(work())
    assert served.messages() == []


@pytest.mark.parametrize("token", ["110201543:other", "1:x"])
def test_another_token_is_unauthorised(chat, token):
    served = chat("telegram", token=TOKEN)

    async def work() -> None:
        async with bot(served) as api:
            assert (await api.get_me()).is_bot
        with pytest.raises(InvalidToken):
            async with bot(served, token):
                pass

    run(work())
    assert [r.status for r in served.live.requests()][-1] == 401


def test_a_method_that_is_not_there_is_on_record_and_not_found(chat):
    served = chat("telegram")

    async def work() -> None:
        async with bot(served) as api:
            with pytest.raises(TelegramError, match="not found in Bot API"):
                await api.do_api_request("launchRocket", {"to": "moon"})

    run(work())
    last = served.live.requests()[-1]
    assert (last.path, last.status, last.ended) == (f"/bot{TOKEN}/launchRocket", 404, "whole")


def test_a_document_goes_to_her_with_its_caption(chat):
    served = chat("telegram", human=[{"on": "report", "say": "thanks"}])

    async def work() -> None:
        async with bot(served) as api:
            data = b"\x00\xff--\r\n--x\r\n" * 100
            sent = await api.send_document(
                CHAT, io.BytesIO(data), caption="the report", filename="r.bin"
            )
            assert sent.document is not None
            assert (sent.document.file_name, sent.document.file_size) == ("r.bin", len(data))
            photo = await api.send_photo(CHAT, b"\x89PNG\r\n\x1a\n", filename="report.png")
            assert len(photo.photo) == 1
            answers = await api.get_updates()
            assert [update.message and update.message.text for update in answers] == ["thanks"] * 2

    run(work())
    assert served.messages() == ["the report", "report.png"]


def test_a_long_poll_ends_when_she_answers_and_each_answer_comes_once(chat):
    served = chat("telegram", human=[{"on": r"\?$", "say": "approve", "after": "300ms"}])

    async def work() -> None:
        async with bot(served) as api, bot(served) as other:
            began = time.monotonic()
            poll = asyncio.create_task(api.get_updates(timeout=20, read_timeout=25))
            sent = await other.send_message(CHAT, "Deploy?")
            await other.send_message(CHAT, "Just so you know.")
            (update,) = await poll
            assert 0.28 < time.monotonic() - began < 10
            assert update.message is not None
            assert update.message.text == "approve"
            assert update.message.from_user is not None
            assert not update.message.from_user.is_bot
            assert update.message.reply_to_message == sent
            assert await api.get_updates() == (update,)  # not confirmed yet
            assert await api.get_updates(offset=update.update_id + 1) == ()
            assert await api.get_updates() == ()

    run(work())


def test_a_poll_that_nothing_comes_to_is_empty_after_its_timeout(chat):
    served = chat("telegram")

    async def work() -> None:
        async with bot(served) as api:
            began = time.monotonic()
            assert await api.get_updates(timeout=1) == ()
            assert 0.95 < time.monotonic() - began < 10

    run(work())


def test_a_second_poll_ends_the_first_as_the_real_api_does(chat):
    served = chat("telegram")

    async def work() -> None:
        async with bot(served) as api, bot(served) as other:
            first = asyncio.create_task(api.get_updates(timeout=20, read_timeout=25))
            while len(served.live.requests()) < 2:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
            assert await other.get_updates() == ()
            with pytest.raises(Conflict):
                await first

    run(work())


def test_she_presses_a_button_and_it_is_answered(chat):
    served = chat("telegram", human=[{"on": "Deploy", "press": "approve"}])

    async def work() -> None:
        async with bot(served) as api:
            await api.send_message(CHAT, "Deploy, without a button")
            assert await api.get_updates() == ()
            sent = await api.send_message(CHAT, "Deploy?", reply_markup=KEYS)
            (update,) = await api.get_updates()
            query = update.callback_query
            assert query is not None
            assert (query.data, query.message) == ("approve", sent)
            assert await query.answer("thank you")
            await query.edit_message_text("Deploying.")

    run(work())


def test_a_button_that_has_gone_is_not_pressed(chat):
    served = chat("telegram", human=[{"on": "Deploy", "press": "Yes", "after": "100ms"}])

    watch = served.stop_clock()

    async def work() -> None:
        async with bot(served) as api:
            sent = await api.send_message(CHAT, "Deploy?", reply_markup=KEYS)
            await sent.edit_reply_markup(None)
            watch.now += 1
            assert await api.get_updates() == ()

    run(work())


def test_an_application_hears_a_command_by_long_polling_and_its_answer_reaches_her(chat):
    served = chat(
        "telegram",
        human=[
            {"say": "/status all", "after": "50ms"},
            {"on": "all good", "press": "approve"},
        ],
    )
    heard: list[object] = []

    async def work() -> None:
        done = asyncio.Event()

        async def status(update: Update, context: Any) -> None:
            heard.append(context.args)
            assert update.message is not None
            await update.message.reply_text("all good", reply_markup=KEYS)

        async def pressed(update: Update, _: Any) -> None:
            assert update.callback_query is not None
            await update.callback_query.answer()
            heard.append(update.callback_query.data)
            done.set()

        app = Application.builder().token(TOKEN).base_url(f"{served.url}/bot").build()
        app.add_handler(CommandHandler("status", status))
        app.add_handler(CallbackQueryHandler(pressed))
        async with app:
            await app.start()
            assert app.updater is not None
            await app.updater.start_polling(timeout=5)
            await asyncio.wait_for(done.wait(), 20)
            await app.updater.stop()
            await app.stop()

    run(work())
    assert heard == [["all"], "approve"]
    assert served.messages() == ["all good"]
    assert {r.ended for r in served.live.requests()} <= {"whole", "cut"}


def test_a_rate_limit_is_told_as_the_api_tells_it_and_obeyed(chat, monkeypatch):
    monkeypatch.setenv("PTB_TIMEDELTA", "1")
    served = chat("telegram", human=[{"on": "hello", "say": "hi"}])

    async def work() -> None:
        async with bot(served) as api:
            served.arm("upstream.status", status=429, headers={"Retry-After": 1})
            with pytest.raises(RetryAfter) as error:
                await api.send_message(CHAT, "hello")
            assert error.value.retry_after == timedelta(seconds=1)
            assert await api.get_updates() == ()  # it was not taken
            await api.send_message(CHAT, "hello")
            assert len(await api.get_updates()) == 1

    run(work())
    assert served.messages() == ["hello"]


@pytest.mark.parametrize(
    ("name", "params", "error"),
    [
        ("upstream.status", {"status": 502}, NetworkError),
        ("upstream.reset", {}, NetworkError),
        ("upstream.garbage", {"instead": "body"}, TelegramError),
        ("upstream.slow", {"delay": "2s"}, TimedOut),
        ("upstream.redirect-loop", {}, TelegramError),
    ],
)
def test_a_fault_of_upstream_is_what_a_client_makes_of_it(chat, name, params, error):
    served = chat("telegram")

    async def work() -> None:
        async with bot(served) as api:
            served.arm(name, **params)
            with pytest.raises(error):
                await api.get_updates(read_timeout=0.5)
            assert await api.get_updates() == ()

    run(work())
    assert served.live.hits("wrong") == 1
