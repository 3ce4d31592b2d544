"""Imports go down only, never sideways and never in a circle: packages, parts of packages, modules."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.architecture.part_imports import APART, PART_IMPORTS
from tests.architecture.source import SOURCE, imports_in, nodes_of, python_files, tree_of
from tests.cases import every_case

FILES = python_files(SOURCE)
MODULES_MAX = 25
"""Modules side by side in a package: more of them hide the one that a reader looks for."""

# Each package and the packages it may import: those of the layers below it, never its neighbors.
KERNEL = {"kernel"}
X12 = KERNEL | {"x12"}
# Beside the directories: what every inquiry to a payer shares, for eligibility and whatever else asks payers; and the files
# of code lists, which the import of a list reads.
DIRECTORIES = X12 | {"payers", "accounts", "inquiry", "code_files"}
DOMAINS = DIRECTORIES | {"claims", "payments", "eligibility", "enrollment", "events", "proofs"}
STORES = DOMAINS | {"store", "connect"}
ENGINE = STORES | {"engine"}
VERBS = ENGINE | {"pdf", "pipeline"}
EVERYONE = VERBS | {
    "api",
    "cli",
    "console",
    "sandbox",
    "sftp_server",
    "client",
    "settings",
    "wiring",
}

MAY_IMPORT: dict[str, set[str]] = {
    "kernel": set(),
    "x12": KERNEL,
    "code_files": set(),
    "payers": X12,
    "accounts": X12,
    "inquiry": X12,
    "claims": DIRECTORIES,
    "payments": DIRECTORIES,
    "eligibility": DIRECTORIES,
    "enrollment": DIRECTORIES,
    "events": KERNEL,
    # A proof is read and checked by what its files say, without the claim or payment that they are about.
    "proofs": X12,
    "store": DOMAINS,
    "connect": DOMAINS,
    "engine": KERNEL | {"store"},
    # Draws what it is given in words and amounts; only payments are values that it puts in words itself.
    "pdf": KERNEL | {"payments"},
    "pipeline": ENGINE | {"pdf"},
    "api": VERBS,
    "console": VERBS,
    # A face like the two above it: SFTP sessions instead of HTTP requests.
    "sftp_server": VERBS,
    "sandbox": {"kernel", "x12", "connect"},
    "client": set(),
    "settings": KERNEL,
    "wiring": EVERYONE,
    "cli": EVERYONE - {"console", "sandbox"},
    # Processes that a node starts beside itself: they open an installation as commands do.
    "programs": VERBS | {"api", "settings", "wiring"},
    "__main__": {"cli"},
    "__init__": set(),
}


def package_of(file: Path) -> str:
    first = file.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def module_of(file: Path) -> str:
    parts = file.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


MODULES = {module_of(file): file for file in FILES}


@cache
def imports_of(file: Path) -> tuple[tuple[int, str], ...]:
    """Return every module of ours that a file imports, with the line.

    Imports inside functions and under TYPE_CHECKING count as well: a circle is a circle.
    """
    return tuple(_imports(file))


def _imports(file: Path) -> Iterator[tuple[int, str]]:
    for node in imports_in(file):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            assert node.level == 0, (
                f"{file}:{node.lineno}: write imports from the root of the package"
            )
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            # `from clearlane.x12 import codes` imports a module, `... import parse` a name of one.
            module = name if name in MODULES else name.rpartition(".")[0]
            if module in MODULES and MODULES[module] != file:
                yield node.lineno, module


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that import each other (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in graph.get(module, ()):
            if other not in index:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            at = stack.index(module)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for module in graph:
        if module not in index:
            visit(module)
    return found


@every_case("package", sorted({package_of(file) for file in FILES}))
def test_a_package_imports_only_layers_below_it(package):
    assert package in MAY_IMPORT, f"{package} is a new package: give it a row in the table"
    wrong = [
        f"{file.relative_to(SOURCE)}:{line} imports {module}"
        for file in FILES
        if package_of(file) == package
        for line, module in imports_of(file)
        if module != "clearlane"
        and (other := module.split(".")[1]) != package
        and other not in MAY_IMPORT[package]
    ]
    assert not wrong


def test_no_modules_import_each_other_in_a_circle():
    graph = {
        module: {other for _, other in imports_of(file)} - {"clearlane"}
        for module, file in MODULES.items()
    }
    assert circles(graph) == []


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [["b", "c"]]


def part_of(module: str, package: str) -> str:
    """Return the part of a package that a module is in; "shared" for a module directly in the package."""
    first = module.removeprefix(f"clearlane.{package}").strip(".").split(".")[0]
    is_part = first and (SOURCE / package / first).is_dir()
    return first if is_part or first in APART.get(package, ()) else "shared"


@every_case("package", sorted(PART_IMPORTS))
def test_parts_of_a_package_import_each_other_only_for_a_reason(package):
    inside = f"clearlane.{package}"
    found = {
        (part_of(module, package), part_of(other, package)): f"{file.relative_to(SOURCE)}:{line}"
        for module, file in MODULES.items()
        if module == inside or module.startswith(f"{inside}.")
        for line, other in imports_of(file)
        if other.startswith(f"{inside}.") and part_of(other, package) != part_of(module, package)
    }
    rows = PART_IMPORTS[package]
    assert not {pair: place for pair, place in found.items() if pair not in rows}
    assert not {pair for pair in rows if pair not in found}, "rows that no import needs"


def test_a_package_with_parts_gives_reasons():
    with_parts = {
        package.name
        for package in SOURCE.iterdir()
        if package.is_dir() and sum(1 for part in package.iterdir() if is_package(part)) > 1
    }
    assert with_parts == PART_IMPORTS.keys() - {"sandbox"}


def is_package(folder: Path) -> bool:
    return (folder / "__init__.py").is_file()


@every_case("package", sorted({str(file.parent.relative_to(SOURCE)) for file in FILES}))
def test_a_package_has_few_modules_side_by_side(package):
    modules = [file for file in (SOURCE / package).glob("*.py") if file.stem != "__init__"]
    assert len(modules) <= MODULES_MAX, "more wants parts"


def test_the_sandbox_sees_connections_only_through_the_port():
    for file in (SOURCE / "sandbox").rglob("*.py"):
        seen = {module for _, module in imports_of(file) if ".connect" in module}
        assert seen <= {"clearlane.connect.port"}, file


def test_no_file_hides_behind_a_name_that_says_nothing():
    nameless = {"utils.py", "helpers.py", "base.py", "misc.py", "common.py"}
    found = {file for file in FILES if file.name in nameless and "guides" not in file.parts}
    assert not found


def test_nothing_is_executed_from_text():
    for file in FILES:
        for node in nodes_of(file):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"exec", "eval"}, f"{file}:{node.lineno}"


@every_case("folder", ["store", "claims/forms"])
def test_any_stands_only_beside_a_reason(folder):
    """A row, a column or a filter may be of any type; a connection or a transaction is of one."""
    for file in python_files(SOURCE / folder):
        lines = file.read_text(encoding="utf-8").splitlines()
        used = {node.lineno for node in nodes_of(file) if _names_any(node)}
        bare = [line for line in sorted(used) if "# Any: " not in lines[line - 1]]
        assert not bare, f"{file}, lines {bare}: give a type, or a reason after `# Any: `"


def test_an_ignored_type_has_its_error_and_a_reason():
    for file in FILES:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            has_both = re.search(r"# type: ignore\[[\w, -]+\]  # \S", line)
            assert has_both or "# type: ignore" not in line, f"{file}:{number}"


def _names_any(node: ast.AST) -> bool:
    """Return whether a node is the name, or a type in quotes that has it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.search(r"\[(.*\W)?Any\b", node.value) is not None
    return isinstance(node, ast.Name) and node.id == "Any"


def test_a_limit_that_one_module_uses_stands_in_that_module():
    limits = SOURCE / "kernel" / "limits.py"
    names = {
        node.id
        for node in nodes_of(limits)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    users: dict[str, set[Path]] = {name: set() for name in names}
    for file in FILES:
        for node in nodes_of(file):
            name = getattr(node, "attr", getattr(node, "id", ""))
            if name in names and file != limits:
                users[name].add(file)
    assert not {name for name, files in users.items() if len(files) < 2}


DESCRIBED = [
    "engine",
    "pipeline",
    *(f"pipeline/{each.name}" for each in (SOURCE / "pipeline").iterdir() if each.is_dir()),
]


@every_case("package", sorted(each for each in DESCRIBED if "__" not in each))
def test_a_package_docstring_names_every_module_of_the_package(package):
    """A reader looks there first for the sequence in which verbs call each other."""
    described = ast.get_docstring(tree_of(SOURCE / package / "__init__.py")) or ""
    modules = {file.stem for file in (SOURCE / package).glob("*.py")} - {"__init__"}
    assert not {name for name in modules if f"``{name}``" not in described}
