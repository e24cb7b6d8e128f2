"""The filter of a watched program: which of its calls wait until the keeper has looked at them."""

from __future__ import annotations

import errno
from collections.abc import Collection, Sequence

from sandboxes.helper import bpf, calls, numbers
from sandboxes.helper.kernel import MACHINE

_ALLOW = 0x7FFF0000
_NOTIFY = 0x7FC00000
_ERRNO = 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_COOKIE = 4  # the argument, unused by execve, that tells the harness's own apart
_EXECVE = "execve"
Forms = Sequence[calls.Call]


def program(cookie: int, kinds: Collection[str], machine: str = MACHINE) -> bytes:
    """A seccomp filter that has every call of these kinds ask first, and lets all others through.

    ``fstat`` as C libraries write it (an empty path) is let through, and so is the ``execve``
    whose unused fifth argument is ``cookie``: that is how the first program starts uncounted.
    Where data is watched, asynchronous calls do not exist (ENOSYS).

    Args:
        cookie: a secret number of 64 bits.
        kinds: keys of :data:`.calls.KINDS`.
        machine: whose numbers are taken.
    """
    architecture, known = numbers.MACHINES[machine]
    wanted = {name: forms for name in known if (forms := _forms(name, kinds))}
    apart = {name: forms for name, forms in wanted.items() if _conditional(name, forms)}
    code = bpf.Program()
    code.do(bpf.LOAD_WORD, _ARCHITECTURE)
    code.equal(architecture, no="allow")
    code.do(bpf.LOAD_WORD, _NUMBER)
    for name in wanted:
        code.equal(known[name], yes=name if name in apart else "notify")
    if "data" in kinds:
        code.equal(numbers.IO_SETUP[machine], yes="unseen")
    code.place("allow")
    code.answer(_ALLOW)
    for name, forms in apart.items():
        code.place(name)
        _condition(code, name, forms, cookie)
    code.place("let")
    code.answer(_ALLOW)
    code.place("unseen")
    code.answer(_ERRNO | errno.ENOSYS)
    code.place("notify")
    code.answer(_NOTIFY)
    return code.code()


def _forms(name: str, kinds: Collection[str]) -> Forms:
    return [calls.KINDS[kind][name] for kind in kinds if name in calls.KINDS[kind]]


def _conditional(name: str, forms: Forms) -> bool:
    return name == _EXECVE or forms[0].spared[0] >= 0 or forms[0].only[0] >= 0


def _condition(code: bpf.Program, name: str, forms: Forms, cookie: int) -> None:
    """Ask or not, by the arguments."""
    if name == _EXECVE:
        code.do(bpf.LOAD_WORD, _ARGUMENTS + 8 * _COOKIE)
        code.equal(cookie & 0xFFFFFFFF, no="notify")
        code.do(bpf.LOAD_WORD, _ARGUMENTS + 8 * _COOKIE + 4)
        code.equal(cookie >> 32, yes="let", no="notify")
    elif forms[0].spared[0] >= 0:
        argument, bits = forms[0].spared
        code.do(bpf.LOAD_WORD, _ARGUMENTS + 8 * argument)
        code.any_bit(bits, yes="let", no="notify")
    else:
        code.do(bpf.LOAD_WORD, _ARGUMENTS + 8 * forms[0].only[0])
        for value in (value for form in forms for value in form.only[1]):
            code.equal(value, yes="notify")
        code.answer(_ALLOW)
