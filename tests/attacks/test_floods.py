"""A subject that floods whatever takes something down cannot make the harness grow without end."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

#: More than the harness takes with nothing to do, and far less than what is poured into it.
MOST = 256 << 20

#: Asks without end, in bodies that take up many times their size once they have been read.
POUR = """
import http.client, os, time
path, head, tail = os.environ["PATH_"], os.environ["HEAD_"], os.environ["TAIL_"]
body = head + os.environ["FILL_"] * int(os.environ["TIMES_"]) + tail
end = time.monotonic() + 8
link = None
while time.monotonic() < end:
    try:
        link = link or http.client.HTTPConnection("flooded", 8080)
        link.request("POST", path, body, {"Content-Type": "application/json"})
        link.getresponse().read()
    except (OSError, http.client.HTTPException):
        link = None
"""
FLOODS = {
    "mcp": (
        {"mcp": {"flooded": {"tools": [{"name": "note"}]}}},
        "/mcp",
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note","arguments":["',
        '"]}}',
    ),
    "telegram": (
        {"telegram": {"flooded": {}}},
        "/bot1:a/sendMessage",
        '{"chat_id":4242,"text":"x","reply_markup":{"inline_keyboard":[',
        "[]]}}",
    ),
    "slack": (
        {"slack": {"flooded": {}}},
        "/api/chat.postMessage",
        '{"token":"xoxb-1","channel":"general","text":"x","blocks":[',
        "[]]}",
    ),
    "github": (
        {"github": {"flooded": {"repos": {"o/r": {}}}}},
        "/repos/o/r/statuses/main",
        '{"state":"error","description":[',
        "[]]}",
    ),
}


def peak(bench, case) -> int:
    """Bytes of memory that a run took at its highest; it must come to its end."""
    words = bench.argv("run", case, "--json")
    with subprocess.Popen(
        words, cwd=bench.folder, env=bench.env(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        said = process.stdout.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in {0, 3}, said
    return usage.ru_maxrss << 10


def case_of(name, program, services, env) -> str:
    document = {
        "title": name,
        "subject": {"command": ["python3", "-c", program.replace("{", "{{").replace("}", "}}")]},
        "env": env,
        "services": services,
        "expect": [{"exit": 0}],
    }
    return json.dumps(document)[1:-1]


@pytest.mark.long
@pytest.mark.parametrize("name", FLOODS)
def test_a_service_that_is_flooded_takes_so_much_and_no_more(name, shakeout):
    services, path, head, tail = FLOODS[name]
    fill, times = ("1", "2000000") if name == "mcp" else ("[],", "300000")
    said = {"PATH_": path, "HEAD_": head, "FILL_": fill, "TIMES_": times, "TAIL_": tail}
    text = case_of(name, POUR, services, said)
    case = shakeout.folder / "flood.yaml"
    case.write_text(f'{{"case": "flood", {text}}}')

    assert peak(shakeout, case) < MOST
