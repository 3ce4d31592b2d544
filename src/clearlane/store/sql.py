"""SQL statements: written once with SQLAlchemy Core, compiled once per dialect, run by the raw driver.

Knows which tables hold client rows, and rejects a statement that does not constrain their owner
when it is made. Knows no connection.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Table, bindparam
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql import ARRAY, Insert, insert
from sqlalchemy.dialects.postgresql import asyncpg as postgresql
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import dml, operators, selectable
from sqlalchemy.sql.elements import BinaryExpression, BooleanClauseList, ClauseElement, TextClause
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import BigInteger

from clearlane.kernel.ids import Scope

VENDOR, SITE = "vendor_id", "site_id"
OWNER_COLUMNS = (VENDOR, SITE)

# Filled by schema.client_table. It is here because statements are checked against it.
CLIENT_TABLES: dict[str, Table] = {}


class UnscopedStatement(Exception):
    """A statement on client rows that does not constrain their owner. The text names the table."""


class WrongScope(Exception):
    """A statement run in a scope that it is not made for."""


@dataclass(frozen=True, slots=True)
class SystemScope:
    """The scope of installation-level work: no vendor, no site. The reason is for the reader."""

    reason: str


def in_scope(table: Table | selectable.FromClause) -> ColumnElement[bool]:
    """Return the condition that limits a statement to the rows of the scope it runs in."""
    return (table.c[VENDOR] == bindparam(VENDOR)) & (table.c[SITE] == bindparam(SITE))


def insert_into(table: Table, *names: str) -> Insert:
    """Return an INSERT that binds these columns, and the owner columns of a client table.

    It takes ``on_conflict_do_nothing``, ``on_conflict_do_update`` and ``returning``, which read the
    same on both databases.
    """
    owners = OWNER_COLUMNS if table.name in CLIENT_TABLES else ()
    return insert(table).values({name: bindparam(name) for name in (*owners, *names)})


class among(FunctionElement[bool]):  # noqa: N801  (reads as a function: where(among(t.c.id, "ids")))
    """``column IN (...)`` for a list of any length, given as one value under ``name``."""

    name = "among"
    inherit_cache = True

    def __init__(self, column: ColumnElement[Any], name: str) -> None:
        super().__init__(column, bindparam(name, type_=ARRAY(column.type)))


class database_now(FunctionElement[int]):  # noqa: N801
    """The database's own time in microseconds, so that the clocks of several machines do not matter."""

    name = "database_now"
    type = BigInteger()
    inherit_cache = True


@compiles(among, "sqlite")
def _among_on_sqlite(element: among, compiler: Any, **kw: Any) -> str:
    column, values = (compiler.process(clause, **kw) for clause in element.clauses)
    return f"({column} IN (SELECT value FROM json_each({values})))"


@compiles(among)
def _among_on_postgresql(element: among, compiler: Any, **kw: Any) -> str:
    column, values = (compiler.process(clause, **kw) for clause in element.clauses)
    return f"({column} = ANY ({values}))"


@compiles(database_now, "sqlite")
def _now_on_sqlite(element: database_now, compiler: Any, **kw: Any) -> str:
    return "CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000"


@compiles(database_now)
def _now_on_postgresql(element: database_now, compiler: Any, **kw: Any) -> str:
    return "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"


@dataclass(frozen=True, slots=True)
class Compiled:
    """A statement as one driver takes it."""

    text: str
    parameter_order: tuple[str, ...]
    constants: Mapping[str, object]
    """Values that are part of the statement itself."""
    parameters: frozenset[str]
    """Names the caller gives a value for."""
    encode: Mapping[str, Callable[[Any], object]]
    multi_row_texts: Mapping[int, str]
    """The text that inserts so many rows at once, by that number, largest first."""

    def arguments(self, values: Mapping[str, object]) -> list[object]:
        """Return the values in the driver's order; a missing or unknown name is a mistake of the caller."""
        if values.keys() != self.parameters:
            missing = ", ".join(sorted(self.parameters - values.keys())) or "none"
            unknown = ", ".join(sorted(values.keys() - self.parameters)) or "none"
            raise TypeError(
                f"values missing: {missing}; values the statement does not take: {unknown}"
            )
        if self.constants or self.encode:
            encoded = {name: to(values[name]) for name, to in self.encode.items()}
            values = {**self.constants, **values, **encoded}
        return [values[name] for name in self.parameter_order]


