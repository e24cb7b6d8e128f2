"""Removes one protection of a Python program as it starts; runs inside, standard library only.

The harness shows a copy of this file as ``sitecustomize`` on a path of its own, for one trial,
beside ``order.json`` (what is to be done) and ``record`` (a pipe with a name, of which nobody
inside can read). Python runs it before any module of the program, in every process that inherits
the path; as soon as the module that the order names has been executed, and before anybody gets
hold of it, the order is carried out and put on record. An order that changes nothing is put on
record as failed.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, MutableSet
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
ORDER = "order.json"
RECORD = "record"
NAME = "sitecustomize"
FUNCTIONS = "functions.py"
STARTED, DONE, FAILED = "started", "done", "failed"
_LONGEST = 500


class Unchanged(Exception):
    """The order found nothing to change; the message says why."""


def carry_out(order: Mapping[str, Any], module: ModuleType) -> str:
    """Do what the order says to a module; gives what was done, in words.

    Raises:
        Unchanged: there is nothing of that name, or it is so already.
    """
    *path, last = str(order["qualname"]).split(".")
    owner: Any = module
    for part in path:
        owner = _of(owner, part)
    old = _of(owner, last)
    if "drop" in order:
        new = without(old, str(order["drop"]))
    elif "value" in order:
        new = order["value"]
        if type(old) is type(new) and old == new:
            raise Unchanged(f"it was {old!r} before")
    else:
        new = _function(str(order["with"]))
        if isinstance(old, FunctionType) and _same(old, new):
            raise Unchanged("the function does the same as before")
        new = _as_method(owner, last, new)
    if new is not old:
        setattr(owner, last, new)
    return f"{order['module']}:{order['qualname']}"


def _of(owner: Any, name: str) -> Any:
    try:
        return getattr(owner, name)
    except AttributeError:
        raise Unchanged(f"{getattr(owner, '__name__', owner)!s} has no {name}") from None


def without(old: Any, name: str) -> Any:
    """A mapping or collection without what has that name; the same object where that can be.

    Raises:
        Unchanged: nothing has it.
    """
    gone = [entry for entry in _entries(old) if _is(entry, name)]
    if not gone:
        raise Unchanged(f"there is no {name} in it")
    if isinstance(old, MutableMapping | MutableSet | MutableSequence):
        for entry in gone:
            _drop(old, entry)
        return old
    if isinstance(old, Mapping):
        left = {key: value for key, value in old.items() if key not in gone}
        return MappingProxyType(left)
    return type(old)(entry for entry in old if entry not in gone)


def _entries(old: Any) -> list[Any]:
    if isinstance(old, Mapping | MutableSet | MutableSequence | tuple | frozenset):
        return list(old)
    raise Unchanged(f"a {type(old).__name__} has no keys or elements to drop")


def _drop(old: Any, entry: Any) -> None:
    if isinstance(old, MutableMapping):
        del old[entry]
    else:
        old.remove(entry)


def _is(entry: Any, name: str) -> bool:
    """Whether ``name`` is the entry, or the name or value of it (as of an enumeration's)."""
    told = (entry, getattr(entry, "name", None), getattr(entry, "value", None))
    return name in [str(one) for one in told if isinstance(one, str | int)]


def _function(name: str) -> Any:
    spec = spec_from_file_location("shakeout_sabotage", HERE / FUNCTIONS)
    if spec is None or spec.loader is None:
        raise Unchanged(f"there is no {FUNCTIONS}")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return _of(module, name)


def _same(old: FunctionType, new: Any) -> bool:
    code, other = old.__code__, getattr(new, "__code__", None)
    return other is not None and all(
        getattr(code, what) == getattr(other, what) for what in ("co_code", "co_consts", "co_names")
    )


def _as_method(owner: Any, name: str, new: Any) -> Any:
    """The function as what stands there: in a class it may be bound in another way."""
    old = vars(owner).get(name) if isinstance(owner, type) else None
    return type(old)(new) if isinstance(old, staticmethod | classmethod | property) else new


def report(event: str, words: str = "") -> None:
    """Put something on record; never waits, and does nothing where it cannot."""
    line = json.dumps({"pid": os.getpid(), "event": event, "words": words[:_LONGEST]}) + "\n"
    with contextlib.suppress(OSError):
        pipe = os.open(HERE / RECORD, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(pipe, line.encode())
        finally:
            os.close(pipe)


class Finder:
    """Finds one module as everybody would, and has the order carried out when it has run."""

    def __init__(self, order: Mapping[str, Any]) -> None:
        self._order = order

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """What the other finders say, with the order at its end."""
        if name != self._order["module"]:
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        specs = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = self._and_then(spec.loader.exec_module)  # type: ignore[method-assign,assignment]
        return spec

    def _and_then(self, execute: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
        def executed(module: ModuleType) -> None:
            execute(module)
            self.do(module)

        return executed

    def do(self, module: ModuleType) -> None:
        """Carry the order out, and report."""
        try:
            report(DONE, carry_out(self._order, module))
        except Exception as error:  # noqa: BLE001 - it is on record; the program goes on
            words = str(error) if isinstance(error, Unchanged) else repr(error)
            report(FAILED, f"{self._order['module']}:{self._order['qualname']}: {words}")


def install() -> None:
    """Wait for the module, and let the ``sitecustomize`` that was there before run."""
    order = json.loads((HERE / ORDER).read_text("utf-8"))
    report(STARTED)
    finder = Finder(order)
    sys.meta_path.insert(0, finder)
    if order["module"] in sys.modules:
        finder.do(sys.modules[order["module"]])
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]
    spec = PathFinder.find_spec(NAME)
    if spec is not None and spec.loader is not None:
        sys.modules[NAME] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[NAME])


if __name__ == NAME:
    install()
