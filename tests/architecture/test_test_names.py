"""A module's test is found by its name: `test_<module>.py`, or a test file that names the module in its docstring."""

import ast
import re
from pathlib import Path

from tests.architecture.source import ROOT, SOURCE, tree_of

MODULES = [
    file.relative_to(SOURCE).with_suffix("").as_posix()
    for file in sorted(SOURCE.rglob("*.py"))
    if file.name != "__init__.py" and "migrations" not in file.parts
]
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
NAMED = re.compile(r"`([\w/]+)`")


def named_in_docstring(test: Path) -> set[str]:
    """Return the modules that the last paragraph of a test file's docstring names."""
    paragraph = (ast.get_docstring(tree_of(test)) or "").split("\n\n")[-1]
    return set(NAMED.findall(paragraph)) if paragraph.startswith("Also tests ") else set()


def test_every_module_has_a_test_that_its_name_finds() -> None:
    own = {test.stem.removeprefix("test_") for test in TESTS}
    named = set().union(*map(named_in_docstring, TESTS))
    missing = [
        module for module in MODULES if module.rpartition("/")[2] not in own and module not in named
    ]
    assert not missing, "name these in the docstring of their test (`Also tests ...`)"


def test_docstrings_name_modules_that_exist() -> None:
    known = set(MODULES)
    gone = {str(test.relative_to(ROOT)): named_in_docstring(test) - known for test in TESTS}
    assert not {test: names for test, names in gone.items() if names}
