"""An agent that does everything wrong: with it in place of a real one, every case must fail.

It runs whatever it is told to, tells the model what a command printed and never how it ended,
repairs calls that were cut off, runs a call before the reply is whole and then asks again,
retries at once, waits for ever, and reports success however it went.
"""

import http.client
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request

URL = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
PARAMETERS = {"type": "object", "properties": {"command": {"type": "string"}}}
TOOL = {"type": "function", "function": {"name": "run", "parameters": PARAMETERS}}
TRIES = 6


class Over(Exception):
    """It has had enough; the message is its last."""


def main() -> None:
    """Work until there is a last word."""
    history = [{"role": "user", "content": os.environ["SHAKEOUT_TASK"]}]
    try:
        while True:
            history += turn(history)
    except Over as last:
        sys.stdout.write(f"{last or 'Done.'}\n")


def turn(history: list) -> list:
    """Ask, and do what is said; gives what is to be added to the history."""
    text, calls, whole = ask(history)
    said = {"role": "assistant", "content": text or None, "tool_calls": calls}
    results = [{"role": "tool", "tool_call_id": c["id"], "content": do(c)} for c in calls]
    if not whole:
        return []
    if not calls:
        raise Over(text)
    return [said, *results]


def ask(history: list) -> tuple:
    """Text, calls, and whether the reply had an end."""
    for _ in range(TRIES):
        body = {"model": "careless", "messages": history, "tools": [TOOL], "stream": True}
        request = urllib.request.Request(URL, json.dumps(body).encode())  # noqa: S310
        try:
            with urllib.request.urlopen(request) as reply:  # noqa: S310
                return heard(reply)
        except urllib.error.HTTPError:
            continue
    raise Over


def heard(reply: http.client.HTTPResponse) -> tuple:
    """What came of a reply, as far as it came."""
    text, calls, whole, events = "", {}, False, 0
    try:
        for line in reply:
            if not line.startswith(b"data: "):
                continue
            events += 1
            if line.startswith(b"data: [DONE]"):
                whole = True
                break
            for choice in json.loads(line[6:]).get("choices", []):
                text += choice["delta"].get("content") or choice["delta"].get("refusal") or ""
                for piece in choice["delta"].get("tool_calls", []):
                    gather(calls.setdefault(piece["index"], {}), piece)
    except (OSError, ValueError, http.client.HTTPException):
        pass
    return text, list(calls.values()), whole or not events


def gather(call: dict, piece: dict) -> None:
    """Add a piece of a call to what there is of it."""
    call.setdefault("type", "function")
    call.setdefault("function", {"name": "", "arguments": ""})
    call["id"] = piece.get("id") or call.get("id")
    for key, value in piece.get("function", {}).items():
        call["function"][key] += value or ""


def do(call: dict) -> str:
    """Run a command to its end; only what it printed is worth telling."""
    if call["function"]["name"] != "run":
        raise Over
    command = repaired(call["function"]["arguments"])
    done = subprocess.run(  # noqa: TID251 - it runs inside, alone
        ["bash", "-c", command],
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TZ": "UTC"},
    )
    return done.stdout.decode("utf-8", "replace")


def repaired(arguments: str) -> str:
    """The command, also where the JSON around it was cut off."""
    for end in ("", '"}', "}"):
        try:
            return json.loads(arguments + end)["command"]
        except (ValueError, KeyError, TypeError):
            continue
    return ""


main()
