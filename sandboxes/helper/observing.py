"""What a sandbox is observed by: reads of its clock, what is attempted on its paths, and rules."""

from __future__ import annotations

import errno
import os
import posixpath
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sandboxes.helper import (
    binding,
    inspecting,
    plain,
    processes,
    rules,
    stage,
    swapping,
    watch,
    wire,
)
from sandboxes.helper.box import CLOCK_BYTES, Box, Failed, InUse

INSIDE = {"home": "/home/agent", "workspace": "/workspace"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back: values, and descriptors that are closed here afterwards."""

    body: dict[str, Any]
    fds: tuple[int, ...] = ()


DONE = Answer({})


def _clock(box: Box, request: wire.Message) -> Answer:
    if not box.spec["shim"]:
        raise Failed("the wall clock cannot be set: the sandbox was made without wall_clock")
    with open(f"{stage.CLOCK}/offset", "r+b", buffering=0) as file:
        before = _reads(box, request)  # nothing between: what is read from here on is moved
        file.write(struct.pack("=qq", request.body["offset_ns"], request.body["mark_ns"]))
    return before


def _reads(box: Box, _: wire.Message) -> Answer:
    if not box.spec["shim"]:
        return Answer({"reads": {}, "late": {}})
    with open(f"{stage.CLOCK}/reads", "rb") as file:
        reads, late = processes.clock_reads(file.read(CLOCK_BYTES))
    return Answer({"reads": reads, "late": late})


def _waiting(_: Box, request: wire.Message) -> Answer:
    return Answer({"threads": inspecting.waiting(stage.PROC, request.body["pipe"])})


def _watch(box: Box, request: wire.Message) -> Answer:
    path = request.body["path"]
    handle, *_ = next(
        (
            held
            for key, held in box.changed.items()
            if posixpath.join(INSIDE[key[0]], key[1]) == path
        ),
        (-1,),
    )
    _watcher(box).watch(os.fsencode(path), os.dup(handle) if handle >= 0 else -1)
    return DONE


def _attempts(box: Box, request: wire.Message) -> Answer:
    counts = _watcher(box).counts.get(os.fsencode(request.body["path"]))
    if counts is None:
        raise Failed(f"nobody watches {request.body['path']!r}: ask to watch it first")
    return Answer({"counts": counts})


def _intercept(box: Box, request: wire.Message) -> Answer:
    kind, rule = request.body["kind"], request.body["rule"]
    watcher = _watcher(box)
    if lacking := set(request.body["needs"]) - set(box.spec["watch"]):
        what = ", ".join(sorted(lacking))
        raise Failed(f"{kind} would meet nothing: the sandbox was made without watching {what}")
    watcher.last_rule += 1
    watcher.rules[watcher.last_rule] = _RULES[kind](box, watcher, rule)
    return Answer({"number": watcher.last_rule})


def _fail(_box: Box, _watcher: watch.Watcher, rule: Mapping[str, Any]) -> rules.Rule:
    return rules.Fail(_target(rule), rule["error"])


def _slow(_box: Box, _watcher: watch.Watcher, rule: Mapping[str, Any]) -> rules.Rule:
    return rules.Slow(_target(rule), rule["seconds"])


def _tear(_box: Box, watcher: watch.Watcher, rule: Mapping[str, Any]) -> rules.Rule:
    return rules.Tear(_target(rule), rule["size"], rule["then"], watcher.kill_main)


def _swap(box: Box, _watcher: watch.Watcher, rule: Mapping[str, Any]) -> rules.Rule:
    root, path = rule["root"], rule["path"]
    return swapping.Swap(
        root=box.roots[root],
        path=path,
        inside=os.fsencode(posixpath.join(INSIDE[root], path)),
        target=os.fsencode(rule["target"]),
        after=rule["after"],
        store=stage.TAKEN,
        owner=box.ground.uid,
    )


def _taken(_box: Box, _watcher: watch.Watcher, rule: Mapping[str, Any]) -> rules.Rule:
    where = f"{rule['host']}:{rule['port']}"
    try:
        return binding.Taken(rule["host"], rule["port"])
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InUse(f"{where} is in use inside") from error
        raise Failed(f"{where} cannot be held: {error.strerror}") from error


def _full(_box: Box, _watcher: watch.Watcher, rule: Mapping[str, Any]) -> rules.Rule:
    return rules.Full(rule["descriptors"])


def _room(_box: Box, _watcher: watch.Watcher, _rule: Mapping[str, Any]) -> rules.Rule:
    return rules.Room(stage.BOX)


def _target(rule: Mapping[str, Any]) -> rules.Target:
    return rules.Target(os.fsencode(rule["path"]), frozenset(rule.get("verbs", ("write",))))


_RULES: Mapping[str, Callable[[Box, watch.Watcher, Mapping[str, Any]], rules.Rule]] = {
    "Fail": _fail,
    "Slow": _slow,
    "Tear": _tear,
    "Swap": _swap,
    "Taken": _taken,
    "Full": _full,
    "Room": _room,
}


def _met(box: Box, request: wire.Message) -> Answer:
    rule = _watcher(box).rules.get(request.body["number"])
    if rule is None:
        raise Failed(f"there is no rule {request.body['number']}")
    return Answer({"met": dict(rule.met)})


def _release(box: Box, request: wire.Message) -> Answer:
    answer = _met(box, request)
    _watcher(box).release(request.body["number"])
    return answer


def _touched(box: Box, _: wire.Message) -> Answer:
    if box.guard is None:
        return Answer({"paths": [], "whole": False})
    told = box.ask_init({"op": "told"}, [box.guard.group])
    return Answer({"paths": box.guard.paths(told), "whole": told["whole"]})


def _watcher(box: Box) -> watch.Watcher:
    if box.watcher is None:
        why = (
            "its kernel tells nobody of calls" if plain.is_plain() else "it was made without watch"
        )
        raise Failed(f"calls of the sandbox are not looked at: {why}")
    return box.watcher


OPERATIONS: Mapping[str, Callable[[Box, wire.Message], Answer]] = {
    "attempts": _attempts,
    "intercept": _intercept,
    "met": _met,
    "release": _release,
    "clock": _clock,
    "reads": _reads,
    "touched": _touched,
    "waiting": _waiting,
    "watch": _watch,
}
