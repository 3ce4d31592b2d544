"""Every safe default is held by a test that names it."""

import ast

from tests.architecture.source import ROOT, tree_of
from tests.safe_defaults import POINTS


def test_every_safe_default_has_a_test() -> None:
    marked: set[int] = set()
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "safe_default":
                marked |= {one.value for one in node.args if isinstance(one, ast.Constant)}
    assert marked == POINTS.keys()
