"""What git's objects say of each other: commits, trees, and what can be reached from where."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from dulwich.errors import ObjectFormatException
from dulwich.objects import parse_tree

from harness.git.objects import Obj, Objects, Unreadable, put

FILE: Final = 0o100644
PROGRAM: Final = 0o100755
LINK: Final = 0o120000
FOLDER: Final = 0o040000
MODULE: Final = 0o160000

_DEEPEST: Final = 200
#: Of one tree with all below it; a tree that holds itself many times over has no end.
_MOST_PATHS: Final = 100_000


class Commit(NamedTuple):
    """A commit; ``author`` as ``Name <address> seconds zone``."""

    tree: str
    parents: Sequence[str]
    author: str
    message: str

    @property
    def subject(self) -> str:
        """The first line of its message."""
        return self.message.partition("\n")[0]


class Leaf(NamedTuple):
    """What a tree holds at a path."""

    mode: int
    id: str


#: Paths, surrogate-escaped, to what is there.
Leaves = Mapping[str, Leaf]


def commit_of(obj: Obj) -> Commit:
    """A commit.

    Raises:
        Unreadable: it is none.
    """
    head, _, message = obj.data.partition(b"\n\n")
    fields: dict[bytes, list[bytes]] = {}
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        fields.setdefault(key, []).append(value)
    if obj.type != "commit" or len(fields.get(b"tree", ())) != 1:
        raise Unreadable("no commit")
    parents = tuple(parent.decode("latin-1") for parent in fields.get(b"parent", ()))
    author = fields.get(b"author", [b""])[0].decode("utf-8", "replace")
    tree = fields[b"tree"][0].decode("latin-1")
    return Commit(tree, parents, author, message.decode("utf-8", "replace"))


def tree_of(obj: Obj) -> Sequence[tuple[str, Leaf]]:
    """Names and what they are in a tree.

    Raises:
        Unreadable: it is none.
    """
    if obj.type != "tree":
        raise Unreadable("no tree")
    try:
        entries = list(parse_tree(obj.data, 20))
    except (ObjectFormatException, ValueError) as error:
        raise Unreadable(f"no tree: {error}") from error
    return [
        (name.decode("utf-8", "surrogateescape"), Leaf(mode, sha.decode("ascii")))
        for name, mode, sha in entries
    ]


def children(obj: Obj) -> Iterator[str]:
    """The ids that an object names."""
    if obj.type == "commit":
        commit = commit_of(obj)
        yield commit.tree
        yield from commit.parents
    elif obj.type == "tree":
        yield from (leaf.id for _, leaf in tree_of(obj) if leaf.mode != MODULE)
    elif obj.type == "tag":
        key, _, target = obj.data.partition(b"\n")[0].partition(b" ")
        if key != b"object":
            raise Unreadable("no tag")
        yield target.decode("latin-1")


def reachable(
    objects: Mapping[str, Obj], tips: Iterable[str], without: Collection[str] = ()
) -> tuple[set[str], set[str]]:
    """The ids to which a way leads from ``tips``, and those of them that are not there.

    ``without`` are ids where the way ends; they are not among the first.

    Raises:
        Unreadable: an object on the way is not in its form.
    """
    found: set[str] = set()
    missing: set[str] = set()
    todo = list(tips)
    while todo:
        name = todo.pop()
        if name in found or name in missing or name in without:
            continue
        if name not in objects:
            missing.add(name)
            continue
        found.add(name)
        todo.extend(children(objects[name]))
    return found, missing


def parents_in(objects: Mapping[str, Obj]) -> Callable[[str], Sequence[str]]:
    """Gives a commit's parents; none of what is no commit that is there."""

    def parents(name: str) -> Sequence[str]:
        obj = objects.get(name)
        return commit_of(obj).parents if obj is not None and obj.type == "commit" else ()

    return parents


def peeled(objects: Mapping[str, Obj], name: str) -> str:
    """What a tag means in the end, or the name itself."""
    for _ in range(_DEEPEST):
        obj = objects.get(name)
        if obj is None or obj.type != "tag":
            return name
        name = next(children(obj))
    raise Unreadable("tags of tags without end")


def leaves(objects: Mapping[str, Obj], commit: str) -> dict[str, Leaf]:
    """Every path of a commit's tree that is no folder.

    Raises:
        Unreadable: something of it is not there or not in its form, or it has no end.
    """
    top = objects.get(peeled(objects, commit))
    if top is None:
        raise Unreadable(f"{commit} is not there")
    found: dict[str, Leaf] = {}
    todo = [("", commit_of(top).tree, 0)]
    while todo:
        folder, name, depth = todo.pop()
        tree = objects.get(name)
        if tree is None:
            raise Unreadable(f"the tree {name} is not there")
        for entry, leaf in tree_of(tree):
            if leaf.mode == FOLDER:
                todo.append((f"{folder}{entry}/", leaf.id, depth + 1))
            else:
                found[folder + entry] = leaf
        if depth > _DEEPEST or len(found) + len(todo) > _MOST_PATHS:
            raise Unreadable("a tree without end")
    return found


def write_tree(objects: Objects, paths: Leaves) -> str:
    """A tree with all trees below it; gives its id."""
    here: dict[str, Leaf] = {}
    below: dict[str, dict[str, Leaf]] = {}
    for path, leaf in paths.items():
        first, inside, rest = path.partition("/")
        if inside:
            below.setdefault(first, {})[rest] = leaf
        else:
            here[first] = leaf
    for folder, inner in below.items():
        here[folder] = Leaf(FOLDER, write_tree(objects, inner))
    rows = sorted((name.encode("utf-8", "surrogateescape"), leaf) for name, leaf in here.items())
    rows.sort(key=lambda row: row[0] + (b"/" if row[1].mode == FOLDER else b""))
    data = b"".join(b"%o %s\0" % (leaf.mode, name) + bytes.fromhex(leaf.id) for name, leaf in rows)
    return put(objects, "tree", data)


def write_commit(
    objects: Objects, tree: str, parents: Sequence[str], author: str, message: str
) -> str:
    """A commit; ``author`` as in :class:`Commit`. Gives its id."""
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    lines += [f"author {author}", f"committer {author}", "", message.rstrip("\n") + "\n"]
    return put(objects, "commit", "\n".join(lines).encode("utf-8", "surrogateescape"))
