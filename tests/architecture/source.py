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
    """Return every node of a file's syntax tree in the order of ``ast.walk``, which takes three times as long.

    Not those that say whether a name is read or written: there are as many of them as names.
    """
    found: list[ast.AST] = [tree_of(file)]
    for node in found:  # which grows meanwhile
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                found += [one for one in value if isinstance(one, ast.AST)]
            elif isinstance(value, ast.AST) and name != "ctx":
                found.append(value)
    return tuple(found)


@cache
def imports_in(file: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """Return every import of a file, also those inside functions."""
    return tuple(node for node in nodes_of(file) if isinstance(node, ast.Import | ast.ImportFrom))


@cache
def python_files(folder: Path) -> tuple[Path, ...]:
    """Return the Python files below a folder, in order."""
    return tuple(sorted(folder.rglob("*.py")))
