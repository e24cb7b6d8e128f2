"""Output goes through pipes that the caller holds: nothing is lost, changed, or kept in memory."""

from __future__ import annotations

import hashlib
import os
import resource
import signal

from tests.conformance.room import PATIENCE

MEGABYTE = 1 << 20


def test_a_hundred_megabytes_arrive_whole_and_are_held_nowhere(room):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    running = room.start("sh", "-c", "head -c 104857600 /dev/zero | tr '\\0' x")
    count, digest = 0, hashlib.sha256()
    while data := os.read(running.out, MEGABYTE):
        count += len(data)
        digest.update(data)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    assert count == 100 * MEGABYTE
    assert digest.digest() == hashlib.sha256(b"x" * (100 * MEGABYTE)).digest()
    assert grown < 130 * 1024, "more than the comparison itself needs (in KiB)"
    assert running.finish().code == 0


def test_a_reader_that_does_not_keep_up_stops_the_writer_and_loses_nothing(room):
    running = room.start("sh", "-c", "seq 1 200000; echo done >&2")
    assert room.sandbox.wait(0.3) is None

    outcome = running.finish()
    assert outcome.out.split() == [b"%d" % n for n in range(1, 200001)]
    assert outcome.err == b"done\n"


def test_output_cut_in_the_middle_of_a_character_arrives_byte_for_byte(room):
    outcome = room.shell(r"printf '\342\202'; sleep 0.1; printf '\254'; printf '\377\000\200'")

    assert outcome.out == "€".encode() + b"\xff\x00\x80"


def test_the_two_streams_are_kept_apart(room):
    outcome = room.shell("echo out; echo err >&2")

    assert (outcome.out, outcome.err) == (b"out\n", b"err\n")


def test_output_of_a_child_that_outlives_the_program_still_arrives(room):
    running = room.start("sh", "-c", "(sleep 0.2; echo late) & echo early")

    assert running.finish().text == "early\nlate"


def test_a_writer_whose_reader_went_away_gets_sigpipe(room):
    running = room.start("sh", "-c", "yes")
    os.read(running.out, 1)
    running.close()
    ended = room.sandbox.wait(PATIENCE)

    assert ended is not None
    assert ended.signal == signal.SIGPIPE or ended.exit_code == 128 + signal.SIGPIPE
