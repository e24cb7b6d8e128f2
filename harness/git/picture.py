"""What evidence keeps of a repository: enough to judge it again, in plain data.

A picture is a mapping, the same in memory and in ``evidence.json``:

- ``why``: why nothing was seen, or ``null``; then nothing else is to be relied on.
- ``there``: whether there is a repository at all.
- ``head``: the ref that HEAD names, or an id. ``refs``: full names to ids.
- ``index``: ``[path, mode, id, stage]`` of each entry.
- ``tree``: of the commit that HEAD means, path to ``[mode, id]``.
- ``files``: of the work tree, path to ``[mode, sha256]``; of a link, that of its target.
- ``objects``: id to ``TYPE SIZE SHA256``, the last of the contents alone.
- ``commits``: id to ``{parents, subject, author}``.
- ``held``: ids of the objects to which refs and HEAD lead, or HEAD did.
- ``asked``: ``{ref, path, state, text}`` for what an expectation asks of a path in a commit;
  ``state`` is ``[type, mode, size, sha256]``, or ``null`` where there is nothing.
- ``spoilt``: files of the repository that make no sense. ``borrows``: whether it says that it
  has objects elsewhere, where nobody looks. ``remote``: whether a service holds it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from harness.evidence.model import path_text
from harness.git.folder import Found
from harness.git.history import FOLDER, LINK, MODULE, PROGRAM, commit_of, leaves, peeled, reachable
from harness.git.names import full_name
from harness.git.objects import Obj, Unreadable
from sandboxes.base import Entry, Kind

Picture = Mapping[str, Any]

#: Of a file in a commit that an expectation asks for, bytes that are kept.
MOST_TEXT: Final = 1 << 20
_OWN: Final = (".git",)


def unseen(why: str) -> Picture:
    """A picture of what could not be looked at."""
    return {"why": why}


def picture(
    found: Found,
    entries: Mapping[str, Entry],
    asked: Iterable[tuple[str, str]] = (),
    also: Sequence[str] = (),
) -> Picture:
    """What is kept of a repository.

    Args:
        found: the repository.
        entries: of its work tree, by path; none of a bare one.
        asked: refs and paths of which an expectation wants to see what is there.
        also: further ids that lead to objects, as if refs named them.
    """
    if found.why:
        return unseen(found.why)
    if not found.there:
        return {"why": None, "there": False, "files": _files(entries)}
    try:
        return _taken(found, entries, asked, also)
    except Unreadable as error:
        return unseen(f"it holds {error}")


def _taken(
    found: Found,
    entries: Mapping[str, Entry],
    asked: Iterable[tuple[str, str]],
    also: Sequence[str],
) -> Picture:
    head = found.meant("HEAD")
    tips = [name for name in (*found.refs.values(), *also, *([head] if head else [])) if name]
    commits = {name: commit_of(obj) for name, obj in found.objects.items() if obj.type == "commit"}
    tree = leaves(found.objects, head) if head in commits else {}
    return {
        "why": None,
        "there": True,
        "head": found.head,
        "refs": found.refs,
        "index": [[path_text(e.path), f"{e.mode:06o}", e.id, e.stage] for e in found.index],
        "tree": {path_text(p): [f"{leaf.mode:06o}", leaf.id] for p, leaf in tree.items()},
        "files": _files(entries),
        "objects": {name: _object(obj) for name, obj in found.objects.items()},
        "commits": {
            name: {"parents": list(c.parents), "subject": c.subject, "author": c.author}
            for name, c in commits.items()
        },
        "held": sorted(reachable(found.objects, tips)[0]),
        "asked": [_asked(found, ref, path) for ref, path in asked],
        "spoilt": [path_text(name) for name in found.spoilt],
        "borrows": found.borrows,
    }


def _object(obj: Obj) -> str:
    return f"{obj.type} {len(obj.data)} {hashlib.sha256(obj.data).hexdigest()}"


def _files(entries: Mapping[str, Entry]) -> Mapping[str, list[str]]:
    return {path_text(p): file for p, entry in entries.items() if (file := _file(p, entry))}


def _file(path: str, entry: Entry) -> list[str] | None:
    """A file or link of the work tree, in the words of git."""
    if path.split("/")[0] in _OWN:
        return None
    if entry.kind is Kind.LINK:
        target = (entry.target or "").encode("utf-8", "surrogateescape")
        return [f"{LINK:06o}", hashlib.sha256(target).hexdigest()]
    if entry.kind is not Kind.FILE:
        return None
    return ["100755" if entry.mode & 0o100 else "100644", entry.sha256 or ""]


def _asked(found: Found, ref: str, path: str) -> Mapping[str, Any]:
    tip = found.meant(full_name(found.refs, ref))
    nothing = {"ref": ref, "path": path, "state": None, "text": None}
    if tip is None:
        return nothing
    leaf = leaves(found.objects, peeled(found.objects, tip)).get(path)
    if leaf is None or leaf.mode in {FOLDER, MODULE}:
        return nothing
    obj = found.objects.get(leaf.id)
    if obj is None:
        raise Unreadable(f"no object {leaf.id}, which {path} of {ref} is")
    kind = "link" if leaf.mode == LINK else "file"
    mode = "0755" if leaf.mode == PROGRAM else "0644"
    text = obj.data.decode("utf-8", "replace") if len(obj.data) <= MOST_TEXT else None
    state = [kind, mode, len(obj.data), hashlib.sha256(obj.data).hexdigest()]
    return {**nothing, "state": state, "text": text}
