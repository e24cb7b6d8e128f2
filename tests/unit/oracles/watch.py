"""Tells what a function does beside computing: files, children, clocks, chance, environment.

An audit hook hears of files, sockets, children and imports, and cannot be taken away again; so
this is for processes of their own. Clocks, chance and the environment raise no audit event;
those are seen as calls.
"""

from __future__ import annotations

import sys
from types import FrameType, TracebackType
from typing import Any

#: Audit events that say nothing against an oracle; the watching itself raises the first.
_HARMLESS = {"object.__getattr__", "sqlite3.connect/handle"}
#: Modules in C of which no function may be called, and those of their functions that may.
_CLOSED = {
    "time": (),
    "_random": (),
    "_locale": (),
    "_socket": (),
    "_thread": ("__exit__",),  # of the lock on the process that searches
    "posix": ("fspath", "_path_normpath"),  # these look at the text alone
    "sys": ("audit", "getrecursionlimit", "intern", "setprofile"),
}
_NOW = {"now", "utcnow", "today"}
#: Modules in Python of which nothing may run.
_NOT_TO_RUN = {"os", "random", "uuid"}


class Watch:
    """Hears what is done while it is entered; ``offences`` says what that was."""

    def __init__(self) -> None:
        self.offences: list[str] = []
        self._on = False
        self._modules: set[str] = set()
        sys.addaudithook(self._audit)

    def __enter__(self) -> Watch:
        self.offences = []
        self._modules = set(sys.modules)
        sys.setprofile(self._call)
        self._on = True
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._on = False
        sys.setprofile(None)
        self.offences += [f"imported {name}" for name in sys.modules.keys() - self._modules]

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        in_memory = event == "sqlite3.connect" and arguments == (":memory:",)
        if self._on and event not in _HARMLESS and not in_memory:
            self.offences.append(f"{event} {str(arguments)[:80]}")

    def _call(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_call":
            owner = getattr(argument, "__self__", None)
            kind = owner if isinstance(owner, type) else type(owner)
            module = argument.__module__ or kind.__module__
            name = argument.__name__
            if name not in _CLOSED.get(module, (name,)):
                self.offences.append(f"{module}.{name}")
            of_now = kind.__module__ == "datetime" and name in _NOW
            if of_now or kind.__module__ in {"_random", "random"}:
                self.offences.append(f"{kind.__module__}.{name}")
        elif event == "call" and (module := frame.f_globals.get("__name__")) in _NOT_TO_RUN:
            self.offences.append(f"{module}.{frame.f_code.co_qualname}")
