"""Reading what a trial starts with: sandbox, planted files, mounts, environment, secrets."""

from __future__ import annotations

import base64
import binascii
import os
import posixpath
import re
import zoneinfo
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from harness.case import grammar
from harness.case.errors import nearest, quoted
from harness.case.model import Clock, SandboxDecl, Where, Workspace
from harness.case.reading import Reading
from harness.case.repo import WorkTree, work_tree_of
from harness.case.yaml_build import Keys
from harness.evidence.model import path_from_text
from harness.live.sentinels import LINK_OUT, SENTINELS
from harness.nearby import did_you_mean
from sandboxes.base import AGENT_HOME, WORKSPACE, Kind, Limits, Planted

#: Set by the harness for every trial; a case that changes them would blind its own oracles.
RESERVED_ENV: Final = frozenset({"HOME", "USER", "LOGNAME"})
_RESERVED_PREFIX: Final = "SHAKEOUT_"
_ENV_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MAX_NAME: Final = 255
_MAX_PATH: Final = 1000
_LEAST_MEMORY: Final = 8 << 20
_LEAST_DISK: Final = 1 << 20
_KEPT: Final = ("/proc", "/sys", "/dev")
#: Folders of the sandbox's own system, which a mount would hide.
_SYSTEM: Final = frozenset(
    f"/{name}"
    for name in ("", "/", "bin", "etc", "home", "lib", "lib64", "root", "run", "sbin", "tmp", "usr")
) | {"/usr/bin", "/usr/lib", "/var"}
#: A bind that is read-only stops neither a connection to a socket nor a look at a process.
_LIVE: Final = tuple(map(Path, (*_KEPT, "/run")))


def read_sandbox(r: Reading) -> SandboxDecl:
    """The sandbox, defaults filled in."""
    at: Keys = ("sandbox",)
    limits = _limits(r, (*at, "limits"))
    return SandboxDecl(
        network=r.get((*at, "network"), "services"),
        limits=limits,
        seconds=float(r.get((*at, "limits", "seconds"), 60.0)),
        written=frozenset(key for _, key, _ in r.entries((*at, "limits"))),
        needs=tuple(item for _, item in r.items((*at, "needs"))),
        clock=_clock(r, (*at, "clock")),
        tls=bool(r.get((*at, "tls"), default=False)),
        places=dict(_written(r, at)),
    )


def _written(r: Reading, at: Keys) -> Iterator[tuple[str, Where]]:
    """Each key under ``sandbox`` that is written, such as ``limits.pids``, and its place."""
    for path, key, _ in r.entries(at):
        yield key, r.doc.where(path, key=True)
        yield from (
            (f"{key}.{inner}", r.doc.where(on, key=True)) for on, inner, _ in r.entries(path)
        )
        yield from ((f"{key}.{item}", r.doc.where(on)) for on, item in r.items(path))


def _limits(r: Reading, at: Keys) -> Limits:
    usual = Limits()
    memory = r.take((*at, "memory"), grammar.size, usual.memory)
    disk = r.take((*at, "disk"), grammar.size, None)
    for name, value, least in (("memory", memory, _LEAST_MEMORY), ("disk", disk, _LEAST_DISK)):
        if value is not None and value < least:
            hint = f"write at least {least >> 20}MiB"
            r.fail((*at, name), f"{name} is too little for any program to start", hint)
    if disk is None:
        disk = min(usual.disk, memory)
    elif disk > memory:
        r.fail(
            (*at, "disk"),
            "disk is above memory, to which the private file system is charged",
            "raise memory or lower disk",
        )
    return Limits(memory=memory, pids=r.get((*at, "pids"), usual.pids), disk=disk)


def _clock(r: Reading, at: Keys) -> Clock:
    zone = r.get((*at, "zone"))
    if isinstance(zone, str) and not _known_zone(zone):
        hint = nearest(zone, zoneinfo.available_timezones())
        hint = hint if hint.startswith("did") else "write one such as Asia/Kathmandu"
        r.fail((*at, "zone"), f"unknown time zone {quoted(zone)}", hint)
    return Clock(r.take((*at, "at"), grammar.instant, None), zone)


def _known_zone(name: str) -> bool:
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return not zoneinfo.available_timezones() and re.fullmatch(r"[\w+/-]+", name) is not None
    return True


def read_planted(r: Reading, at: Keys) -> tuple[Planted, ...]:
    """The planted paths at ``home`` or ``workspace.files``; none in the way of another."""
    planted: dict[str, Planted] = {}
    for path, name, value in r.entries(at):
        clean = _relative(r, path, name)
        if clean is None:
            continue
        if clean in planted:
            r.fail(path, f"{quoted(name)} is planted twice", "keep one of them", key=True)
        planted[clean] = _one_planted(r, path, clean, value)
    solid = {name for name, item in planted.items() if item.kind is not Kind.DIR}
    if at == ("home",):
        solid.add(LINK_OUT)
    for path, name, _ in r.entries(at):
        for parent in _parents(name):
            if parent in solid:
                message = f"{quoted(name)} lies in {quoted(parent)}, which is no folder"
                r.fail(path, message, "plant only one of them", key=True)
    return tuple(planted.values())


def _parents(name: str) -> list[str]:
    parts = posixpath.normpath(path_from_text(name)).split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


