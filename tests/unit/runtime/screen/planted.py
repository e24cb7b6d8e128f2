"""Made-up secrets of every kind, drawn anew, and how people and programs write them down."""

from __future__ import annotations

import base64
import json
import quopri
import random
import string
import textwrap
import urllib.parse
from collections.abc import Callable, Mapping

ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "_-"
HEX = "0123456789abcdef"
BASE32 = string.ascii_uppercase + "234567"

Draw = random.Random
Make = Callable[[Draw], str]


def of(letters: str, count: int, head: str = "", tail: str = "") -> Make:
    return lambda draw: head + "".join(draw.choices(letters, k=count)) + tail


def pem(name: str) -> Make:
    def make(draw: Draw) -> str:
        body = "\n".join(textwrap.wrap("".join(draw.choices(ALNUM + "+/", k=320)), 64))
        return f"-----BEGIN {name}-----\n{body}\n-----END {name}-----"

    return make


def jwt(draw: Draw) -> str:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    body = base64.urlsafe_b64encode(json.dumps({"sub": draw.getrandbits(60)}).encode()).decode()
    return f"{head}.{body.rstrip('=')}.{of(URLSAFE, 43)(draw)}"


TOKENS: Mapping[str, Make] = {
    "aws-access-key": of(BASE32, 16, "AKIA"),
    "github-token": of(ALNUM, 36, "ghp_"),
    "github-token-app": of(ALNUM, 36, "ghs_"),
    "github-fine-grained-token": of(ALNUM, 82, "github_pat_"),
    "gitlab-token": of(URLSAFE, 20, "glpat-"),
    "anthropic-key": of(URLSAFE, 95, "sk-ant-api03-"),
    "openai-key": of(ALNUM, 46, "sk-", "7Q"),
    "openai-key-project": of(URLSAFE, 100, "sk-proj-"),
    "google-api-key": of(URLSAFE, 35, "AIza"),
    "google-oauth-token": of(URLSAFE, 60, "ya29."),
    "google-oauth-token-client": of(URLSAFE, 28, "GOCSPX-"),
    "slack-token": of(ALNUM, 24, "xoxb-2345678901-3456789012-"),
    "slack-token-app": of(HEX, 64, "xapp-1-A012BCDEF-1234567890123-"),
    "slack-webhook": of(ALNUM, 24, "hooks.slack.com/services/T012ABCDE/B012ABCDE/"),
    "telegram-token": of(URLSAFE, 33, "110201543:AA"),
    "stripe-key": of(ALNUM, 24, "sk_live_"),
    "npm-token": of(ALNUM, 36, "npm_"),
    "pypi-token": of(URLSAFE, 150, "pypi-AgEIcHlwaS5vcmc"),
    "twilio-key": of(HEX, 32, "SK"),
    "sendgrid-key": lambda draw: f"SG.{of(URLSAFE, 22)(draw)}.{of(URLSAFE, 43)(draw)}",
    "jwt": jwt,
    "azure-storage-key": of(ALNUM + "+/", 86, "AccountKey=", "=="),
    "digitalocean-token": of(HEX, 64, "dop_v1_"),
    "hugging-face-token": of(ALNUM, 34, "hf_"),
    "docker-hub-token": of(URLSAFE, 27, "dckr_pat_"),
    "vault-token": of(URLSAFE, 90, "hvs."),
    "databricks-token": of(HEX, 32, "dapi"),
}
KEYS: Mapping[str, Make] = {
    name.lower().replace(" ", "-"): pem(name)
    for name in (
        "PRIVATE KEY",
        "RSA PRIVATE KEY",
        "DSA PRIVATE KEY",
        "EC PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    )
}


def packed(before: int) -> Callable[[str], str]:
    return lambda text: base64.b64encode(b"x" * before + text.encode()).decode()


def lines(text: str, width: int, between: str) -> str:
    return between.join(text[at : at + width] for at in range(0, len(text), width))


def each(text: str, form: str) -> str:
    return "".join(form.format(ord(char)) for char in text)


ENCODINGS: Mapping[str, Callable[[str], str]] = {
    "plain": str,
    "base64, first alignment": packed(0),
    "base64, second alignment": packed(1),
    "base64, third alignment": packed(2),
    "base64, for URLs": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "base64 of the whole": lambda text: packed(0)(f"a longer text, in which {text} is"),
    "base64 in lines": lambda text: lines(packed(0)(f"some {text} more"), 19, "\n"),
    "base64 of base64": lambda text: packed(1)(packed(2)(text)),
    "base64 of UTF-16": lambda text: base64.b64encode(text.encode("utf-16-le")).decode(),
    "hex": lambda text: text.encode().hex(),
    "hex in capitals": lambda text: text.encode().hex().upper(),
    "hex with colons": lambda text: text.encode().hex(":"),
    "hex with spaces": lambda text: text.encode().hex(" ", 2),
    "hex in C": lambda text: ", ".join(f"0x{byte:02x}" for byte in text.encode()),
    "URL": lambda text: urllib.parse.quote(text, safe=""),
    "URL, every character": lambda text: each(text, "%{:02X}"),
    "URL, twice": lambda text: urllib.parse.quote(each(text, "%{:02x}"), safe=""),
    "URL, every other character": lambda text: "".join(
        f"%{ord(char):02X}" if at % 2 else char for at, char in enumerate(text)
    ),
    "JSON": lambda text: json.dumps({"text": text}),
    "JSON in JSON": lambda text: json.dumps(json.dumps({"text": text})),
    "JSON, every character": lambda text: each(text, "\\u{:04x}"),
    "hex escapes": lambda text: each(text, "\\x{:02x}"),
    "octal escapes": lambda text: each(text, "\\{:03o}"),
    "HTML": lambda text: each(text, "&#{:d};"),
    "lines of 7": lambda text: lines(text, 7, "\n"),
    "lines of 3, indented": lambda text: lines(text, 3, "\r\n    "),
    "lines of 1": lambda text: lines(text, 1, "\n"),
    "backslash at line ends": lambda text: lines(text, 11, "\\\n"),
    "colours": lambda text: lines(text, 9, "\x1b[1;31m"),
    "zero-width": lambda text: lines(text, 4, "\u200b"),
    "quoted-printable": lambda text: quopri.encodestring(text.encode()).decode(),
    "quoted-printable lines": lambda text: lines(text, 13, "=\n"),
    "added up": lambda text: '"' + lines(text, 12, '" + "') + '"',
    "side by side": lambda text: "'" + lines(text, 12, "'\n  '") + "'",
}
