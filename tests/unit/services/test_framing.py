"""A wire as bytes: what is sent can be read back, and what is whole is called so."""

from __future__ import annotations

import httptools
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.services.framing import Manner, complete, segments
from harness.services.reply import End, Part, Wire

USUAL = Manner()
PARTS = st.lists(
    st.builds(Part, st.binary(max_size=30), delay=st.sampled_from([0.0, 0.0, 0.5])), max_size=6
)


class Reply:
    """What a client's parser makes of the bytes."""

    def __init__(self, data: bytes) -> None:
        self.body = b""
        self.done = False
        parser = httptools.HttpResponseParser(self)
        parser.feed_data(data)
        self.status = parser.get_status_code()

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.done = True


def sent(wire: Wire, manner: Manner = USUAL) -> bytes:
    return b"".join(data for _, data in segments(wire, manner))


@given(PARTS, st.booleans(), st.sampled_from([200, 404, 503, 529]), st.booleans())
def test_a_client_reads_what_the_parts_say(parts, chunked, status, keep):
    wire = Wire(status, parts=parts, chunked=chunked)

    reply = Reply(sent(wire, Manner(keep=keep)))

    assert (reply.status, reply.body) == (status, b"".join(part.data for part in parts))
    assert reply.done
    assert complete(wire, Manner(keep=keep))


@given(PARTS, st.sampled_from([End.CLOSE, End.RESET, End.HANG]))
def test_chunks_without_the_last_one_are_never_whole(parts, end):
    wire = Wire(parts=parts, chunked=True, end=end)

    assert not Reply(sent(wire)).done
    assert not complete(wire, Manner())


@given(PARTS)
def test_pauses_stand_before_the_parts_that_have_them(parts):
    made = segments(Wire(parts=parts), Manner())

    assert [pause for pause, _ in made] == [0.0, *(p.delay for p in parts if p.delay)]


@pytest.mark.parametrize(
    ("wire", "manner", "whole"),
    [
        (Wire(parts=(Part(b"abc"),)), Manner(), True),
        (Wire(parts=(Part(b"abc"),), end=End.CLOSE), Manner(), True),
        (Wire(parts=(Part(b"abc"),), end=End.HANG), Manner(), False),
        (Wire(parts=(Part(b"abc"),), end=End.RESET), Manner(), False),
        (Wire(parts=(Part(b"abc"),), head=False), Manner(), False),
        (Wire(headers={"Content-Length": "3"}, parts=(Part(b"abc"),)), Manner(), True),
        (Wire(headers={"content-length": "4"}, parts=(Part(b"abc"),)), Manner(), False),
        (Wire(headers={"content-length": "2"}, parts=(Part(b"abc"),)), Manner(), False),
        (Wire(headers={"content-length": "9"}), Manner(bodiless=True), True),
        (Wire(304, headers={"content-length": "9"}), Manner(), True),
        (Wire(chunked=True, end=End.CLOSE), Manner(), False),
        (Wire(chunked=True, end=End.CLOSE), Manner(old=True), True),
    ],
)
def test_a_reply_is_whole_if_its_framing_is_kept(wire, manner, whole):
    assert complete(wire, manner) is whole


def test_a_header_of_the_wires_own_wins_over_the_framing():
    wire = Wire(headers={"Transfer-Encoding": "gzip", "Connection": "x"}, chunked=True)

    assert sent(wire, Manner(keep=False)) == (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nConnection: x\r\n\r\n0\r\n\r\n"
    )
