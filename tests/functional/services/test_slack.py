"""slack_sdk, unmodified, talks with the person of a workspace through the scripted Web API."""

from __future__ import annotations

import time
from http.client import HTTPException
from typing import Any

import pytest
from slack_sdk import WebClient, WebhookClient
from slack_sdk.errors import SlackApiError, SlackRequestError
from slack_sdk.http_retry.builtin_handlers import RateLimitErrorRetryHandler

TOKEN = "xoxb-17653672481-19874698323"
GENERAL = "C0000000001"
BLOCKS: list[dict[str, Any]] = [
    {"type": "section", "text": {"type": "mrkdwn", "text": "*Deploy* 1.2?"}},
    {"type": "actions", "elements": [{"type": "button", "text": {"text": "Yes"}}]},
]


def client(served, token: str = TOKEN) -> WebClient:
    return WebClient(token, base_url=f"{served.url}/api/", timeout=10)


def error_of(error) -> str:
    return str(error.value.response["error"])


def said(answer) -> list[str]:
    return [message["text"] for message in answer["messages"]]


def test_an_app_says_things_changes_them_and_knows_itself(chat):
    served = chat("slack", channels=["ops", "general"])
    api = client(served)

    me = api.auth_test()
    sent = api.chat_postMessage(channel="#general", text="Deploy?", blocks=BLOCKS)
    changed = api.chat_update(channel=sent["channel"], ts=sent["ts"], text="Deployed.")

    assert (sent["channel"], sent["message"]["user"]) == ("C0000000002", me["user_id"])
    assert changed["text"] == "Deployed."
    (message,) = api.conversations_history(channel="C0000000002")["messages"]
    assert (message["text"], message["ts"]) == ("Deployed.", sent["ts"])
    assert said(api.conversations_history(channel="ops")) == []
    assert api.chat_delete(channel=sent["channel"], ts=sent["ts"])["ok"]
    assert said(api.conversations_history(channel="general")) == []
    assert served.messages() == ["Deploy?\n*Deploy* 1.2?\nYes"]


def test_what_the_api_refuses_is_refused_in_its_words_and_reaches_nobody(chat):
    served = chat("slack", human=[{"on": ".", "say": "what?"}])
    api = client(served)
    hers: dict[str, Any] = {"channel": GENERAL, "ts": "1.000000"}
    for asked, error in (
        (lambda: api.chat_postMessage(channel="nowhere", text="x"), "channel_not_found"),
        (lambda: api.api_call("chat.postMessage", json={"channel": GENERAL}), "no_text"),
        (lambda: api.chat_postMessage(channel=GENERAL, text="x", thread_ts="1.0"), "thread_not_found"),
        (lambda: api.chat_update(**hers, text="x"), "message_not_found"),
        (lambda: api.chat_delete(**hers), "message_not_found"),
        (lambda: api.conversations_replies(**hers), "thread_not_found"),
        (lambda: api.reactions_add(channel=GENERAL, timestamp="1.0", name="x"), "message_not_found"),
        (lambda: api.conversations_open(users=["U9"]), "user_not_found"),
        (lambda: api.users_info(user="U9"), "user_not_found"),
        (lambda: api.api_call("rockets.launch"), "unknown_method"),
    ):  # fmt: skip
        with pytest.raises(SlackApiError) as refused:
            asked()
        assert error_of(refused) == error

    assert served.messages() == []
    assert [r.status for r in served.live.requests()] == [200] * 10


@pytest.mark.parametrize(("token", "error"), [("xoxb-1", "invalid_auth"), ("", "not_authed")])
def test_another_token_is_told_so(chat, token, error):
    served = chat("slack", token=TOKEN)

    assert client(served).auth_test()["ok"]
    with pytest.raises(SlackApiError) as refused:
        client(served, token).chat_postMessage(channel=GENERAL, text="x")

    assert error_of(refused) == error


