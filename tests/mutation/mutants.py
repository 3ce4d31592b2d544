"""The small changes of a module that a test should notice, one at a time."""

import ast
import copy
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

Function = ast.FunctionDef | ast.AsyncFunctionDef

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.Mult,
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one place inside one function."""

    file: Path
    function: str
    """The qualified name of the outermost function around the place."""
    first_line: int
    """Where that function begins."""
    line: int
    place: int
    """The place's number in the order of the walk, and which of its changes this is."""
    change: int
    before: str
    after: str
    which: int = 1
    """Its number among the changes of the function that read the same."""

    def __str__(self) -> str:
        again = f" ({self.which})" if self.which > 1 else ""
        return f"{self.file}:{self.line} {self.function}: `{self.before}` -> `{self.after}`{again}"


def mutants_of(file: Path, root: Path) -> Iterator[Mutant]:
    """Return every mutant of a module."""
    tree = ast.parse((root / file).read_text(encoding="utf-8"))
    alike: Counter[tuple[str, str, str]] = Counter()
    for name, function in _outermost(tree):
        first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
        for place, node in enumerate(_places(function)):
            for change, changed in enumerate(_changes(node)):
                before, after = _text(node), _text(changed)
                alike[name, before, after] += 1
                line = getattr(node, "lineno", function.lineno)
                which = alike[name, before, after]
                yield Mutant(file, name, first, line, place, change, before, after, which)


def compile_mutant(mutant: Mutant, root: Path) -> CodeType:
    """Return the code of the mutant's function with the change."""
    path = root / mutant.file
    tree = ast.parse(path.read_text(encoding="utf-8"))
    (function,) = (
        function
        for name, function in _outermost(tree)
        if name == mutant.function
        and mutant.first_line in {function.lineno, *(d.lineno for d in function.decorator_list)}
    )
    node = [*_places(function)][mutant.place]
    changed = [*_changes(node)][mutant.change]
    ast.copy_location(changed, node)
    _Replacement(node, changed).visit(function)
    ast.fix_missing_locations(tree)
    return find_code(compile(tree, str(path), "exec"), mutant.function, mutant.first_line)


def find_code(code: CodeType, name: str, first_line: int) -> CodeType:
    """Return the code of a function in that of its module."""
    for each in codes_in(code):
        if (each.co_qualname, each.co_firstlineno) == (name, first_line):
            return each
    raise LookupError(f"no function {name} at line {first_line}")


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Return every code inside another."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from codes_in(constant)


def sample(found: Iterable[Mutant], count: int, seed: int) -> list[Mutant]:
    """Return mutants drawn with a seed, in the order in which they were drawn."""
    every = [*found]
    return random.Random(seed).sample(every, min(count, len(every)))


def _outermost(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Return the functions of a module and its classes, not those inside functions."""
    left: list[tuple[str, ast.stmt]] = [("", node) for node in tree.body]
    while left:
        name, node = left.pop(0)
        if isinstance(node, Function):
            yield f"{name}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            left[:0] = [(f"{name}{node.name}.", each) for each in node.body]
        elif isinstance(node, ast.If):
            left[:0] = [(name, each) for each in (*node.body, *node.orelse)]


def _places(function: Function) -> Iterator[ast.AST]:
    """Return the nodes of a function's body: no docstrings, no annotations, no decorators, no messages of errors."""
    left: list[ast.AST] = [*function.body]
    while left:
        node = left.pop(0)
        if isinstance(node, ast.Assert | ast.Raise) or _is_text_alone(node):
            continue
        yield node
        skipped = {id(getattr(node, name, None)) for name in ("annotation", "returns", "args")}
        if isinstance(node, ast.Call):  # whose "args" are no parameters
            skipped = set()
        if isinstance(node, Function):
            skipped |= {id(each) for each in node.decorator_list}
        left[:0] = [each for each in ast.iter_child_nodes(node) if id(each) not in skipped]


def _is_text_alone(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """Return what the node is changed to, one after the other."""
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in COMPARISONS:
            yield _with(node, ops=[COMPARISONS[type(operator)]()])
        case ast.BoolOp(op=ast.And()):
            yield _with(node, op=ast.Or())
        case ast.BoolOp(op=ast.Or()):
            yield _with(node, op=ast.And())
        case ast.BinOp(op=operator) if type(operator) in ARITHMETIC:
            yield _with(node, op=ARITHMETIC[type(operator)]())
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.If() | ast.While() | ast.IfExp():
            yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(value=str(value)) if " " not in value:  # words for people are no behavior
            yield ast.Constant(f"{value}~")
        case ast.Continue():
            yield ast.Break()
        case ast.Break():
            yield ast.Continue()
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            yield ast.Pass()
        case _:
            pass


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _text(node: ast.AST) -> str:
    first = ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).splitlines()[0]
    return first if len(first) <= 90 else first[:87] + "..."


class _Replacement(ast.NodeTransformer):
    def __init__(self, node: ast.AST, changed: ast.AST) -> None:
        self._node, self._changed = node, changed

    def visit(self, node: ast.AST) -> ast.AST:
        return self._changed if node is self._node else self.generic_visit(node)
