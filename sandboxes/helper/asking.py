"""The filter of a watched program: which of its calls wait until the keeper has looked at them."""

from __future__ import annotations

from collections.abc import Collection

from sandboxes.helper import bpf, calls, numbers
from sandboxes.helper.kernel import MACHINE

_ALLOW = 0x7FFF0000
_NOTIFY = 0x7FC00000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_COOKIE = 4  # the argument, unused by execve, that tells the harness's own apart
_EXECVE = "execve"


def program(cookie: int, kinds: Collection[str], machine: str = MACHINE) -> bytes:
    """A seccomp filter that has every call of these kinds ask first, and lets all others through.

    ``fstat`` as C libraries write it (an empty path) is let through, and so is the ``execve``
    whose unused fifth argument is ``cookie``: that is how the first program starts uncounted.

    Args:
        cookie: a secret number of 64 bits.
        kinds: keys of :data:`.calls.KINDS`.
        machine: whose numbers are taken.
    """
    architecture, known = numbers.MACHINES[machine]
    by_number = calls.calls(machine)
    wanted = {name: by_number[known[name]] for name in known if _wanted(name, kinds)}
    code = bpf.Program()
    code.do(bpf.LOAD_WORD, _ARCHITECTURE)
    code.equal(architecture, no="allow")
    code.do(bpf.LOAD_WORD, _NUMBER)
    apart = [name for name, call in wanted.items() if _conditional(name, call)]
    for name in wanted:
        code.equal(known[name], yes=name if name in apart else "notify")
    code.place("allow")
    code.answer(_ALLOW)
    for name in apart:
        code.place(name)
        _condition(code, name, wanted[name], cookie)
    code.place("let")
    code.answer(_ALLOW)
    code.place("notify")
    code.answer(_NOTIFY)
    return code.code()


def _wanted(name: str, kinds: Collection[str]) -> bool:
    return any(name in calls.KINDS[kind] for kind in kinds)


def _conditional(name: str, call: calls.Call) -> bool:
    return name == _EXECVE or call.spared[0] >= 0 or call.only[0] >= 0


def _condition(code: bpf.Program, name: str, call: calls.Call, cookie: int) -> None:
    """Ask or not, by the arguments."""
    if name == _EXECVE:
        code.do(bpf.LOAD_WORD, _ARGUMENTS + 8 * _COOKIE)
        code.equal(cookie & 0xFFFFFFFF, no="notify")
        code.do(bpf.LOAD_WORD, _ARGUMENTS + 8 * _COOKIE + 4)
        code.equal(cookie >> 32, yes="let", no="notify")
    elif call.spared[0] >= 0:
        argument, bits = call.spared
        code.do(bpf.LOAD_WORD, _ARGUMENTS + 8 * argument)
        code.any_bit(bits, yes="let", no="notify")
    else:
        argument, values = call.only
        code.do(bpf.LOAD_WORD, _ARGUMENTS + 8 * argument)
        for value in values:
            code.equal(value, yes="notify")
        code.answer(_ALLOW)