def test_she_answers_in_the_thread_and_by_a_reaction(chat):
    served = chat(
        "slack",
        human=[
            {"on": "Deploy", "say": "approve", "after": "50ms"},
            {"on": "fine", "react": "+1", "after": "50ms"},
            {"on": "loud", "say": "hey", "thread": False},
        ],
    )
    watch, api = served.stop_clock(), client(served)
    asked = api.chat_postMessage(channel=GENERAL, text="Deploy?")
    fine = api.chat_postMessage(channel=GENERAL, text="Is that fine?")
    assert said(api.conversations_replies(channel=GENERAL, ts=asked["ts"])) == ["Deploy?"]
    assert "reactions" not in api.reactions_get(channel=GENERAL, timestamp=fine["ts"])["message"]

    watch.now += 0.05

    thread = api.conversations_replies(channel=GENERAL, ts=asked["ts"])
    assert said(thread) == ["Deploy?", "approve"]
    assert thread["messages"][1]["user"] != asked["message"]["user"]
    reacted = api.reactions_get(channel=GENERAL, timestamp=fine["ts"])["message"]["reactions"]
    assert [(r["name"], r["count"]) for r in reacted] == [("+1", 1)]
    api.chat_postMessage(channel=GENERAL, text="loud")
    history = api.conversations_history(channel=GENERAL)
    assert said(history) == ["hey", "loud", "Is that fine?", "Deploy?"]
    assert history["messages"][3]["reply_count"] == 1
    later = api.conversations_history(channel=GENERAL, oldest=fine["ts"])
    assert said(later) == ["hey", "loud"]
    late = api.conversations_history(channel=GENERAL, oldest=fine["ts"], inclusive=True)
    assert said(late) == ["hey", "loud", "Is that fine?"]


def test_she_answers_within_the_thread_that_she_is_asked_in(chat):
    served = chat("slack", human=[{"on": r"\?$", "say": "yes"}])
    api = client(served)
    root = api.chat_postMessage(channel=GENERAL, text="Working.")

    api.chat_postMessage(channel=GENERAL, text="Go on?", thread_ts=root["ts"])

    thread = api.conversations_replies(channel=GENERAL, ts=root["ts"])
    assert said(thread) == ["Working.", "Go on?", "yes"]


def test_a_long_history_comes_in_pages(chat):
    served = chat("slack")
    api = client(served)
    for number in range(5):
        api.chat_postMessage(channel=GENERAL, text=str(number))

    pages = [said(page) for page in api.conversations_history(channel=GENERAL, limit=2)]

    assert pages == [["4", "3"], ["2", "1"], ["0"]]


def test_a_direct_message_finds_her(chat):
    served = chat("slack", person="kim", human=[{"on": "psst", "say": "yes?"}])
    api = client(served)
    users = api.auth_test()["user_id"]
    her = next(u for u in ("U0000000001", "U0000000002") if u != users)
    assert api.users_info(user=her)["user"]["name"] == "kim"
    channel = api.conversations_open(users=[her])["channel"]["id"]

    asked = api.chat_postMessage(channel=her, text="psst")

    assert asked["channel"] == channel
    assert said(api.conversations_replies(channel=channel, ts=asked["ts"])) == ["psst", "yes?"]
    names = [c["name"] for c in api.conversations_list()["channels"]]
    assert names == ["general"]


def test_reactions_of_the_app_are_added_once_and_taken_away(chat):
    served = chat("slack")
    api = client(served)
    sent = api.chat_postMessage(channel=GENERAL, text="done")
    mark: dict[str, Any] = {"channel": GENERAL, "timestamp": sent["ts"], "name": "eyes"}

    assert api.reactions_add(**mark)["ok"]
    with pytest.raises(SlackApiError) as twice:
        api.reactions_add(**mark)
    assert error_of(twice) == "already_reacted"
    assert api.reactions_remove(**mark)["ok"]
    with pytest.raises(SlackApiError) as gone:
        api.reactions_remove(**mark)
    assert error_of(gone) == "no_reaction"