class Statement:
    """A Core statement, checked when it is made and compiled once for each dialect.

    A statement on client tables must constrain (or fill, when it inserts) ``vendor_id`` and
    ``site_id`` of each with the binds of these names; the transaction fills them from its scope.
    ``system=True`` is the exception for workers that sweep over all clients. It runs in a
    :class:`SystemScope` only.
    """

    __slots__ = ("_compiled", "client", "core", "returns_rows", "system")

    def __init__(self, core: ClauseElement, *, system: bool = False) -> None:
        faults = sorted(set(_scope_faults(core)))
        if faults and not system:
            raise UnscopedStatement("; ".join(faults))
        self.core = core
        self.system = system
        self.client = not system and any(_client_tables(core))
        self.returns_rows = not isinstance(core, dml.UpdateBase) or bool(core._returning)  # noqa: SLF001
        self._compiled: dict[str, Compiled] = {}

    def compiled_for(self, dialect: str) -> Compiled:
        """Return the statement for this dialect, compiled at its first use."""
        found = self._compiled.get(dialect)
        if found is None:
            found = self._compiled[dialect] = _compile(self.core, dialect)
        return found

    def with_owner(
        self, scope: Scope | SystemScope, values: Mapping[str, object]
    ) -> Mapping[str, object]:
        """Return the caller's values with the owner filled in from the scope."""
        if self.system and isinstance(scope, Scope):
            raise WrongScope("a statement over all clients runs in a SystemScope only")
        if not self.client:
            return values
        if isinstance(scope, SystemScope):
            raise WrongScope("a statement on client rows needs the Scope of one vendor and site")
        if VENDOR in values or SITE in values:
            raise WrongScope("vendor_id and site_id come from the scope, never from the caller")
        return {**values, VENDOR: scope.vendor, SITE: scope.site}

    def __repr__(self) -> str:
        return f"Statement({' '.join(self.compiled_for('sqlite').text.split())[:120]})"


# Rows inserted by one call of the driver: every call releases the interpreter lock and waits to get it back.
BLOCK_ROWS = (64, 32, 16, 8, 4, 2)
_ROW = re.compile(r" VALUES (\([?, ]+\))")

_DIALECTS: dict[str, Dialect] = {
    "sqlite": sqlite.dialect(paramstyle="qmark"),
    "postgresql": postgresql.dialect(),  # type: ignore[no-untyped-call]
}


def _compile(core: ClauseElement, dialect: str) -> Compiled:
    if isinstance(core, dml.Insert) and not core._returning:  # noqa: SLF001
        core = core.inline()  # or SQLAlchemy adds a RETURNING nobody asked for
    compiled: Any = core.compile(dialect=_DIALECTS[dialect])
    binds = {compiled.bind_names[bind]: bind for bind in compiled.bind_names}
    if any(bind.expanding and bind.required for bind in binds.values()):
        raise TypeError("a list given by the caller is written among(column, name), not in_()")
    parameters = frozenset(name for name, bind in binds.items() if bind.required)
    # A list that is part of the statement is expanded here; the caller's values are not needed for that.
    spelled = compiled.construct_expanded_state(dict.fromkeys(parameters), escape_names=False)
    order = tuple(spelled.positiontup or ())
    known = {**compiled.construct_params(_check=False), **spelled.additional_parameters}
    given = {name: known[name] for name in order if name not in parameters}
    lists = [name for name in parameters if isinstance(binds[name].type, ARRAY)]
    encode = dict.fromkeys(lists, _json_list) if dialect == "sqlite" else {}
    text = spelled.statement
    blocks = {**_multi_row_texts(text, len(order)), 1: text}
    return Compiled(text, order, given, parameters, encode, blocks)


