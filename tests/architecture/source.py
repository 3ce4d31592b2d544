"""The Python files of the repository as syntax trees, parsed once for all tests of this folder."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "clearlane"


@cache
def tree_of(file: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def nodes_of(file: Path) -> tuple[ast.AST, ...]:
    """Return every node of a file's syntax tree."""
    return tuple(ast.walk(tree_of(file)))


@cache
def python_files(folder: Path) -> tuple[Path, ...]:
    """Return the Python files below a folder, in order."""
    return tuple(sorted(folder.rglob("*.py")))