def test_a_rate_limit_is_told_as_the_api_tells_it_and_obeyed(chat):
    served = chat("slack")
    served.arm("upstream.status", status=429, headers={"Retry-After": 1})
    plain, patient = client(served), client(served)
    patient.retry_handlers.append(RateLimitErrorRetryHandler(max_retry_count=1))

    with pytest.raises(SlackApiError) as limited:
        plain.chat_postMessage(channel=GENERAL, text="hello")
    assert (limited.value.response.status_code, error_of(limited)) == (429, "ratelimited")
    assert limited.value.response.headers["Retry-After"] == "1"

    served.arm("upstream.status", status=429, headers={"Retry-After": 1})
    began = time.monotonic()
    assert patient.chat_postMessage(channel=GENERAL, text="hello")["ok"]
    assert time.monotonic() - began >= 1
    assert served.messages() == ["hello"]
    assert [r.fault for r in served.live.requests()] == ["wrong", "wrong", None]


@pytest.mark.parametrize("name", ["upstream.status", "upstream.garbage", "upstream.reset"])
def test_a_fault_of_upstream_is_what_a_client_makes_of_it(chat, name):
    served = chat("slack", human=[{"on": "hello", "say": "hi"}])
    served.arm(name)
    api = client(served)
    api.retry_handlers.clear()

    with pytest.raises((SlackApiError, SlackRequestError, HTTPException, OSError)):
        api.chat_postMessage(channel=GENERAL, text="hello")

    assert said(api.conversations_history(channel=GENERAL)) == []
    assert served.messages() == []


def test_a_webhook_reaches_the_first_channel_and_her(chat):
    served = chat("slack", webhook="/services/T1/B1/x7", human=[{"on": "Stuck", "say": "coming"}])
    hook = WebhookClient(f"{served.url}/services/T1/B1/x7")

    assert (hook.send(text="Stuck").status_code, hook.send(text="Stuck").body) == (200, "ok")
    assert hook.send(blocks=BLOCKS).status_code == 200
    empty = hook.send(attachments=[])
    wrong = WebhookClient(f"{served.url}/services/T1/B1/other").send(text="Stuck")

    assert (empty.status_code, empty.body) == (400, "no_text")
    assert (wrong.status_code, wrong.body) == (404, "no_service")
    history = client(served).conversations_history(channel=GENERAL)
    assert said(history) == ["", "Stuck", "Stuck"]
    assert served.messages() == ["Stuck", "Stuck", "*Deploy* 1.2?\nYes"]


def test_a_webhook_that_says_nothing_readable_is_refused(chat):
    served = chat("slack")

    answer = WebhookClient(f"{served.url}/services/T1/B1/x").send_dict({})

    assert (answer.status_code, answer.body) == (400, "invalid_payload")


def test_a_file_is_sent_and_shared_with_its_comment(chat):
    served = chat("slack", human=[{"on": "log", "say": "thanks"}])
    api = client(served)

    shared = api.files_upload_v2(
        channel=GENERAL, filename="run.log", content="all\n" * 9, initial_comment="The log."
    )

    assert [file["title"] for file in shared["files"]] == ["run.log"]
    (message,) = api.conversations_history(channel=GENERAL)["messages"]
    assert (message["text"], message["files"][0]["size"]) == ("The log.", 36)
    assert message["reply_count"] == 1
    bare = api.files_upload_v2(channel=GENERAL, filename="more.log", content="x")
    assert bare["ok"]
    assert served.messages() == ["The log.", "more.log"]


def test_a_file_that_was_not_sent_is_not_shared(chat):
    served = chat("slack")
    api = client(served)
    offered = api.files_getUploadURLExternal(filename="a", length=3)
    served.arm("upstream.status")
    assert WebhookClient(offered["upload_url"]).send_dict({}).status_code == 503

    for asked, error in (
        (lambda: api.files_getUploadURLExternal(filename="a", length=0), "invalid_arguments"),
        (lambda: api.files_completeUploadExternal(files=[]), "invalid_arguments"),
        (
            lambda: api.files_completeUploadExternal(
                files=[{"id": offered["file_id"], "title": "a"}], channel_id=GENERAL
            ),
            "file_not_found",
        ),
    ):
        with pytest.raises(SlackApiError) as refused:
            asked()
        assert error_of(refused) == error
    assert WebhookClient(f"{served.url}/upload/v1/F9").send_dict({}).status_code == 404
    assert served.messages() == []
