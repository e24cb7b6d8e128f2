"""A request that comes again, byte for byte, is served as if none like it had come before."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.case.model import Call, ScriptStep
from harness.services.base import Incoming, Notes
from harness.services.framing import USUAL, Manner, complete, segments
from harness.services.model.service import ModelService
from harness.services.reader import Reader, Unreadable
from harness.services.record import Shelf
from harness.services.reply import Sealed
from tests.unit.services.stand import connect, get, post, read, read_all, until

INNER = post(b"{}")
PIECES = [
    get(),
    INNER,
    post(INNER, "/a-body-that-looks-like-a-request"),
    post(b"x" * 20_000, "/too-long-to-be-remembered"),
    get(method="HEAD"),
    get(connection="close"),
    get().replace(b"1.1", b"1.0"),
    get(upgrade="h2c", connection="upgrade"),
    get(method="CONNECT"),
    get("/", "POST", expect="100-continue", content_length="2") + b"{}",
    get("/", "POST", transfer_encoding="chunked") + b"2\r\n{}\r\n0\r\nlast: one\r\n\r\n",
    INNER + get(),
    INNER[:-1],
    INNER[-1:],
    post(INNER)[: -len(INNER)],
    b"\r\n",
    b"garbage\r\n\r\n",
]


NAMES = ["content-length", "Content-Length", "CONTENT-LENGTH"]
LENGTHS = ["{}", "{}", "{}", " {} ", "00{}", "+{}", "{}, {}", "{}0", "1", "", "9" * 30]
BODIES_SENT = st.sampled_from([b"", b"{}", b"[]", b"two", b"\r\n", INNER, b"x" * 20_000])
HEADERS = ["x-a: b", "x-a:b", "host: 2", "transfer-encoding: chunked", "x: content-length: 2"]


@st.composite
def lengthy(draw):
    """A request with a body whose length it says rightly, wrongly, or oddly."""
    body = draw(BODIES_SENT)
    length = draw(st.sampled_from(LENGTHS)).replace("{}", str(len(body)))
    lines = draw(st.lists(st.sampled_from(HEADERS), max_size=2))
    lines.insert(draw(st.integers(0, 2)), f"{draw(st.sampled_from(NAMES))}: {length}")
    head = [f"POST {draw(st.sampled_from(['/', '/2']))} HTTP/1.1", *lines]
    return ("\r\n".join(head) + "\r\n\r\n").encode() + body


@st.composite
def bodies_below_one_head(draw):
    """A request, and the same with another body, of another length or of the one it had."""
    first = draw(lengthy())
    head, _, body = first.partition(b"\r\n\r\n")
    other = draw(BODIES_SENT)
    right = head.replace(str(len(body)).encode(), str(len(other)).encode())
    return [first, draw(st.sampled_from([head, right])) + b"\r\n\r\n" + other]


FEW = st.one_of(
    st.sampled_from(PIECES).flatmap(lambda piece: st.sampled_from([[piece], [piece] * 2])),
    lengthy().map(lambda piece: [piece]),
    bodies_below_one_head(),
    bodies_below_one_head().map(lambda pair: [*pair, pair[1], pair[0]]),
)


class Listener:
    """What a reader says of the pieces that it is fed."""

    def __init__(self, room: int = 1 << 30) -> None:
        self.room = room
        self.held = 0
        self.said: list[object] = []
        self.remembered = 0
        self.parsed = 0

    def listen(self, pieces: Sequence[bytes]) -> list[object]:
        self.reader = reader = Reader(1, self)
        try:
            for piece in pieces:
                reader.feed(piece)
        except Unreadable as error:
            self.said.append(error.status)
        else:
            self.said.append(reader.fragment()[:5])
        return self.said

    def heard(self, incoming: Incoming, manner: Manner) -> None:
        self.remembered += incoming.notes is not None
        self.parsed += incoming.headers is self.reader._headers
        self.said.append((incoming[:5], manner))

    def asked_first(self) -> None:
        self.said.append("go on")

    def hold(self, size: int) -> bool:
        self.held += size
        return self.held <= self.room


@given(st.lists(FEW))
def test_a_reader_that_remembers_hears_what_one_hears_that_cannot(chosen):
    pieces = [piece for few in chosen for piece in few]
    each_byte = [bytes([byte]) for byte in b"".join(pieces)]

    assert Listener().listen(pieces) == Listener().listen(each_byte)


def below(tail: str, body: bytes, length: str = "{}") -> bytes:
    said = length.replace("{}", str(len(body)))
    return f"POST / HTTP/1.1\r\ncontent-length: {said}\r\n{tail}\r\n\r\n".encode() + body


@pytest.mark.parametrize(
    "pieces",
    [
        *([piece] * 3 for piece in PIECES),
        [INNER, post(INNER)[: -len(INNER)], INNER, INNER],
        [below("x: 1", b"a"), below("x: 2", b"a"), below("x: 2", b"b")],
        [below("x: 1", b"a"), below("expect: 100-continue", b"a")],
        *([below("x: 1", b"a"), below("x: 1", b"b", length)] for length in LENGTHS),
        [below("x: 1", b"a", "\t{} "), below("x: 1", b"b", "\t{} "), below("x: 1", b"c")],
        [below("x: 1", b"a"), below("x: 1", b"b")[:-1], b"b", below("x: 1", b"c")],
        [below("x: 1", b"a"), below("x: 1", b"b") + below("x: 1", b"c")],
    ],
)
def test_whatever_is_recalled_is_what_would_have_been_parsed(pieces):
    each_byte = [bytes([byte]) for byte in b"".join(pieces)]

    assert Listener().listen(pieces) == Listener().listen(each_byte)


@pytest.mark.parametrize(
    ("pieces", "remembered"),
    [
        ([INNER] * 4, 3),
        ([get(), INNER, get()], 0),
        ([INNER + INNER] * 2, 0),
        ([post(b"x" * 20_000)] * 2, 0),
        ([get(method="HEAD")] * 2, 0),
        ([post(INNER)[: -len(INNER)], INNER, INNER, INNER], 1),
    ],
)
def test_only_a_small_request_that_came_in_one_piece_is_remembered(pieces, remembered):
    listener = Listener()
    listener.listen(pieces)

    assert listener.remembered == remembered


@pytest.mark.parametrize(
    ("pieces", "parsed"),
    [
        ([post(b"a"), post(b"b"), post(b"long" * 9), post(b"c")], 1),
        ([post(b"a"), post(b"b"), post(b"b"), post(b"c"), post(b"c")], 1),
        ([post(b"a"), post(b"b", "/other"), post(b"c", "/other")], 2),
        ([post(b"a"), post(b"x" * 20_000), post(b"b")], 3),
        ([get(), get("/other"), get()], 3),
    ],
)
def test_a_head_that_comes_again_is_not_parsed_for_another_body(pieces, parsed):
    listener = Listener()
    listener.listen(pieces)

    assert listener.parsed == parsed
    assert len(listener.said) == len(pieces) + 1


def test_a_body_below_a_head_that_is_recalled_takes_room_like_any_other():
    sent = [post(b"aaa"), post(b"bb"), post(b"cccc")]
    free, full = Listener(), Listener(room=8)

    free.listen(sent)

    assert free.held == 9
    assert full.listen(sent)[-1] == 413


SCRIPT = [
    ScriptStep(say="one", calls=[Call("run", "run", {"command": "ls"})]),
    ScriptStep(say="two", repeat=2),
    ScriptStep(raw="{no json"),
    ScriptStep(calls=[Call("call", "a", {"x": 1}), Call("call", "b", {})], usage={"input": 5}),
    ScriptStep(say="last", repeat=None),
]
TOOLS = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]
BODIES = [
    json.dumps({"model": model, "stream": stream, "messages": [], **more}).encode()
    for model in ("a", "b")
    for stream in (False, True)
    for more in ({}, {"tools": TOOLS})
]
BODIES += [b"no json", b""]
ASKED = st.tuples(
    st.sampled_from(BODIES),
    st.sampled_from(["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/models"]),
    st.sampled_from(["whole", "cut"]),
)


@given(st.lists(ASKED, max_size=12))
def test_the_model_answers_a_request_that_it_knows_as_one_that_it_does_not(asked):
    forgetful, other = ModelService(SCRIPT), ModelService(SCRIPT)
    other._ids.created = forgetful._ids.created
    known: dict[tuple[bytes, str], Incoming] = {}
    for body, path, how in asked:
        new = Incoming(1, "POST", path, {}, body)
        again = known.setdefault((body, path), new._replace(notes=Notes()))
        first, second = answered(forgetful, new, how), answered(other, again, how)
        assert first == second
    assert forgetful.tally() == other.tally()
    assert forgetful.spent() == other.spent()


def answered(service: ModelService, incoming: Incoming, how: str) -> object:
    answer = service.answer(incoming, service.classify(incoming), ())
    service.ended(answer, how)
    return segments(answer.wire, USUAL), answer[1:]


@given(ASKED)
def test_a_sealed_reply_is_what_its_wire_would_be(asked):
    service = ModelService(SCRIPT)
    body, path, _ = asked
    incoming = Incoming(1, "POST", path, {}, body)
    wire = service.answer(incoming, service.classify(incoming), ()).wire
    if isinstance(wire, Sealed):
        opened = wire.open()
        assert segments(wire, USUAL) == segments(opened, USUAL)
        assert (wire.status, wire.head, wire.delay, wire.end) == (
            opened.status,
            opened.head,
            opened.delay,
            opened.end,
        )
        for manner in (USUAL, Manner(bodiless=True), Manner(old=True), Manner(keep=False)):
            assert segments(wire, manner) == segments(opened, manner)
            assert complete(wire, manner) is complete(opened, manner)


def asking(**headers: str) -> bytes:
    return get("/v1/chat/completions", "POST", content_length="2", **headers) + b"{}"


def test_the_record_of_a_request_that_comes_again_differs_in_nothing_but_number_and_time(
    serve, tmp_path
):
    live, where = serve(ModelService(None), shelf=Shelf.of_trial(tmp_path))
    head = {"thread_id": "t-1", "authorization": "Bearer x", "connection": "keep-alive"}
    with connect(where) as sock:
        for _ in range(3):
            sock.sendall(asking(**head))
            reply = read(sock, 1)
            while b"}}}" not in reply:
                reply += sock.recv(1 << 16)
    live.close()

    lines = [json.loads(line) for line in (tmp_path / "requests.jsonl").read_text().splitlines()]

    assert [line.pop("seq") for line in lines] == [1, 2, 3]
    assert sorted(times := [line.pop("t") for line in lines]) == times
    assert lines[0] == lines[1] == lines[2]
    assert lines[0]["headers"]["authorization"] == "[redacted]"
    assert [(tmp_path / f"requests/{n}.body").read_bytes() for n in (1, 2, 3)] == [b"{}"] * 3


def test_a_client_that_asks_again_and_again_and_reads_late_gets_every_reply(serve):
    """More than the kernel takes: the sender has to wait, whole and sealed as the replies are."""
    count, text = 600, "x" * 50_000
    live, where = serve(ModelService([ScriptStep(say=text, repeat=None)]))
    with connect(where) as sock:
        for _ in range(count - 1):
            sock.sendall(asking())
        sock.sendall(asking(connection="close"))
        replies = read_all(sock)

    ids = re.findall(rb'"id":"chatcmpl-(\d{24})"', replies)
    assert len(set(ids)) == len(ids) == count
    assert [request.ended for request in live.requests()] == ["whole"] * count
    assert sum(request.bytes_sent for request in live.requests()) == len(replies)


def test_a_sealed_reply_that_its_client_did_not_take_is_cut_and_its_turn_free_again(serve):
    live, where = serve(ModelService([ScriptStep(say="x" * 20_000_000)]))
    with connect(where) as sock:
        sock.sendall(asking())
        read(sock, 100)
    until(live.requests)

    (request,) = live.requests()
    assert request.ended in ("cut", "reset")
    assert 0 < request.bytes_sent < 20_000_000
    assert live.model().served == 0
