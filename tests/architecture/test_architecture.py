"""Imports go down only, never sideways and never in a circle: packages, parts of pipeline, modules."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.architecture.source import SOURCE, imports_in, nodes_of, python_files, tree_of
from tests.cases import every_case

FILES = python_files(SOURCE)

# Each package and the packages it may import: those of the layers below it, never its neighbours.
KERNEL = {"kernel"}
X12 = KERNEL | {"x12"}
DIRECTORIES = X12 | {"payers", "accounts"}
DOMAINS = DIRECTORIES | {"claims", "payments", "eligibility", "enrollment", "events"}
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
    "events": KERNEL,
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

# Inside pipeline/: which part may import which, and why. Modules directly in pipeline/ are "shared", but
# for the two that know the verbs: the context that they are given and the schedule that starts them.
APART_IN_PIPELINE = {"work_context", "schedule"}
CONTEXT = "verbs take the work context"
STATUS = "facts are recorded and read, and claims are loaded, in one way everywhere"
PIPELINE_IMPORTS: dict[tuple[str, str], str] = {
    ("access", "work_context"): CONTEXT,
    ("eligibility", "work_context"): CONTEXT,
    ("enrollment", "work_context"): CONTEXT,
    ("inbound", "work_context"): CONTEXT,
    ("intake", "work_context"): CONTEXT,
    ("operator", "work_context"): CONTEXT,
    ("outbound", "work_context"): CONTEXT,
    ("eligibility", "shared"): "inquiries go out on the routes that claims use",
    ("inbound", "shared"): STATUS,
    ("notify", "shared"): "an event names the vendor's claim id, which is read from the claim",
    ("notify", "work_context"): CONTEXT,
    ("intake", "shared"): STATUS,
    ("operator", "shared"): STATUS,
    ("outbound", "shared"): STATUS,
    ("query", "shared"): STATUS,
    ("query", "work_context"): CONTEXT,
    ("inbound", "eligibility"): "a 271 in a file ends the inquiry that is open",
    ("inbound", "outbound"): "an answer proves a delivery; a poll that works ends a pause",
    (
        "intake",
        "enrollment",
    ): "a claim may need a provider that is enrolled, or take the ZIP code from there",
    ("operator", "eligibility"): "advancing the sandbox's clock runs what is due",
    ("operator", "inbound"): "a person replays a file; advancing the clock runs what is due",
    ("operator", "outbound"): "a person sends a batch again; advancing the clock runs what is due",
    ("schedule", "eligibility"): "a row for each kind of work",
    ("schedule", "inbound"): "a row for each kind of work",
    ("schedule", "intake"): "a row for each kind of work",
    ("schedule", "notify"): "a row for each kind of work",
    ("schedule", "operator"): "a row for each kind of work",
    ("schedule", "outbound"): "a row for each kind of work",
    ("schedule", "query"): "a row for each kind of work",
    ("work_context", "eligibility"): "the context holds the node's inquiry runner",
    ("work_context", "intake"): "the context holds the node's intake batcher",
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


def pipeline_part(module: str) -> str:
    """Return the subpackage of a module of pipeline; of a module without one its name or "shared"."""
    first = module.removeprefix("clearlane.pipeline").strip(".").split(".")[0]
    return (
        first if (SOURCE / "pipeline" / first).is_dir() or first in APART_IN_PIPELINE else "shared"
    )


def test_parts_of_the_pipeline_import_each_other_only_for_a_reason():
    found = {
        (pipeline_part(module), pipeline_part(other)): f"{file.relative_to(SOURCE)}:{line}"
        for module, file in MODULES.items()
        if module.startswith("clearlane.pipeline")
        for line, other in imports_of(file)
        if other.startswith("clearlane.pipeline.") and pipeline_part(other) != pipeline_part(module)
    }
    assert not {pair: place for pair, place in found.items() if pair not in PIPELINE_IMPORTS}
    assert not {pair for pair in PIPELINE_IMPORTS if pair not in found}, "rows nobody needs"


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
