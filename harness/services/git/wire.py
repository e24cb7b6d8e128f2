"""Git's smart HTTP protocol, version 0, which every client speaks; see gitprotocol-http(5).

Each request stands alone: a client says again what it has, so the server keeps no state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from dulwich.protocol import pkt_line, pkt_seq

from harness.git.history import commit_of, peeled, reachable
from harness.git.objects import Obj, write_pack
from harness.services.git.repository import NOTHING, Change, Refused, Repository

UPLOAD: Final = "git-upload-pack"
RECEIVE: Final = "git-receive-pack"

_BAND: Final = 65_000
_MOST_LINES: Final = 20_000
_CAPABILITIES: Final = {
    UPLOAD: "side-band-64k ofs-delta shallow no-progress "
    "allow-tip-sha1-in-want allow-reachable-sha1-in-want",
    RECEIVE: "report-status delete-refs side-band-64k quiet atomic ofs-delta",
}


class Garbled(Exception):
    """A request that is not in the protocol."""


def advertisement(repository: Repository, service: str) -> bytes:
    """The refs, and what can be asked for."""
    rows = repository.advertised()
    extra = f"{_CAPABILITIES[service]} object-format=sha1 agent=git/shakeout"
    if service == UPLOAD and repository.head:
        extra += f" symref=HEAD:refs/heads/{repository.branch}"
    if service == RECEIVE:
        rows = [(ref, name) for ref, name in rows if ref != "HEAD" and "^" not in ref]
    rows = rows or [("capabilities^{}", NOTHING)]
    lines = [f"{name} {ref}\n" for ref, name in rows]
    lines[0] = f"{rows[0][1]} {rows[0][0]}\0{extra}\n"
    begin: bytes = pkt_seq(f"# service={service}\n".encode())
    return begin + _packets(lines)


def _packets(lines: Iterable[str]) -> bytes:
    encoded: bytes = pkt_seq(*(line.encode("utf-8", "surrogateescape") for line in lines))
    return encoded


def _read(body: bytes) -> Iterator[tuple[str | None, int]]:
    """Each packet line, without its newline, and where it ends; ``None`` for a flush.

    Raises:
        Garbled: it is no packet line, or there are too many.
    """
    at = count = 0
    while at < len(body):
        head = body[at : at + 4]
        count += 1
        if len(head) < 4 or head.strip(b"0123456789abcdefABCDEF") or count > _MOST_LINES:
            raise Garbled("no packet line")
        size = int(head, 16)
        if size == 0:
            at += 4
            yield None, at
            continue
        if size < 4 or at + size > len(body):
            raise Garbled("a packet line that is cut")
        line = body[at + 4 : at + size].decode("utf-8", "surrogateescape")
        at += size
        yield line.removesuffix("\n"), at


# -- fetching


@dataclass(slots=True)
class Wanted:
    """What a client asks for, and what it has."""

    wants: list[str] = field(default_factory=list)
    haves: list[str] = field(default_factory=list)
    shallow: set[str] = field(default_factory=set)
    depth: int | None = None
    done: bool = False
    banded: bool = False


def upload(repository: Repository, body: bytes) -> bytes:
    """The answer to a request for objects.

    Raises:
        Garbled: it is none.
    """
    asked = _wanted(body)
    if not asked.wants:
        return b""
    for want in repository.unoffered(asked.wants):
        refusal: bytes = pkt_line(f"ERR upload-pack: not our ref {want}\n".encode())
        return refusal
    objects = repository.objects
    seen = _commits(objects, asked.wants, asked.depth, set())
    edge = _edge(seen, objects) if asked.depth is not None else set()
    reply = b""
    if asked.depth is not None:
        lines = [f"shallow {name}" for name in sorted(edge - asked.shallow)]
        lines += [f"unshallow {name}" for name in sorted(asked.shallow & seen - edge)]
        reply = _packets(lines)
    common = [have for have in asked.haves if have in objects]
    answer: bytes = pkt_line(f"ACK {common[0]}\n".encode() if common else b"NAK\n")
    if not asked.done:
        only_depth = asked.depth is not None and not asked.haves
        return reply if only_depth else reply + answer
    has = _commits(objects, common, None, asked.shallow)
    sent = _objects(repository, asked.wants, seen, has)
    pack = write_pack(sent)
    return reply + answer + (_banded(pack) if asked.banded else pack)


def _wanted(body: bytes) -> Wanted:
    asked = Wanted()
    for line, _ in _read(body):
        if line is None:
            continue
        key, _, rest = line.partition(" ")
        value = rest.split("\0")[0].split(" ")[0]
        match key:
            case "want":
                asked.wants.append(value)
                asked.banded = asked.banded or "side-band-64k" in rest.split()
            case "have":
                asked.haves.append(value)
            case "shallow":
                asked.shallow.add(value)
            case "deepen" if value.isdecimal() and len(value) < 11:
                asked.depth = int(value)
            case "done":
                asked.done = True
            case _:
                raise Garbled(f"what is {key!r}?")
    return asked


def _commits(
    objects: Mapping[str, Obj], tips: Iterable[str], depth: int | None, cut: set[str]
) -> set[str]:
    """Commits that lead from tips, as many generations as are asked for, and not beyond ``cut``."""
    level = {name for tip in tips if _is_commit(objects, name := peeled(objects, tip))}
    found = set(level)
    while level and depth != 1:
        parents = {
            parent
            for name in level - cut
            for parent in commit_of(objects[name]).parents
            if parent in objects
        }
        level = parents - found
        found |= level
        depth = None if depth is None else depth - 1
    return found


def _is_commit(objects: Mapping[str, Obj], name: str) -> bool:
    return name in objects and objects[name].type == "commit"


def _edge(seen: set[str], objects: Mapping[str, Obj]) -> set[str]:
    """Commits whose parents a client does not get."""
    return {name for name in seen if set(commit_of(objects[name]).parents) - seen}


def _objects(
    repository: Repository, wants: Sequence[str], seen: set[str], has: set[str]
) -> list[Obj]:
    """What a client needs for the commits it is to see, beside those it has."""
    objects = repository.objects
    trees = {commit_of(objects[name]).tree for name in has}
    old = reachable(objects, trees)[0] | has
    hidden = {p for name in seen for p in commit_of(objects[name]).parents} - seen
    new = reachable(objects, wants, old | hidden)[0]
    # A commit that is both old and a shallow client's edge may hide what lies behind it.
    behind = reachable(objects, seen - has, old | hidden)[0]
    return [objects[name] for name in sorted(new | behind)]


def _banded(data: bytes) -> bytes:
    pieces = [b"\x01" + data[at : at + _BAND] for at in range(0, len(data), _BAND)]
    framed: bytes = pkt_seq(*pieces)
    return framed


# -- pushing


def receive(repository: Repository, body: bytes) -> bytes:
    """The answer to a push, which has been done or refused by then.

    Raises:
        Garbled: it is none.
    """
    changes, capabilities, pack = _pushed(body)
    if not changes:
        return b""  # a client that tries whether it may
    try:
        whys = repository.receive(changes, pack, atomic="atomic" in capabilities)
        lines = ["unpack ok\n"]
    except Refused as refused:
        whys = ["unpacker error"] * len(changes)
        lines = [f"unpack {refused}\n"]
        for change in changes:
            repository.note(change, f"refused: {refused}")
    for change, why in zip(changes, whys, strict=True):
        lines.append(f"ng {change.ref} {why}\n" if why else f"ok {change.ref}\n")
    if "report-status" not in capabilities:
        return b""
    report = _packets(lines)
    return _banded(report) if "side-band-64k" in capabilities else report


def _pushed(body: bytes) -> tuple[list[Change], list[str], bytes]:
    changes: list[Change] = []
    capabilities: list[str] = []
    for line, end in _read(body):
        if line is None:
            return changes, capabilities, body[end:]
        command, _, extra = line.partition("\0")
        words = command.split(" ", 2)
        capabilities += extra.split()
        if words[0] == "shallow":
            continue
        if len(words) != 3 or not all(_is_id(word) for word in words[:2]):
            raise Garbled("no command of a push")
        changes.append(Change(*words))
    raise Garbled("a push without an end")


def _is_id(text: str) -> bool:
    return len(text) == len(NOTHING) and not text.strip("0123456789abcdef")