def _multi_row_texts(text: str, values: int) -> dict[int, str]:
    """Return an INSERT of one row, written for several rows."""
    found = _ROW.search(text)
    if found is None or found[1].count("?") != values:
        return {}
    head, row, tail = text[: found.start(1)], found[1], text[found.end(1) :]
    return {rows: head + ", ".join([row] * rows) + tail for rows in BLOCK_ROWS}


def _json_list(values: Iterable[object]) -> str:
    return json.dumps(list(values))


# ---- whose rows does a statement touch? -------------------------------------------------------


def _client_tables(core: ClauseElement) -> Iterator[str]:
    for element in _walk_elements(core):
        # A column names its table; an UPDATE or DELETE is seen by the element itself.
        for table in (element, getattr(element, "table", None)):
            if table is not None and _is_client(table):
                yield _table_of(table).name


def _walk_elements(element: ClauseElement) -> Iterator[Any]:
    stack: list[Any] = [element]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(_children(current))


def _children(element: Any) -> Iterator[Any]:
    """Yield the parts of an element, with those of an upsert that SQLAlchemy does not count as such."""
    yield from element.get_children()
    conflict: Any = getattr(element, "_post_values_clause", None)
    if hasattr(conflict, "update_values_to_set"):
        parts = [*dict(conflict.update_values_to_set).values(), conflict.update_whereclause]
        yield from (part for part in parts if isinstance(part, ClauseElement))


def _scope_faults(core: ClauseElement) -> Iterator[str]:
    for element in _walk_elements(core):
        literal = getattr(element, "is_literal", False) and element.name != "*"
        if isinstance(element, TextClause) or literal:
            yield "raw SQL text cannot be checked for its owner; write it with Core"
    if any(_client_tables(core)):  # the walk is slow, and most statements touch no client table
        yield from _unscoped_tables(core, enclosing=())


def _unscoped_tables(element: Any, enclosing: tuple[Any, ...]) -> Iterator[str]:
    """Check every part of a statement that reads or writes rows of its own."""
    if isinstance(element, selectable.Select):
        sources = element.get_final_froms()
        froms = list(_leaves(sources))
        conditions = _select_conditions(element, sources)
        yield from _missing_owner_conditions(_own_tables(element, froms, enclosing), conditions)
        enclosing = (*enclosing, *froms)
    elif isinstance(element, (dml.Update, dml.Delete)):
        yield from _check_update_or_delete(element)
        enclosing = (*enclosing, element.table)
    elif isinstance(element, dml.Insert):
        yield from _check_insert(element)
    elif isinstance(element, selectable.AliasedReturnsRows):
        enclosing = ()  # a subquery in FROM sees nothing of the statement around it
    for child in _children(element):
        yield from _unscoped_tables(child, enclosing)


def _own_tables(select: Any, froms: list[Any], enclosing: tuple[Any, ...]) -> list[Any]:
    """Return the tables a SELECT reads itself, without those it only correlates to."""

    def correlated(leaf: Any) -> bool:
        allowed = select._auto_correlate or leaf in (select._correlate or ())  # noqa: SLF001
        return allowed and any(leaf is outer for outer in enclosing)

    return [leaf for leaf in froms if not correlated(leaf)]


def _check_update_or_delete(statement: Any) -> Iterator[str]:
    touched = [statement.table]
    conditions = list(_conjunction(statement._where_criteria))  # noqa: SLF001
    for criterion in statement._where_criteria:  # noqa: SLF001
        touched += [leaf for leaf in _leaves(criterion._from_objects) if leaf not in touched]  # noqa: SLF001
    yield from _missing_owner_conditions(touched, [(None, condition) for condition in conditions])
    if isinstance(statement, dml.Update) and _is_client(statement.table):
        values = statement._values  # noqa: SLF001
        if not values or statement._multi_values:  # noqa: SLF001
            yield f"{_table_of(statement.table).name}: an UPDATE names the columns it sets"
        elif {_key(column) for column in values} & set(OWNER_COLUMNS):
            yield f"{_table_of(statement.table).name}: rows do not change their owner"


