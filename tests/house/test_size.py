"""Files and functions stay small enough to be read in one go.

Docstrings are not counted: a contract may be explained as fully as it needs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.checkout import ROOT, tracked

FILE_LINES = 300
FUNCTION_LINES = 40

CODE = [
    path
    for folder in ("harness", "sandboxes", "verifiers", "runtime")
    for path in tracked(f"{folder}/**.py")
]

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def lines(node: ast.AST) -> int:
    """Lines that a node takes, the docstrings in it apart."""
    documented = [inner for inner in ast.walk(node) if isinstance(inner, DOCUMENTED)]
    return span(node) - sum(span(inner.body[0]) for inner in documented if ast.get_docstring(inner))


def span(node: ast.AST) -> int:
    if isinstance(node, ast.Module):
        return max((inner.end_lineno or 0 for inner in node.body), default=0)
    assert isinstance(node, ast.stmt)
    return (node.end_lineno or 0) - node.lineno + 1


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_there_is_code_to_measure():
    assert len(CODE) > 10


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_and_its_functions_are_short(path: Path):
    tree = ast.parse(path.read_bytes())
    long = {f.name: lines(f) for f in functions(tree) if lines(f) > FUNCTION_LINES}

    assert lines(tree) <= FILE_LINES, f"split it by concern: {lines(tree)} lines"
    assert long == {}, f"these functions take more than {FUNCTION_LINES} lines"


def test_docstrings_are_not_counted_and_code_is():
    tree = ast.parse(
        '"""One.\n\nTwo."""\ndef f():\n    """Three.\n\n    Four.\n    """\n    return 1\n'
    )

    assert lines(tree) == 2
    assert [lines(function) for function in functions(tree)] == [2]
