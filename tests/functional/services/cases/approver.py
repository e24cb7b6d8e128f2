"""Deploys only what a person has approved; the first argument is how long it waits for her."""

import json
import pathlib
import sys
import time
import urllib.request

CHAT = 4242
KEYS = [[{"text": "Approve", "callback_data": "yes"}, {"text": "Deny", "callback_data": "no"}]]


def call(method, **given):
    """Ask the Bot API."""
    body = json.dumps(given).encode()
    head = {"content-type": "application/json"}
    asked = urllib.request.Request(f"http://telegram:8080/bot1:a/{method}", body, head)
    with urllib.request.urlopen(asked, timeout=60) as reply:
        return json.load(reply)["result"]


def approved(question, patience):
    """Ask, ask once more when half of the time is over, and take silence for a no."""
    begun = time.monotonic()
    asked, offset = 0, 0
    while (passed := time.monotonic() - begun) < patience:
        if passed >= asked * patience / 2:
            call("sendMessage", chat_id=CHAT, text=question, reply_markup={"inline_keyboard": KEYS})
            asked += 1
        for update in call("getUpdates", offset=offset, timeout=0):
            offset = update["update_id"] + 1
            if "callback_query" in update:
                call("answerCallbackQuery", callback_query_id=update["callback_query"]["id"])
                return update["callback_query"]["data"] == "yes"
        time.sleep(0.05)
    return False


if approved("Need approval: deploy 1.2?", float(sys.argv[1])):
    pathlib.Path("deployed").write_text("1.2\n")