def _relative(r: Reading, path: Keys, name: str) -> str | None:
    written = path_from_text(name)
    clean = posixpath.normpath(written)
    parts = clean.split("/")
    hint = "write one that stays inside, such as docs/notes.txt"
    if not name or written.startswith(("/", "~/")) or parts[0] in {"..", "."}:
        r.fail(path, f"{quoted(name)} is no relative path", hint, key=True)
        return None
    if max(len(os.fsencode(part)) for part in parts) > _MAX_NAME or len(clean) > _MAX_PATH:
        r.fail(path, f"{quoted(name)} is too long for a path", "shorten it", key=True)
        return None
    return clean if r.no_nul(path, clean, key=True) else None


def _one_planted(r: Reading, path: Keys, name: str, value: Any) -> Planted:
    if isinstance(value, str):
        return _file(name, value.encode(), None)
    mode = int(value["mode"], 8) if "mode" in value else None
    if "link" in value:
        target = path_from_text(value["link"])
        r.no_nul((*path, "link"), target)
        return Planted(name, Kind.LINK, target=target)
    if "dir" in value:
        return Planted(name, Kind.DIR, mode=0o755 if mode is None else mode)
    if "text" in value:
        return _file(name, value["text"].encode(), mode)
    try:
        content = base64.b64decode("".join(value["base64"].split()), validate=True)
    except (binascii.Error, ValueError) as error:
        r.fail((*path, "base64"), f"is no base64: {error}", "encode it again")
        content = b""
    return _file(name, content, mode)


def _file(name: str, content: bytes, mode: int | None) -> Planted:
    if mode is None:
        mode = 0o755 if content.startswith(b"#!") else 0o644
    return Planted(name, Kind.FILE, content, mode=mode)


def read_workspace(r: Reading) -> Workspace:
    """Files, git, mounts."""
    at: Keys = ("workspace",)
    return Workspace(
        files=read_planted(r, (*at, "files")),
        git=_work_tree(r, (*at, "git")),
        mounts=_mounts(r, (*at, "mount")),
    )


def _work_tree(r: Reading, at: Keys) -> WorkTree | None:
    try:
        tree = work_tree_of(r.get(at, False)) if r.clean(at) else None
    except ValueError as error:
        r.blame(at, error)
        return None
    if tree is not None and tree.remote:
        service, _, repo = tree.remote.partition("/")
        hosts = r.peek(("services", "git"))
        repos = hosts.get(service, {}).get("repos", {}) if isinstance(hosts, dict) else {}
        if repo not in repos:
            message = f"there is no repository {quoted(tree.remote)}"
            r.fail((*at, "remote"), message, "write NAME/REPO of one under services.git")
    return tree


def _mounts(r: Reading, at: Keys) -> Mapping[Path, str]:
    mounts: dict[Path, str] = {}
    for path, name, target in r.entries(at):
        source = _source(r, path, name)
        r.no_nul(path, target)
        clean = posixpath.normpath(target)
        if not target.startswith("/") or clean in {*_SYSTEM, AGENT_HOME, WORKSPACE}:
            r.fail(path, f"{quoted(target)} is no place for a mount", "write one such as /opt/tool")
        elif _hides_a_sentinel(clean):
            message = f"{quoted(target)} would hide what shows damage to the home"
            r.fail(path, message, "write one such as /opt/tool")
        elif clean.startswith(_KEPT):
            r.fail(path, f"{quoted(target)} belongs to the kernel", "write one such as /opt/tool")
        elif clean in mounts.values():
            r.fail(path, f"{quoted(target)} is used twice", "give each mount its own place")
        elif source is not None:
            mounts[source] = clean
    return mounts


def _hides_a_sentinel(target: str) -> bool:
    """Whether a mount lies over a path of the decoy home that every trial looks at."""
    paths = (f"{AGENT_HOME}/{sentinel}" for sentinel in SENTINELS)
    return any(path == target or path.startswith(f"{target}/") for path in paths)


def _source(r: Reading, path: Keys, name: str) -> Path | None:
    source: Path | None
    try:
        source = (r.folder / name).resolve()
        wrong = _no_source(source)
    except (OSError, RuntimeError, ValueError):
        source, wrong = None, "cannot be looked at"
    if not wrong:
        return source
    usual = "name a folder or file made for the purpose, relative to the case file"
    hint = did_you_mean(Path(name), usual, beside=r.folder)
    r.fail(path, f"the mount {quoted(name)} {wrong}", hint, key=True)
    return None


def _no_source(source: Path) -> str:
    """Why a host path must not be shown to a subject; empty where it may be."""
    home = Path.home().resolve()
    if not source.exists():
        return "is not there"
    if source == home or source in home.parents:
        return "is or holds your home"
    if any(source == live or live in source.parents for live in _LIVE):
        return "is part of the running host"
    if not source.is_dir() and not source.is_file():
        return "is neither a folder nor a file"
    return ""


def read_env(r: Reading) -> Mapping[str, str]:
    """The case's own variables."""
    env: dict[str, str] = {}
    for path, name, value in r.entries(("env",)):
        if _ENV_NAME.fullmatch(name) is None:
            hint = "use letters, digits and _"
            r.fail(path, f"{quoted(name)} is no variable name", hint, key=True)
        elif _reserved(name):
            r.fail(path, f"{name} is set by the harness", "leave it out", key=True)
        r.no_nul(path, value)
        env[name] = value
    return env


def _reserved(name: str) -> bool:
    return name in RESERVED_ENV or name.startswith(_RESERVED_PREFIX)


def read_secrets(r: Reading, env: Mapping[str, str]) -> Sequence[str]:
    """Names of the variables that carry canaries."""
    names = []
    for path, name in r.items(("secrets",)):
        if _reserved(name):
            r.fail(path, f"{name} is set by the harness", "give the secret another name")
        elif name in env:
            r.fail(path, f"{name} is in env too", "keep one of them")
        names.append(name)
    return tuple(names)
