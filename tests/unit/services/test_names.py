"""Names inside a sandbox: the services' own, and no others, whatever is asked."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.services.names import Names, Zone

A, PTR, TXT, AAAA, HTTPS, ANY = 1, 12, 16, 28, 65, 255
NOERROR, FORMERR, SERVFAIL, NXDOMAIN, NOTIMP = range(5)


def no_secrets(text: str) -> tuple[str, list[str]]:
    return text, []


def names(screen=no_secrets) -> Names:
    return Names(Zone.of({"model": "127.0.1.1", "Up-stream": "127.0.1.2"}), screen)


def encoded(name: str | list[bytes]) -> bytes:
    labels = [part.encode() for part in name.split(".")] if isinstance(name, str) else name
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def query(name: str | list[bytes], kind: int = A, flags: int = 0x0100, number: int = 77) -> bytes:
    head = struct.pack(">HHHHHH", number, flags, 1, 0, 0, 0)
    return head + encoded(name) + struct.pack(">HH", kind, 1)


def code(reply: bytes | None) -> int:
    assert reply is not None
    return reply[3] & 15


def answers(reply: bytes | None) -> int:
    assert reply is not None
    return int.from_bytes(reply[6:8], "big")


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("model", "127.0.1.1"),
        ("MoDeL", "127.0.1.1"),
        ("up-stream", "127.0.1.2"),
        ("localhost", "127.0.0.1"),
    ],
)
def test_a_declared_name_has_its_address(name, address):
    zone = names()
    reply = zone.reply(query(name))

    assert reply is not None
    number, flags, questions, count, *_ = struct.unpack_from(">HHHHHH", reply)
    assert (number, questions, count, flags & 0x8000) == (77, 1, 1, 0x8000)
    assert reply[12:].startswith(encoded(name))  # the question, in the case it was asked in
    assert reply.endswith(bytes(map(int, address.split("."))))
    assert zone.asked() == {}


@pytest.mark.parametrize("kind", [AAAA, HTTPS, TXT])
def test_a_declared_name_has_nothing_else_and_that_is_no_error(kind):
    reply = names().reply(query("model", kind))

    assert (code(reply), answers(reply)) == (NOERROR, 0)


def test_the_address_of_a_service_has_a_name():
    zone = names()
    reply = zone.reply(query("2.1.0.127.in-addr.arpa", PTR))

    assert (code(reply), answers(reply)) == (NOERROR, 1)
    assert reply is not None
    assert reply.endswith(encoded("up-stream"))
    assert zone.asked() == {}


def test_every_other_name_does_not_exist_and_is_counted_by_look_up():
    zone = names()
    for name, kind in [
        ("Evil.Example", A),
        ("evil.example", AAAA),
        ("evil.EXAMPLE", A),
        ("model.example", A),
        ("9.9.9.9.in-addr.arpa", PTR),
    ]:
        assert code(zone.reply(query(name, kind))) == NXDOMAIN

    assert zone.asked() == {"evil.example": 2, "model.example": 1, "9.9.9.9.in-addr.arpa": 1}


def test_odd_bytes_of_a_name_are_written_out():
    zone = names()
    zone.reply(query([b"a.b", b"\x00\xff\\", b"c d"]))
    zone.reply(query([]))

    assert set(zone.asked()) == {"a\\x2eb.\\x00\\xff\\x5c.c\\x20d", "."}


@pytest.mark.parametrize(
    "message",
    [
        query("x")[:-1],
        query("x")[:14],
        struct.pack(">HHHHHH", 1, 0, 1, 0, 0, 0) + b"\xc0\x0c\0\1\0\1",  # points to itself
        struct.pack(">HHHHHH", 1, 0, 1, 0, 0, 0) + b"\x40" + b"a" * 64 + b"\0\0\1\0\1",
        query([b"a" * 63] * 4),
        struct.pack(">HHHHHH", 1, 0, 0, 0, 0, 0),
        struct.pack(">HHHHHH", 1, 0, 2, 0, 0, 0) + encoded("x") + b"\0\1\0\1",
    ],
)
def test_a_malformed_query_is_called_so(message):
    zone = names()

    assert code(zone.reply(message)) == FORMERR
    assert zone.asked() == {}


def test_the_longest_name_is_taken():
    zone = names()
    labels = [b"a" * 63] * 3 + [b"b" * 61]

    assert code(zone.reply(query(labels))) == NXDOMAIN
    assert max(map(len, zone.asked())) == 253


def test_other_operations_are_not_implemented_and_answers_are_not_answered():
    zone = names()

    assert code(zone.reply(query("model", flags=0x2000))) == NOTIMP
    assert zone.reply(query("model", flags=0x8000)) is None
    assert zone.reply(b"short") is None


@pytest.mark.parametrize(
    ("name", "how", "expected"),
    [
        ("model", "nxdomain", NXDOMAIN),
        ("model", "servfail", SERVFAIL),
        ("other", "servfail", SERVFAIL),
    ],
)
def test_a_look_up_can_be_made_to_fail_and_is_counted(name, how, expected):
    zone = names()
    zone.fail(name.upper(), how)

    assert code(zone.reply(query(name))) == expected
    assert code(zone.reply(query("localhost"))) == NOERROR
    assert zone.failed(name) == 1
    zone.fail(name, None)
    zone.reply(query(name))
    assert zone.failed(name) == 1


def test_a_name_that_does_not_exist_anyway_was_not_made_to_fail():
    zone = names()
    zone.fail("*", "nxdomain")

    assert code(zone.reply(query("other"))) == NXDOMAIN
    assert zone.failed("*") == 0
    assert code(zone.reply(query("model"))) == NXDOMAIN
    assert zone.failed("*") == 1


def test_all_look_ups_can_be_left_unanswered_and_one_name_be_treated_apart():
    zone = names()
    zone.fail("*", "silent")
    zone.fail("model", "servfail")

    assert zone.reply(query("localhost")) is None
    assert zone.reply(query("other")) is None
    assert code(zone.reply(query("model"))) == SERVFAIL
    assert (zone.failed("*"), zone.failed("model")) == (2, 1)
    assert zone.asked() == {"other": 1}


def test_an_unknown_way_to_fail_is_an_error():
    with pytest.raises(ValueError, match="nxdomain, servfail, silent"):
        names().fail("model", "explode")


def test_a_secret_does_not_leave_through_a_name_not_even_in_pieces():
    def screen(text: str) -> tuple[str, list[str]]:
        return text.replace("S3CRET", "[secret:K:plain]"), ["m"] * text.count("S3CRET")

    zone = names(screen)
    zone.reply(query("S3CRET.evil"))
    zone.reply(query("S3C.RET.evil"))

    assert set(zone.asked()) == {"[secret:K:plain].evil", "[secret:K:plain]evil"}


def test_a_flood_of_names_is_counted_and_not_kept():
    zone = names()
    for number in range(10_100):
        zone.reply(query(f"n{number}"))

    assert len(zone.asked()) == 10_001
    assert zone.asked()["(further names)"] == 100


@given(st.binary(max_size=300))
def test_any_bytes_get_an_answer_or_none(message):
    reply = names().reply(message)

    assert reply is None or reply[:2] == message[:2]


@given(st.binary(min_size=0, max_size=120), st.integers(0, 65535))
def test_any_question_gets_an_answer_with_its_number(rest, number):
    reply = names().reply(struct.pack(">HHHHHH", number, 0x0100, 1, 0, 0, 0) + rest)

    assert reply is not None
    assert reply[:2] == number.to_bytes(2, "big")
    assert code(reply) in {NOERROR, FORMERR, NXDOMAIN}


@given(st.lists(st.binary(min_size=1, max_size=63), min_size=1, max_size=4), st.integers(0, 65535))
def test_every_readable_name_is_logged_as_printable_text(labels, kind):
    zone = names()
    reply = zone.reply(query(labels, kind))

    if code(reply) == NXDOMAIN:
        (name,) = zone.asked()
        assert name.isascii()
        assert name.isprintable()
        assert " " not in name


def test_a_flood_of_types_of_one_name_is_counted_and_not_kept():
    zone = names()
    for kind in range(60_000):
        zone.reply(query("n", kind))

    assert zone.asked()["n"] > 50_000
    assert all(len(kinds) < 100 for kinds in zone._asked.values())


def test_secrets_that_come_without_end_are_told_and_not_their_combinations():
    def screen(text: str) -> tuple[str, list[str]]:
        found = [f"[secret:{sign}:plain]" for sign in "ABCDEFGHIJKLMN" if sign in text]
        return text, found

    zone = names(screen)
    for number in range(10_000):
        zone.reply(query(f"n{number}"))
    for number in range(1 << 14):
        zone.reply(query("".join(s for at, s in enumerate("ABCDEFGHIJKLMN") if number >> at & 1)))

    assert len(zone.asked()) < 10_100
    assert {f"[secret:{sign}:plain]" for sign in "ABCDEFGHIJKLMN"} <= zone.asked().keys()
