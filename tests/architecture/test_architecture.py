"""Imports go down only, never sideways."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "clearlane"

# Each room and the rooms it may import. A floor sees what lies below it, never its neighbours.
KERNEL = {"kernel"}
X12 = KERNEL | {"x12"}
DIRECTORIES = X12 | {"payers", "accounts"}
DOMAINS = DIRECTORIES | {"claims", "payments", "eligibility", "enrollment"}
STORES = DOMAINS | {"store", "connect"}
ENGINE = STORES | {"engine"}
VERBS = ENGINE | {"pipeline"}
EVERYONE = VERBS | {"api", "cli", "console", "sandbox", "client", "settings", "wiring"}

MAY_IMPORT: dict[str, set[str]] = {
    "kernel": set(),
    "x12": KERNEL,
    "payers": X12,
    "accounts": X12,
    "claims": DIRECTORIES,
    "payments": DIRECTORIES,
    "eligibility": DIRECTORIES,
    "enrollment": DIRECTORIES,
    "store": DOMAINS,
    "connect": DOMAINS,
    "engine": KERNEL | {"store"},
    "pipeline": ENGINE,
    "api": VERBS,
    "console": VERBS,
    "sandbox": {"kernel", "x12", "connect"},
    "client": set(),
    "settings": KERNEL,
    "wiring": EVERYONE,
    "cli": EVERYONE - {"console", "sandbox"},
    "__main__": {"cli"},
    "__init__": set(),
}


def room_of(file: Path) -> str:
    first = file.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def imported_rooms(file: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, (
                f"{file}:{node.lineno}: write imports from the root of the package"
            )
            base = node.module or ""
            names = (
                [f"{base}.{alias.name}" for alias in node.names] if base == "clearlane" else [base]
            )
        else:
            continue
        for name in names:
            package, _, rest = name.partition(".")
            if package == "clearlane" and rest and not rest.startswith("__version__"):
                yield node.lineno, rest.split(".")[0]


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_a_room_imports_only_what_lies_below_it(file):
    room = room_of(file)
    assert room in MAY_IMPORT, f"{room} is a new room: give it a place in the table"
    faults = [
        f"{file.relative_to(SOURCE)}:{line} imports {other}"
        for line, other in imported_rooms(file)
        if other != room and other not in MAY_IMPORT[room]
    ]
    assert not faults


def test_the_sandbox_sees_connections_only_through_the_port():
    for file in (SOURCE / "sandbox").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                "clearlane.connect"
            ):
                assert node.module == "clearlane.connect.port", file


def test_no_file_hides_behind_a_name_that_says_nothing():
    nameless = {"utils.py", "helpers.py", "base.py", "misc.py", "common.py"}
    found = {file for file in FILES if file.name in nameless and "guides" not in file.parts}
    assert not found


def test_nothing_is_executed_from_text():
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"exec", "eval"}, f"{file}:{node.lineno}"
