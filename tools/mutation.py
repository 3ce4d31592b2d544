"""Would a test notice? ``python -m tools.mutation PART [--sample N] [--seed N]``.

Changes one thing in the code of a part (a comparison, a number, an operator, a condition), runs the tests that reach the
changed line, and puts it back. A change that no test notices survives and is shown: it needs an assertion, or changes
nothing that anyone could see. Works on a copy; the checkout stays as it is.
"""

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import coverage

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "clearlane"
KILLED_PERCENT_MIN = 90
TEST_SECONDS_MAX = 300
# Enough to tell; a line that every test reaches would take the whole night.
TESTS_EACH_MAX = 60

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change: its file, its line, what it was and what it is."""

    file: Path
    line: int
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(PACKAGE)}:{self.line}: {self.before}  ->  {self.after}"


def changed(node: ast.AST) -> ast.AST | None:
    """Return another node for this one, or None if it is left as it is."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARED:
            return ast.Compare(node.left, [COMPARED[type(op)]()], node.comparators)
        case ast.BoolOp(op=ast.And()):
            return ast.BoolOp(ast.Or(), node.values)
        case ast.BoolOp(op=ast.Or()):
            return ast.BoolOp(ast.And(), node.values)
        case ast.UnaryOp(op=ast.Not()):
            return node.operand
        case ast.BinOp() if type(node.op) in COMPUTED:
            return ast.BinOp(node.left, COMPUTED[type(node.op)](), node.right)
        case ast.Constant(value=bool() as value):
            return ast.Constant(not value)
        case ast.Constant(value=int() as value):
            return ast.Constant(value + 1)
        case ast.IfExp():
            return ast.IfExp(node.test, node.orelse, node.body)
    return None


def mutants_of(file: Path) -> Iterator[Mutant]:
    """Return every change of the code in functions; tables of data are not code."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    bodies = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    seen = {id(node): node for body in bodies for part in body.body for node in ast.walk(part)}
    for node in seen.values():
        other = changed(node)
        if other is None:
            continue
        before = ast.unparse(node)
        memo = {id(node): ast.copy_location(copy.deepcopy(other), node)}
        mutated = ast.fix_missing_locations(copy.deepcopy(tree, memo))
        yield Mutant(file, node.lineno, before, ast.unparse(other), ast.unparse(mutated))


def tests_by_line(tests: list[str], part: Path) -> coverage.CoverageData:
    """Run the tests once, and return which of them reaches which line."""
    with tempfile.TemporaryDirectory() as place:
        rules = Path(place) / "rules"
        rules.write_text(
            f"[run]\ndynamic_context = test_function\ndata_file = {place}/lines\nsource = {part if part.is_dir() else part.parent}\n"
        )
        command = [
            sys.executable, "-m", "coverage", "run", f"--rcfile={rules}", "-m", "pytest", "-q", "-x",
            "-p", "no:cacheprovider", "-m", "not server and not witness", *tests,
        ]  # fmt: skip
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"The tests fail as they are:\n{done.stdout[-2000:]}")
        found = coverage.CoverageData(f"{place}/lines")
        found.read()
        kept = coverage.CoverageData(no_disk=True)
        kept.update(found)
        return kept


def test_names(data: coverage.CoverageData, mutant: Mutant) -> list[str]:
    """Return the tests that reach the line of a mutant, as pytest takes them."""
    names = set()
    for context in data.contexts_by_lineno(str(mutant.file)).get(mutant.line, ()):
        parts = context.split(".")
        for length in range(len(parts) - 1, 0, -1):
            file = Path(*parts[:length]).with_suffix(".py")
            if (ROOT / file).is_file():
                names.add("::".join([str(file), *parts[length:]]))
                break
    return sorted(names)


def survives(mutant: Mutant, names: list[str], tree: Path) -> bool:
    """Return whether every test that reaches the change passes with it."""
    target = tree / mutant.file.relative_to(PACKAGE.parent)
    original = target.read_bytes()
    target.write_text(mutant.source, encoding="utf-8")
    command = [
        sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:schemathesis",
        "-m", "not server and not witness", *names,
    ]  # fmt: skip
    env = os.environ | {
        "PYTHONPATH": str(tree),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CLEARLANE_TEST_PROFILE": "quick",
    }
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=env, capture_output=True, timeout=TEST_SECONDS_MAX, check=False
        )
    except subprocess.TimeoutExpired:
        return False  # a loop that never ends is noticed
    finally:
        target.write_bytes(original)
    return done.returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(prog="make mutation", description=__doc__)
    parser.add_argument("part", help="a file or folder below src/clearlane")
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", nargs="*", help="files of tests (default: those of the package)")
    given = parser.parse_args()
    part = PACKAGE / given.part
    files = sorted(part.rglob("*.py")) if part.is_dir() else [part]
    tests = given.tests or [f"tests/{given.part.split('/')[0]}"]
    data = tests_by_line(tests, part)
    every = [mutant for file in files for mutant in mutants_of(file)]
    chosen = random.Random(given.seed).sample(every, min(given.sample, len(every)))  # noqa: S311
    print(f"{len(chosen)} of {len(every)} changes of {given.part}, seed {given.seed}")
    alive = []
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(
            PACKAGE, Path(place) / "clearlane", ignore=shutil.ignore_patterns("__pycache__")
        )
        for mutant in chosen:
            names = test_names(data, mutant)
            reached = random.Random(str(mutant)).sample(names, min(TESTS_EACH_MAX, len(names)))  # noqa: S311
            if not reached or survives(mutant, reached, Path(place)):
                alive.append(mutant)
                print(f"survived{'' if reached else ' (no test reaches it)'}: {mutant}", flush=True)
    killed = 100 * (len(chosen) - len(alive)) / max(len(chosen), 1)
    print(f"{killed:.1f} % of {len(chosen)} changes were noticed (at least {KILLED_PERCENT_MIN} %)")
    sys.exit(killed < KILLED_PERCENT_MIN)


if __name__ == "__main__":
    main()
