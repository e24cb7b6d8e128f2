"""What a shell command writes, as far as it can be told without running it.

Quotes and escapes are undone as a shell does. Where a command's name comes out of a variable or of
another command, or where code of another language is run, nothing can be told.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final, TypeAlias

from runtime.recovery.guard import sql
from runtime.recovery.guard.commands import (
    CLIENTS,
    GIT_OPTIONS,
    GIT_READS,
    INTERPRETERS,
    PROGRAMS,
    READERS,
    SHELLS,
    WRAPPERS,
    WRITERS,
)
from runtime.recovery.guard.spelled import plain
from runtime.recovery.guard.table import Effect

Found: TypeAlias = tuple[Effect, tuple[str, ...]]

_ENDS: Final = frozenset({";", "&", "&&", "|", "||", "|&", "\n", "(", ")", "{", "}", ";;", "!"})
_KEYWORDS: Final = frozenset({"if", "then", "else", "elif", "fi", "do", "done", "while", "until"})
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_NAMES: Final = (
    frozenset(PROGRAMS) | SHELLS | WRAPPERS | CLIENTS | WRITERS | READERS | {"git", "find"}
)
_DEEPEST: Final = 8
_LONGEST: Final = 1 << 16
_FILES: Final = (".py", ".pl", ".rb", ".js", ".mjs", ".cjs", ".ts", ".php", ".lua", ".r", ".sh")
_GIT_TAKES: Final = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"}
)
_LISTING: Final = frozenset({"-a", "-r", "-v", "-vv", "-l", "--list", "--all", "--show-current"})
#: What git does that lists with these options, and writes with others.
_GIT_LISTS: Final = {
    "branch": _LISTING,
    "tag": _LISTING,
    "remote": _LISTING | {"show"},
    "reflog": _LISTING | {"show"},
    "worktree": frozenset({"list"}),
    "config": frozenset({"-l", "--list"}),
}
#: ``$(…)``, backquotes and process substitution, which run what is in them.
_INNER: Final = re.compile(r"\$\(([^()]*)\)|`([^`]*)`|[<>]\(([^()]*)\)")
_REDIRECTION: Final = re.compile(r"^\d*(>{1,2}\|?|&>{1,2}|>&|<>)$")


def effects(command: str, depth: int = 0) -> Iterator[Found]:
    """What a command writes, with the paths that it writes to."""
    if depth > _DEEPEST or len(command) > _LONGEST:
        yield Effect.OPAQUE, ()
        return
    joined = command.replace("\\\r\n", "").replace("\\\n", "")
    while match := _INNER.search(joined):
        yield from effects(next(filter(None, match.groups()), ""), depth + 1)
        joined = f"{joined[: match.start()]}\0{joined[match.end() :]}"
    try:
        words = _words(joined)
    except ValueError:
        yield Effect.OPAQUE, ()
        return
    for simple in _simple(words):
        yield from _of_simple(simple, depth)


def _words(command: str) -> list[str]:
    lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)


def _simple(words: Sequence[str]) -> Iterator[list[str]]:
    """The simple commands of a line of words."""
    found: list[str] = []
    for word in words:
        if word in _ENDS or word in _KEYWORDS or (word and not word.strip(";&|()")):
            if found:
                yield found
            found = []
        else:
            found.append(word)
    if found:
        yield found


def _of_simple(words: list[str], depth: int) -> Iterator[Found]:
    """What one simple command writes."""
    words, targets = _redirected(words)
    if targets:
        yield Effect.FILES, tuple(targets)
    while words and _ASSIGNMENT.match(words[0]):
        words = words[1:]
    if words:
        yield from _of_program(words, depth)


def _redirected(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words without redirections, and what is written by them."""
    left: list[str] = []
    targets: list[str] = []
    taking = False
    for word in words:
        if taking:
            targets.append(word)
            taking = False
        elif _REDIRECTION.match(word):
            taking = True
            if left and left[-1].isdigit():
                left.pop()
        else:
            left.append(word)
    return left, [target for target in targets if target != "/dev/null" and not target.isdigit()]


def _of_program(words: list[str], depth: int) -> Iterator[Found]:
    """What a program writes, by its name and its arguments."""
    if depth > _DEEPEST or any(each in words[0] for each in "$\0*?{"):
        yield Effect.OPAQUE, ()
        return
    name = plain(PurePosixPath(words[0]).name).removesuffix(".exe")
    rest = words[1:]
    if name in PROGRAMS:
        yield PROGRAMS[name], ()
        yield from _of_wrapper(rest, depth)
    elif name in SHELLS:
        yield from _of_shell(rest, depth)
    elif name in WRAPPERS:
        yield from _of_wrapper(rest, depth)
    elif name == "find":
        yield from _of_find(rest, depth)
    else:
        yield from _of_leaf(name, rest)


