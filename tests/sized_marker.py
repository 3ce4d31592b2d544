"""Find the tests that `make quick` and `make cov` try on less than `make test` does, by reading what they and their fixtures name.

CI runs `make cov` and `make test` at the same time. A test that both run in the same size has to run once: `make test
BESIDE="check cov"` runs what `make cov` leaves out, and what it tries on less. The search goes by names at the top of modules and errs on
the side of `sized`: a test that only mentions such a name counts, and so does each of a class.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# What makes the size of a test depend on the profile: the names of tests/cases.py and tests/corpus.py that look at it, and
# Hypothesis, whose examples it counts.
SIZES = frozenset(
    {"by_profile", "corpus_files", "fewer_in_quick", "full_or_quick", "hypothesis", "IS_QUICK", "IS_THOROUGH", "PROFILE"}
)  # fmt: skip
# They define these names, or set Hypothesis up.
DEFINED = frozenset(
    {"tests/cases.py", "tests/conftest.py", "tests/corpus.py", "tests/sized_marker.py"}
)
WHOLE_MODULE = "pytestmark"
IMPORTED = re.compile(
    r"^[ \t]*(?:from|import) (tests[\w.]*)(?: import (\([^)]*\)|[^\n]*))?", re.MULTILINE
)


def is_sized(item: pytest.Item) -> bool:
    """Return whether what a test tries may depend on the profile."""
    names = _sized_names(item.path)
    own = {getattr(item, "originalname", ""), getattr(getattr(item, "cls", None), "__name__", "")}
    if names & {*own, WHOLE_MODULE}:
        return True
    info = getattr(item, "_fixtureinfo", None)
    fixtures = info.name2fixturedefs.values() if info else ()
    return any(_is_sized_fixture(each) for definitions in fixtures for each in definitions)


def _is_sized_fixture(definition: pytest.FixtureDef[object]) -> bool:
    code = getattr(definition.func, "__code__", None)
    if code is None or not Path(code.co_filename).is_relative_to(ROOT / "tests"):
        return False
    return code.co_name in _sized_names(Path(code.co_filename))


@cache
def _sized_names(module: Path) -> frozenset[str]:
    """Return the names of a module that the profile may change: constants, functions, classes, and what it imports of them."""
    if module.relative_to(ROOT).as_posix() in DEFINED or not _may_be_sized(module):
        return SIZES
    tree = ast.parse(module.read_text(encoding="utf-8"))
    sized = set(SIZES)
    modules: dict[str, Path] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            package = node.module.split(".")
            if package[0] == "hypothesis":
                sized |= {each.asname or each.name for each in node.names}
            elif package[0] == "tests":
                _add_imported(node, ROOT.joinpath(*package), sized, modules)
    stated = [(_bound(each), _mentioned(each, modules)) for each in tree.body]
    while (
        found := {
            name for bound, mentioned in stated if not mentioned.isdisjoint(sized) for name in bound
        }
        - sized
    ):
        sized |= found
    return frozenset(sized)


@cache
def _may_be_sized(module: Path) -> bool:
    """Return whether a module, or one of `tests` that it imports, has such a name in its text, which is faster to tell."""
    waiting, seen = [module], set()
    while waiting:
        one = waiting.pop()
        if one in seen or one.relative_to(ROOT).as_posix() in DEFINED:
            continue
        seen.add(one)
        found, imported = _text_facts(one)
        if found:
            return True
        waiting += imported
    return False


@cache
def _text_facts(module: Path) -> tuple[bool, tuple[Path, ...]]:
    """Return whether a module's text has such a name, and the files that may be meant by its imports."""
    text = module.read_text(encoding="utf-8")
    meant = set()
    for package, names in IMPORTED.findall(text):
        folder = ROOT.joinpath(*package.split("."))
        meant |= {folder.with_suffix(".py")}
        meant |= {folder / f"{name}.py" for name in re.findall(r"\w+", names)}
    return any(name in text for name in SIZES), tuple(each for each in meant if each.is_file())


def _add_imported(
    node: ast.ImportFrom, folder: Path, sized: set[str], modules: dict[str, Path]
) -> None:
    """Add what an import brings: sized names, and modules whose names are looked up where they are mentioned."""
    file = folder.with_suffix(".py")
    names = _sized_names(file) if file.is_file() else frozenset()
    for each in node.names:
        bound = each.asname or each.name
        if (folder / f"{each.name}.py").is_file():
            modules[bound] = folder / f"{each.name}.py"
        elif each.name in names:
            sized.add(bound)


def _bound(statement: ast.stmt) -> set[str]:
    """Return the names that a statement at the top of a module gives a value."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _mentioned(statement: ast.stmt, modules: dict[str, Path]) -> set[str]:
    """Return the names in a statement: variables, parameters, which may be fixtures, and texts, which may be names of these."""
    found: set[str] = set()
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return found
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = modules.get(node.value.id)
            if module and node.attr in _sized_names(module) - SIZES:
                found |= SIZES
    return found
