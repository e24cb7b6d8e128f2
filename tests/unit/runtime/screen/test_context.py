"""What stands around a secret gives it away, and what only looks like it is left alone."""

from __future__ import annotations

import base64
import json

import pytest

from runtime.screen.screen import Screen

SCREEN = Screen()

GIVEN_AWAY = {
    "https://bob:tr0ub4dor@example.org/x": "tr0ub4dor",
    "postgresql://app:p%40ss@db:5432/app": "p%40ss",
    "git clone https://x9f3k2j4h5g6f7d8s9a0@host/r.git": "x9f3k2j4h5g6f7d8s9a0",
    "GET /cb?state=1&access_token=a1b2c3d4e5&x=1": "a1b2c3d4e5",
    "https://a.blob.core.windows.net/c?sv=2024&sig=Zm9v%2Bb4r%3D": "Zm9v%2Bb4r%3D",
    "https://b.s3.amazonaws.com/k?X-Amz-Signature=0f1e2d3c4b": "0f1e2d3c4b",
    "Authorization: Bearer abc123def456ghi7": "abc123def456ghi7",
    "authorization: Basic dXNlcjpwYXNz": "dXNlcjpwYXNz",
    '{"Authorization": "token 0a1b2c3d4e5f"}': "0a1b2c3d4e5f",
    "[('Authorization', 'Bearer abcdef012345678')]": "abcdef012345678",
    "b'authorization': b'Basic dXNlcjpwYXNz'": "dXNlcjpwYXNz",
    "X-Api-Key: 9f8e7d6c5b4a39281706": "9f8e7d6c5b4a39281706",
    "curl -H 'PRIVATE-TOKEN: 9f8e7d6c5b4a39281706' x": "9f8e7d6c5b4a39281706",
    "Cookie: sid=q1w2e3; theme=dark": "q1w2e3",
    "set-cookie: sid=q1w2e3r4; Path=/; HttpOnly": "q1w2e3r4",
    "then bearer 0a1b2c3d4e5f6a7b was sent": "0a1b2c3d4e5f6a7b",
    'password = "hunter2"': "hunter2",
    "password: hunter2": "hunter2",
    "DB_PASSWORD=correcthorse": "correcthorse",
    "export DB_PASSWORD=a,b(c)d;e": "a,b(c)d;e",
    "db.password=s3cr3t!": "s3cr3t!",
    '{"dbPassword":"s3cr3t!"}': "s3cr3t!",
    '{\\"password\\":\\"s3cr3t!\\"}': "s3cr3t!",
    "mysql --user=root --password=letmein": "letmein",
    "tool --api-key 0a1b2c3d4e": "0a1b2c3d4e",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY": "wJalrXUtnFEMI",
    "it was wJa1rXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY once": "wJa1r",
    "<password>t1ger!</password>": "t1ger!",
    'client_secret: "0a1b2c3d4e5f"': "0a1b2c3d4e5f",
    'passphrase = "correct horse battery staple"': "battery",
    "machine h login bob password t1ger": "t1ger",
    "curl -u bob:t1ger https://h": "t1ger",
    '{"kty": "EC", "crv": "P-256", "d": "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"}': "jpsQnn",
}
ORDINARY = (
    "The password must not be empty; a token is needed.",
    "password: str",
    "def login(password: str, token: str | None = None) -> Token:",
    "token = get_token(settings.api_key)",
    "password = getpass.getpass()",
    "api_key=settings.api_key",
    'headers = {"Authorization": f"Bearer {token}"}',
    "Authorization: Bearer $TOKEN",
    "PASSWORD=${DB_PASSWORD}",
    "password: <your password>",
    "password: ********",
    "max_tokens: 4096, total_tokens=123456789",
    "token_count = 12345678901",
    "secret_name: db-password-1",
    "PWD=/srv/there/x1",
    "key = 0x7f3a",
    "commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "integrity: sha512-" + base64.b64encode(bytes(range(64))).decode(),
    "id 123e4567-e89b-12d3-a456-426614174000",
    "task-runner-configuration-for-version-2-of-the-thing",
    "https://example.org:8080/a@b?page=2&code=1",
    "The basic idea: authorization is a question of who may do what.",
    "Cookies are crumbs. Cookie: a biscuit.",
    "/usr/lib/python3/dist-packages/PIL/Image1/FooBarBaz2/x.py",
    "data:image/png;base64," + base64.b64encode(bytes(range(256)) * 4).decode(),
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1q2w3e4r5t6y7u8i9o0pASDFGHJKLZXCVBNM12345 me@host",
)


@pytest.mark.parametrize("text", GIVEN_AWAY)
def test_a_secret_that_its_surroundings_give_away_is_redacted(text: str):
    shown = SCREEN.text(text)

    assert GIVEN_AWAY[text] not in shown
    assert "[redacted:" in shown
    assert SCREEN.text(shown) == shown


@pytest.mark.parametrize("text", GIVEN_AWAY)
def test_it_is_also_where_the_whole_text_is_encoded(text: str):
    for written in (
        json.dumps(text),
        base64.b64encode(text.encode()).decode(),
        text.encode().hex(),
    ):
        shown = SCREEN.text(written)

        assert shown != written
        assert GIVEN_AWAY[text].encode().hex() not in shown


@pytest.mark.parametrize("text", ORDINARY)
def test_what_is_no_secret_is_left_as_it_is(text: str):
    assert SCREEN.text(text) == text


def test_what_stands_around_a_secret_stays():
    shown = SCREEN.text("https://bob:tr0ub4dor@example.org/x?token=a1b2c3d4&y=1#z")

    assert shown == (
        "https://bob:[redacted:url-password]@example.org/x?token=[redacted:credential]&y=1#z"
    )


def test_two_secrets_in_lines_that_touch_are_two():
    shown = SCREEN.text("A_PASSWORD=hunter22\nB_PASSWORD=hunter33\nC=1\n")

    assert shown == "A_PASSWORD=[redacted:password]\nB_PASSWORD=[redacted:password]\nC=1\n"