def _of_leaf(name: str, rest: list[str]) -> Iterator[Found]:
    """What a program writes that starts no other."""
    if name == "git":
        yield from _of_git(rest)
    elif name in CLIENTS:
        yield from _of_client(rest)
    elif name in WRITERS:
        yield Effect.FILES, tuple(word for word in rest if not word.startswith("-"))
    elif _interprets(name):
        yield from _of_interpreter(rest)
    elif name not in READERS:
        yield Effect.PROGRAM, ()


def _interprets(name: str) -> bool:
    """Whether it runs code that it is given."""
    return name.rstrip("0123456789.") in INTERPRETERS or name in INTERPRETERS


def _of_interpreter(rest: Sequence[str]) -> Iterator[Found]:
    """Code that is given, or read from the input, can be anything; a program's file is a program."""
    words = [plain(word) for word in rest]
    if not words:
        yield Effect.OPAQUE, ()
    elif "-m" in words:
        module = words[words.index("-m") + 1 :][:1]
        yield (PROGRAMS.get(module[0], Effect.PROGRAM) if module else Effect.OPAQUE), ()
    elif words[0].endswith(_FILES):
        yield Effect.PROGRAM, ()
    else:
        yield Effect.OPAQUE, ()


def _of_shell(rest: list[str], depth: int) -> Iterator[Found]:
    """What the code behind a shell's ``-c`` writes; what it reads from its input can be anything."""
    code = [index for index, word in enumerate(rest) if re.fullmatch(r"-[a-z]*c[a-z]*", word)]
    if code and len(rest) > code[0] + 1:
        yield from effects(rest[code[0] + 1], depth + 1)
    elif not rest or rest[0].startswith("-"):
        yield Effect.OPAQUE, ()
    else:
        yield Effect.PROGRAM, ()


def _of_wrapper(rest: list[str], depth: int) -> Iterator[Found]:
    """What the command behind a wrapper writes.

    Which words are values of the wrapper's options is not known here, so its command is taken to
    begin at the first word that is the name of a known program.
    """
    for index, word in enumerate(rest):
        if _known(word):
            yield from _of_program(rest[index:], depth + 1)
            return
    if any(not word.startswith("-") for word in rest):
        yield Effect.PROGRAM, ()


def _known(word: str) -> bool:
    name = plain(PurePosixPath(word).name).removesuffix(".exe")
    opaque = any(each in word for each in "$\0*?{")
    return opaque or name in _NAMES or _interprets(name)


def _of_git(rest: list[str]) -> Iterator[Found]:
    """What git writes; a configuration that is given on the line can run anything."""
    words = list(rest)
    while words and words[0].startswith("-"):
        given = words.pop(0)
        option = given if given == "-C" else plain(given)
        if option.startswith(("-c", "--config-env", "--exec-path")):
            yield Effect.OPAQUE, ()
        if option in _GIT_TAKES and words:
            words.pop(0)
    if not words:
        return
    verb, options = plain(words[0]), [plain(word) for word in words[1:]]
    listing = verb in _GIT_LISTS and set(options) <= _GIT_LISTS[verb]
    if verb not in GIT_READS and not listing:
        yield Effect.GIT, ()
    if any(option.startswith(GIT_OPTIONS) for option in options):
        yield Effect.FILES, ()


def _of_client(rest: Sequence[str]) -> Iterator[Found]:
    """A client writes if any argument does; without a statement it takes what it is sent."""
    found = [effect for word in rest for effect in sql.effects(word)]
    if found:
        yield Effect.DATABASE, ()
    elif not any(" " in word.strip() for word in rest):
        yield Effect.OPAQUE, ()


def _of_find(rest: list[str], depth: int) -> Iterator[Found]:
    """``find`` runs what is behind ``-exec``, and removes with ``-delete``."""
    for index, word in enumerate(rest):
        if word.startswith(("-delete", "-fprint", "-fls")):
            yield Effect.FILES, ("*",)
        if word in ("-exec", "-execdir", "-ok", "-okdir") and rest[index + 1 :]:
            yield from _of_program(rest[index + 1 :], depth + 1)
