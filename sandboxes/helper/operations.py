"""What the harness can ask of a sandbox, by name: each takes the box and the request."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from sandboxes.helper import (
    descriptors,
    kernel,
    leaving,
    mounts,
    observing,
    overlay,
    paths,
    processes,
    programs,
    rows,
    stage,
    trees,
    wire,
)
from sandboxes.helper.box import (
    FREEZE_SECONDS,
    KILL_SECONDS,
    Box,
    Failed,
)
from sandboxes.helper.observing import DONE, INSIDE, Answer

_REMOUNTED = (*INSIDE.values(), "/tmp")  # noqa: S108 - a path inside


def _processes(box: Box, _: wire.Message) -> Answer:
    """What lives, looked at while frozen where that can be done unnoticed.

    So nothing slips away under the look, and nobody who forks without end keeps us waiting for
    the lock of its memory.
    """
    states = processes.states(stage.PROC)
    if not states and not processes.pids(stage.PROC):
        return Answer({"processes": []})
    freezer = box.group if "freezer" in box.ground.site.provides and not box.frozen else None
    if freezer is not None:
        freezer.freeze(on=True, timeout=FREEZE_SECONDS)
    try:
        found = processes.listing(stage.PROC, states)
        stand_ins = box.programs.stand_ins
        for each in found:
            each["planted"] = bool(stand_ins) and programs.lingers(each["pid"], stand_ins)
        return Answer({"processes": found})
    finally:
        if freezer is not None:
            freezer.freeze(on=False, timeout=FREEZE_SECONDS)


def _freeze(box: Box, request: wire.Message) -> Answer:
    on = bool(request.body["on"])
    if box.group is not None and "freezer" in box.ground.site.provides:
        done = box.group.freeze(on=on, timeout=FREEZE_SECONDS)
    elif on:
        done = box.ask_init({"op": "stop", "timeout": FREEZE_SECONDS})["frozen"]
    else:
        box.ask_init({"op": "continue"})
        done = True
    if not done:
        raise Failed(f"not everything {'stopped' if on else 'went on'} in {FREEZE_SECONDS:g} s")
    box.frozen = on
    return DONE


def _kill(box: Box, _: wire.Message) -> Answer:
    box.ask_init({"op": "kill", "timeout": 0})
    box.let_die()
    if not box.ask_init({"op": "kill", "timeout": KILL_SECONDS})["gone"]:
        raise Failed(f"not every process ended within {KILL_SECONDS:g} s of SIGKILL")
    return DONE


def _listing(box: Box, _: wire.Message) -> Answer:
    rows.holes.renew()
    rows.names.renew()
    system = [change for layer in box.layers for change in layer.changes()]
    for inside, outside in stage.SCRATCH.items():
        with paths.opened(outside) as folder:
            system += overlay.added(inside, folder)
    held = {name: trees.manifest(root) for name, root in box.roots.items()}
    return Answer({**held, "system": system})


def _open(box: Box, request: wire.Message) -> Answer:
    """A regular file; of the system only what lies in a scratch folder or was changed."""
    name, path = request.body["root"], request.body["path"]
    fd = _open_system(box, path) if name == "system" else paths.open_file(box.root(name), path)
    return Answer({}, () if fd is None else (fd,))


def _open_system(box: Box, path: str) -> int | None:
    for inside, outside in stage.SCRATCH.items():
        if path.startswith(f"{inside}/"):
            with paths.opened(outside) as folder:
                return paths.open_file(folder, path.removeprefix(f"{inside}/"))
    for layer in sorted(box.layers, key=lambda each: len(each.prefix), reverse=True):
        prefix = f"{layer.prefix.rstrip('/')}/"
        if path.startswith(prefix):
            return paths.open_file(layer.upper, path.removeprefix(prefix))
    return None


def _plant(box: Box, request: wire.Message) -> Answer:
    root = box.root(request.body["root"])
    paths.plant(root, request.body["item"], request.payload, box.ground.uid)
    return DONE


def _exists(box: Box, request: wire.Message) -> Answer:
    root = box.root(request.body["root"])
    return Answer({"there": paths.exists(root, request.body["path"])})


def _change(box: Box, request: wire.Message) -> Answer:
    body = request.body
    owner = 0 if body["owner"] == "root" else box.ground.uid
    if owner == 0 and not box.ground.root_grade:
        raise Failed("a path cannot be given to root: there is one user only (user grade)")
    handle, before = paths.change(box.root(body["root"]), body["path"], body["mode"], owner)
    key = (body["root"], body["path"])
    if key in box.changed:
        os.close(handle)
    else:
        box.changed[key] = (handle, before)
    return Answer({"before": before})


def _restore(box: Box, request: wire.Message) -> Answer:
    key = (request.body["root"], request.body["path"])
    if key not in box.changed:
        raise Failed(f"{key[1]!r} was not changed, so it cannot be restored")
    handle, (_, mode, uid, *_) = box.changed.pop(key)
    try:
        paths.set_owner(handle, mode, uid)
    finally:
        os.close(handle)
    return DONE


def _name_agent(box: Box, request: wire.Message) -> Answer:
    with paths.opened(stage.ROOT if box.ground.root_grade else stage.PLAIN_ROOT) as root:
        box.names.name(root, box.ground.uid, named=request.body["named"])
    return DONE


def _take(box: Box, request: wire.Message) -> Answer:
    box.taken.take(box.root(request.body["root"]), request.body["path"])
    return DONE


def _put_back(box: Box, request: wire.Message) -> Answer:
    box.taken.put_back(box.root(request.body["root"]), request.body["path"])
    return DONE


def _alias(box: Box, request: wire.Message) -> Answer:
    body = request.body
    key = (body["root"], body["path"], body["name"])
    box.aliases[key] = paths.alias(box.root(key[0]), key[1], os.fsencode(key[2]))
    return DONE


def _drop_alias(box: Box, request: wire.Message) -> Answer:
    body = request.body
    key = (body["root"], body["path"], body["name"])
    made = box.aliases.pop(key, None)
    if made is None:
        raise Failed(f"{key[1]!r} was given no second name {key[2]!r}")
    paths.drop_alias(box.root(key[0]), key[1], os.fsencode(key[2]), made)
    return DONE


def _remount(box: Box, request: wire.Message) -> Answer:
    path = request.body["path"]
    if path not in _REMOUNTED:
        raise Failed(f"{path!r} is not a mount that can be changed: {', '.join(_REMOUNTED)} are")
    flags = kernel.REMOUNT | kernel.BIND | kernel.NOSUID | kernel.NODEV
    if request.body["read_only"]:
        flags |= kernel.RDONLY
    box.inside(lambda: kernel.mount("none", path, "", flags))
    return DONE


def _resize(box: Box, request: wire.Message) -> Answer:
    free, limit = request.body["free"], box.spec["limits"]["disk"]
    state = os.statvfs(stage.BOX)
    used = (state.f_blocks - state.f_bfree) * state.f_frsize
    options = mounts.box_options(limit, limit if free is None else used + free)
    flags = kernel.REMOUNT | kernel.NOSUID | kernel.NODEV
    kernel.mount("box", stage.BOX, "tmpfs", flags, options)
    return DONE


def _reset_limit(box: Box, request: wire.Message) -> Answer:
    name = request.body["name"]
    if name == "descriptors":
        return _limit_descriptors(box, None)
    limits = {"memory": None, "pids": None, name: box.spec["limits"][name]}
    return _set_limits(box, limits["memory"], limits["pids"])


def _limit(box: Box, request: wire.Message) -> Answer:
    if request.body["descriptors"] is not None:
        _limit_descriptors(box, request.body["descriptors"])
    return _set_limits(box, request.body["memory"], request.body["pids"])


def _limit_descriptors(box: Box, count: int | None) -> Answer:
    box.ask_init({"op": "nofile", "value": count})  # first, so that nobody starts in between
    if box.descriptors is None:
        box.descriptors = descriptors.Descriptors(box.pid1.pid, box.ground.uid)
    if count is None:
        box.descriptors.give_back()
    else:
        box.descriptors.limit(count)
    return DONE


def _set_limits(box: Box, memory: int | None, pids: int | None) -> Answer:
    provides = box.ground.site.provides
    if memory is not None:
        if box.group is None or "memory" not in provides:
            raise Failed("memory cannot be limited: there is no control group for it")
        box.group.limit_memory(memory)
    if pids is not None and box.group is not None and "pids" in provides:
        box.group.limit_pids(pids)
    elif pids is not None:
        box.ask_init({"op": "nproc", "value": pids})
    return DONE


def _listen(box: Box, request: wire.Message) -> Answer:
    return Answer({}, (box.listen(request.body).detach(),))


def _usage(box: Box, _: wire.Message) -> Answer:
    state = os.statvfs(stage.BOX)
    counted: dict[str, int | None] = {"oom_kills": None, "pids_refused": None, "memory_peak": None}
    if box.group is not None:
        counted |= box.group.counters()
    free, total = state.f_bavail * state.f_frsize, state.f_blocks * state.f_frsize
    return Answer({**counted, "disk_free": free, "disk_total": total})


def _mounts(box: Box, _: wire.Message) -> Answer:
    return Answer(box.ask_init({"op": "mounts"}))


OPERATIONS: Mapping[str, Callable[[Box, wire.Message], Answer]] = {
    **observing.OPERATIONS,
    **leaving.OPERATIONS,
    "alias": _alias,
    "change": _change,
    "drop_alias": _drop_alias,
    "exists": _exists,
    "freeze": _freeze,
    "kill": _kill,
    "limit": _limit,
    "listen": _listen,
    "listing": _listing,
    "mounts": _mounts,
    "name_agent": _name_agent,
    "open": _open,
    "plant": _plant,
    "processes": _processes,
    "put_back": _put_back,
    "remount": _remount,
    "reset_limit": _reset_limit,
    "resize": _resize,
    "restore": _restore,
    "take": _take,
    "usage": _usage,
}