def _check_insert(statement: Any) -> Iterator[str]:
    if not _is_client(statement.table):
        return
    name = statement.table.name
    filled: dict[str, Any] = {_key(c): v for c, v in (statement._values or {}).items()}  # noqa: SLF001
    if statement.select is not None:
        columns = statement.select.exported_columns.values()
        filled = dict(zip(map(_key, statement._select_names), columns, strict=False))  # noqa: SLF001
    for owner in OWNER_COLUMNS:
        value = filled.get(owner)
        if not isinstance(value, BindParameter) or value.key != owner:
            yield f"{name}: an INSERT fills {owner} with bindparam('{owner}')"
    conflict = statement._post_values_clause  # noqa: SLF001
    if conflict is not None and hasattr(conflict, "update_values_to_set"):
        target = {_key(column) for column in conflict.inferred_target_elements or ()}
        if not target >= set(OWNER_COLUMNS):
            yield f"{name}: the conflict target of an upsert holds vendor_id and site_id"
        if {_key(column) for column in dict(conflict.update_values_to_set)} & set(OWNER_COLUMNS):
            yield f"{name}: rows do not change their owner"


def _missing_owner_conditions(
    leaves: list[Any], conditions: list[tuple[Any, Any]]
) -> Iterator[str]:
    """Name each client table whose owner columns no condition binds.

    A condition comes with the tables it can narrow; None stands for all of them.
    """
    for leaf in filter(_is_client, leaves):
        bound = {
            owner
            for reach, condition in conditions
            if reach is None or any(leaf is each for each in reach)
            if (owner := _bound_owner_column(condition, leaf))
        }
        for owner in OWNER_COLUMNS:
            if owner not in bound:
                yield f"{_table_of(leaf).name}: {owner} is not constrained with bindparam('{owner}')"


def _bound_owner_column(condition: Any, leaf: Any) -> str | None:
    if not isinstance(condition, BinaryExpression) or condition.operator is not operators.eq:
        return None
    for column, bind in (
        (condition.left, condition.right),
        (condition.right, condition.left),
    ):
        named = getattr(column, "key", None)
        if getattr(column, "table", None) is leaf and named in OWNER_COLUMNS:
            return named if isinstance(bind, BindParameter) and bind.key == named else None
    return None


def _select_conditions(select: Any, sources: Iterable[Any]) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = [(None, c) for c in _conjunction(select._where_criteria)]  # noqa: SLF001
    for source in sources:
        found += _join_conditions(source)
    return found


def _join_conditions(source: Any) -> Iterator[tuple[Any, Any]]:
    """ON narrows both sides of an inner join, only the right side of a left join, none of a full one."""
    if not isinstance(source, selectable.Join):
        return
    if not source.full:
        sides = [source.right] if source.isouter else [source.left, source.right]
        reach = list(_leaves(sides))
        for condition in _conjunction([source.onclause]):
            yield reach, condition
    yield from _join_conditions(source.left)
    yield from _join_conditions(source.right)


def _conjunction(criteria: Iterable[Any]) -> Iterator[Any]:
    for criterion in criteria:
        if isinstance(criterion, BooleanClauseList) and criterion.operator is operators.and_:
            yield from _conjunction(criterion.clauses)
        elif hasattr(criterion, "element") and criterion.__class__.__name__ == "Grouping":
            yield from _conjunction([criterion.element])
        elif criterion is not None:
            yield criterion


def _leaves(sources: Iterable[Any]) -> Iterator[Any]:
    for source in sources:
        if isinstance(source, selectable.Join):
            yield from _leaves([source.left, source.right])
        else:
            yield source


def _table_of(leaf: Any) -> Any:
    while isinstance(leaf, selectable.AliasedReturnsRows) and not isinstance(
        leaf, (selectable.Subquery, selectable.CTE)
    ):
        leaf = leaf.element
    return leaf


def _is_client(leaf: Any) -> bool:
    table = _table_of(leaf)
    return isinstance(table, selectable.TableClause) and table.name in CLIENT_TABLES


def _key(column: Any) -> str:
    return column if isinstance(column, str) else str(column.key)
