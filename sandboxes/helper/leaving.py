"""What can be left on a path as if by an earlier crash, by the name of the operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sandboxes.helper import left, rows, wire
from sandboxes.helper.box import Box
from sandboxes.helper.observing import DONE, Answer


def _tree(box: Box, request: wire.Message) -> Answer:
    rows.holes.renew()
    rows.names.renew()
    return Answer({"tree": left.tree(box.root(request.body["root"]), request.body["path"])})


def _cut(box: Box, request: wire.Message) -> Answer:
    body = request.body
    return Answer({"number": box.left.cut(box.root(body["root"]), body["path"], body["size"])})


def _leave(box: Box, request: wire.Message) -> Answer:
    root, item = box.root(request.body["root"]), request.body["item"]
    return Answer({"number": box.left.leave(root, item, request.payload, box.ground.uid)})


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


OPERATIONS: Mapping[str, Callable[[Box, wire.Message], Answer]] = {
    "cut": _cut,
    "leave": _leave,
    "revert": _revert,
    "save": _save,
    "tree": _tree,
    "undo": _undo,
}
