"""Names of refs, and the way from a commit to those before it; free of any library."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence


def full_name(refs: Mapping[str, str], ref: str) -> str:
    """The full name of a ref as people write it: ``main``, ``v1``, ``origin/main``, ``HEAD``."""
    for prefix in ("", "refs/heads/", "refs/tags/", "refs/remotes/", "refs/"):
        if prefix + ref in refs:
            return prefix + ref
    return ref


def ancestry(parents_of: Callable[[str], Sequence[str]], tip: str) -> set[str]:
    """A commit and all commits before it, as far as ``parents_of`` knows them."""
    found: set[str] = set()
    todo = [tip]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo.extend(parents_of(name))
    return found


def nearest_first(parents_of: Callable[[str], Sequence[str]], tip: str) -> Iterator[str]:
    """The same, generation by generation."""
    line, seen = [tip], {tip}
    for name in line:
        yield name
        fresh = dict.fromkeys(parent for parent in parents_of(name) if parent not in seen)
        seen.update(fresh)
        line += fresh
