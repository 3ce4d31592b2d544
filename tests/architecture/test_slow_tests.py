"""The list of slow tests names tests that there are, so that one which is renamed is measured again."""

import ast

from tests.architecture.source import ROOT, nodes_of
from tests.slow_tests import ALWAYS_QUICK, LIST, name_of


def test_the_list_names_tests_that_exist():
    names = LIST.read_text(encoding="utf-8").splitlines()
    assert names == sorted(set(names))
    assert not [name for name in names if name.startswith(ALWAYS_QUICK)]
    files = {name.partition("::")[0] for name in names}
    there = {
        f"{file}::{node.name}"
        for file in files
        if (ROOT / file).is_file()
        for node in nodes_of(ROOT / file)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert sorted(set(names) - there) == [], "tests/slow_tests.py says how to write the list again"


def test_the_parameters_of_a_test_are_no_part_of_its_name():
    assert name_of("tests/x/test_a.py::test_b[sqlite-[1]]") == "tests/x/test_a.py::test_b"
    assert name_of("tests/x/test_a.py::test_b") == "tests/x/test_a.py::test_b"
