"""What can be left on a path as if by an earlier crash, by the name of the operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from sandboxes.helper import left, processes, programs, rows, stage, wire
from sandboxes.helper.box import Box
from sandboxes.helper.ground import Failed
from sandboxes.helper.observing import DONE, INSIDE, Answer
from sandboxes.helper.overlay import Layer


def _tree(box: Box, request: wire.Message) -> Answer:
    rows.holes.renew()
    rows.names.renew()
    return Answer({"tree": left.tree(box.root(request.body["root"]), request.body["path"])})


def _cut(box: Box, request: wire.Message) -> Answer:
    body = request.body
    return Answer({"number": box.left.cut(box.root(body["root"]), body["path"], body["size"])})


def _leave(box: Box, request: wire.Message) -> Answer:
    body, uid = request.body, box.ground.uid
    root, instead = box.root(body["root"]), body["instead"]
    number = box.left.leave(root, body["item"], request.payload, uid, instead=instead)
    return Answer({"number": number})


def _hold(box: Box, request: wire.Message) -> Answer:
    body = request.body
    return Answer({"number": box.left.hold(box.root(body["root"]), body["path"], body["locks"])})


def _save(box: Box, request: wire.Message) -> Answer:
    body = request.body
    box.left.save(box.root(body["root"]), body["path"], body["name"])
    return DONE


def _revert(box: Box, request: wire.Message) -> Answer:
    body = request.body
    return Answer({"number": box.left.revert(box.root(body["root"]), body["path"], body["name"])})


def _undo(box: Box, request: wire.Message) -> Answer:
    box.left.undo(request.body["number"])
    return DONE


def _programs(box: Box, request: wire.Message) -> Answer:
    with box.view() as root:
        found = programs.places(root, request.body["name"], request.body["path"])
    return Answer({"places": found})


def _hide(box: Box, request: wire.Message) -> Answer:
    path = request.body["path"]
    for name, folder in INSIDE.items():
        if path.startswith(f"{folder}/"):
            root, rest = box.root(name), path.removeprefix(f"{folder}/")
            box.taken.take(root, rest)
            return Answer({"number": box.left.keep(partial(box.taken.put_back, root, rest))})
    layers = _layers(box)
    with box.view() as view:
        back = box.programs.hide(layers, view, path)
    return Answer({"number": box.left.keep(back)})


def _burden(box: Box, request: wire.Message) -> Answer:
    path, milliseconds = request.body["path"], request.body["milliseconds"]
    layers = _layers(box)
    with box.view() as view:
        back = box.programs.burden(layers, view, path, request.payload, milliseconds)
    return Answer({"number": box.left.keep(back)})


def _layers(box: Box) -> list[Layer]:
    if not box.layers:
        raise Failed("programs of the system are this machine's own (user grade)")
    return box.layers


def _lingering(box: Box, _: wire.Message) -> Answer:
    """A program carries a filter more than pid 1, unless it may nest, and one if it is watched."""
    filters = processes.filters(f"{stage.PROC}/1") + (1 if box.spec["nest"] else 2)
    return Answer({"pids": programs.lingering(box.programs.stand_ins, filters)})


OPERATIONS: Mapping[str, Callable[[Box, wire.Message], Answer]] = {
    "burden": _burden,
    "cut": _cut,
    "hide": _hide,
    "hold": _hold,
    "leave": _leave,
    "lingering": _lingering,
    "programs": _programs,
    "revert": _revert,
    "save": _save,
    "tree": _tree,
    "undo": _undo,
}
