"""Live checks of what can be seen of, and done to, the system calls of a program."""

from __future__ import annotations

import errno

from sandboxes import clock
from sandboxes.base import Act, Attempts
from sandboxes.bench import Bench, expect
from sandboxes.rules import Fail, Full, Slow, Taken, Tear, Then, Verb

_HELD = 0.03
_HELD_PORT = 8765


def attempts(bench: Bench) -> str:
    """Attempts on a path are counted."""
    path = "/workspace/nowhere"
    bench.sandbox.watch(path)
    bench.run("cat", path)
    expect(bench.sandbox.attempts(path) == Attempts(), "an unwatched program was counted")
    code, _ = bench.run("cat", "nowhere", watched=True)
    counted = bench.sandbox.attempts(path)
    expect(code == 1 and counted.count() > 0, f"cat ended with {code} and was counted {counted}")
    return "a seccomp filter whose calls the keeper looks at, and lets go on"


def locks(bench: Bench) -> str:
    """Locks are."""
    path = "/workspace/lock"
    bench.sandbox.watch(path)
    code, _ = bench.run("flock", "lock", "true", watched=True)
    counted = bench.sandbox.attempts(path).count([Act.LOCK])
    expect((code, counted) == (0, 1), f"flock ended with {code} and was counted {counted} times")
    return "the same filter, on fcntl and flock"


def answers(bench: Bench) -> str:
    """Calls can be failed and cut short."""
    path = "/workspace/answers"
    failing = bench.sandbox.intercept(Fail(path, (Verb.WRITE,), errno.EIO))
    code, _ = bench.run("sh", "-c", "echo 1 > answers", watched=True)
    met = bench.sandbox.release(failing)
    expect((code, met) == (1, {"write": 1}), f"sh ended with {code} and met {met}")
    cutting = bench.sandbox.intercept(Tear(path, 3, Then.SHORT))
    _, text = bench.run("sh", "-c", "echo 12345 > answers; cat answers", watched=True)
    met = bench.sandbox.release(cutting)
    expect(text.startswith("123") and met == {"bytes": 3, "of": 6}, f"{text!r} after {met}")
    return "the same filter, on calls that read and write, answered by the keeper"


def holds(bench: Bench) -> str:
    """Calls can be held back."""
    holding = bench.sandbox.intercept(Slow("/workspace/held", (Verb.OPEN,), _HELD))
    began = clock.monotonic()
    bench.run("sh", "-c", "echo 1 > held", watched=True)
    passed, met = clock.monotonic() - began, bench.sandbox.release(holding)
    expect(passed >= _HELD and met == {"open": 1, "whole": 1}, f"{met} after {passed:.2f} s")
    return "the same filter, answered later"


def descriptors(bench: Bench) -> str:
    """Descriptors can be limited."""
    full = bench.sandbox.intercept(Full(4))
    try:
        bench.sandbox.limit(descriptors=4)
        code, _ = bench.run("sh", "-c", "exec 3< / 4< /", watched=True)
        met = bench.sandbox.release(full)
    finally:
        bench.sandbox.reset_limit("descriptors")
    expect(code != 0 and met == {"calls": 1}, f"sh ended with {code} and met {met}")
    return "RLIMIT_NOFILE, and the same filter on calls that need a descriptor"


def binds(bench: Bench) -> str:
    """An address can be taken."""
    taken = bench.sandbox.intercept(Taken("127.0.0.1", _HELD_PORT))
    bind = (
        "use Socket; socket(S, PF_INET, SOCK_STREAM, 0); "
        f"exit !bind(S, pack_sockaddr_in({_HELD_PORT}, INADDR_ANY))"
    )
    code, _ = bench.run("perl", "-e", bind, watched=True)
    met = bench.sandbox.release(taken)
    expect((code, met) == (1, {"binds": 1}), f"perl ended with {code} and met {met}")
    return "the same filter, on bind"
