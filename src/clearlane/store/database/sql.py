"""SQL statements: written once with SQLAlchemy Core, compiled once per dialect, run by the raw driver.

Knows which tables hold client rows, and rejects a statement that does not constrain their owner
before it first runs. Knows no connection.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, Protocol, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Select,
    Table,
    bindparam,
    delete,
    literal,
    select,
    update,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql import ARRAY, Insert, insert
from sqlalchemy.dialects.postgresql import asyncpg as postgresql
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import dml, selectable, visitors
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ClauseElement, TextClause
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import BigInteger

from clearlane.kernel.ids import Scope, VendorScope

VENDOR, SITE = "vendor_id", "site_id"
OWNER_COLUMNS = (VENDOR, SITE)
SITES = "site_ids"
"""The name under which a vendor-wide statement is given its sites."""

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


AnyColumn: TypeAlias = ColumnElement[Any]  # Any: `table.c[name]` has no type
AnySelect: TypeAlias = Select[Any]  # Any: nor has a query of such columns
Row: TypeAlias = tuple[Any, ...]  # Any: the columns of a statement
Build: TypeAlias = Callable[[], ClauseElement]
AnyScope: TypeAlias = Scope | VendorScope | SystemScope
"""What a transaction may touch: one site, the sites of one vendor together, or everything."""


def in_scope(
    table: Table | selectable.FromClause, *, finds_rows: bool = True, site_finds: bool = True
) -> ColumnElement[bool]:
    """Return the condition that limits a statement to the rows of the scope it runs in.

    A table of vendors, which has no site column, is limited to the vendor. If ``finds_rows`` is False, the condition
    only checks rows that other conditions find. If ``site_finds`` is False, only its part with the site does so.
    """
    owner = _owner_columns(table, finds_rows=finds_rows)
    own = owner[VENDOR] == bindparam(VENDOR)
    if SITE not in owner:
        return own
    site = owner[SITE] if site_finds else without_index(owner[SITE])
    return own & (site == bindparam(SITE))


def in_vendor_scope(
    table: Table | selectable.FromClause, *, finds_rows: bool = True
) -> ColumnElement[bool]:
    """Return the condition that limits a statement to the rows of a vendor-wide scope."""
    owner = _owner_columns(table, finds_rows=finds_rows)
    own = owner[VENDOR] == bindparam(VENDOR)
    return own & among(owner[SITE], SITES) if SITE in owner else own


def _owner_columns(
    table: Table | selectable.FromClause, *, finds_rows: bool
) -> dict[str, AnyColumn]:
    found = {name: table.c[name] for name in OWNER_COLUMNS if name in table.c}
    return {name: one if finds_rows else without_index(one) for name, one in found.items()}


def owner_columns_of(table: Table) -> tuple[str, ...]:
    """Return the columns of a client table that name the owner of a row."""
    return tuple(name for name in OWNER_COLUMNS if name in table.c)


def insert_into(table: Table, *names: str) -> Insert:
    """Return an INSERT that binds these columns, for tables of the installation and for system statements.

    It takes ``on_conflict_do_nothing``, ``on_conflict_do_update`` and ``returning``, which read the
    same on both databases.
    """
    owners = owner_columns_of(table) if table.name in CLIENT_TABLES else ()
    return insert(table).values({name: bindparam(name) for name in (*owners, *names)})


def inlined(value: object) -> AnyColumn:
    """Return a value that is part of the SQL text: a partial index serves no statement with a placeholder."""
    return literal(value, literal_execute=True)


def select_as(table: Table, row_type: type[Row], *more: AnyColumn) -> AnySelect:
    """Return a SELECT of the columns that a row type names, in its order. ``more`` are for its last fields."""
    names: Sequence[str] = row_type._fields  # type: ignore[attr-defined]  # a row type is a NamedTuple
    return select(*(table.c[name] for name in names[: len(names) - len(more)]), *more)


class among(FunctionElement[bool]):  # noqa: N801  (reads as a function: where(among(t.c.id, "ids")))
    """``column IN (...)`` for a list of any length, given as one value under ``name``."""

    name = "among"
    inherit_cache = True

    def __init__(self, column: AnyColumn, name: str) -> None:
        super().__init__(column, bindparam(name, type_=ARRAY(column.type)))
        self.column = column


class without_index(FunctionElement[object]):  # noqa: N801
    """A column that SQLite looks up in no index, so that it takes the index of another condition."""

    name = "without_index"
    inherit_cache = True

    def __init__(self, column: AnyColumn) -> None:
        super().__init__(column)
        self.type = column.type


class database_now(FunctionElement[int]):  # noqa: N801
    """The database's own time in microseconds, so that the clocks of several machines do not matter."""

    name = "database_now"
    type = BigInteger()
    inherit_cache = True


@compiles(among, "sqlite")
def _among_on_sqlite(element: among, compiler: SQLCompiler, **kw: object) -> str:
    column, values = (compiler.process(clause, **kw) for clause in element.clauses)
    return f"({column} IN (SELECT value FROM json_each({values})))"


@compiles(among)
def _among_on_postgresql(element: among, compiler: SQLCompiler, **kw: object) -> str:
    column, values = (compiler.process(clause, **kw) for clause in element.clauses)
    return f"({column} = ANY ({values}))"


@compiles(without_index, "sqlite")
def _without_index_on_sqlite(element: without_index, compiler: SQLCompiler, **kw: object) -> str:
    return f"+{compiler.process(element.clauses, **kw)}"


@compiles(without_index)
def _without_index_on_postgresql(
    element: without_index, compiler: SQLCompiler, **kw: object
) -> str:
    return str(compiler.process(element.clauses, **kw))


@compiles(database_now, "sqlite")
def _now_on_sqlite(element: database_now, compiler: SQLCompiler, **kw: object) -> str:
    return "CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000"


@compiles(database_now)
def _now_on_postgresql(element: database_now, compiler: SQLCompiler, **kw: object) -> str:
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
    encode: Mapping[str, Callable[[Any], object]]  # Any: a list, among other values
    multi_row_texts: Mapping[int, str]
    """The texts that insert several rows at once, by the number of rows, largest first."""
    take: Callable[[Mapping[str, object]], tuple[object, ...]]
    """Returns the values of ``parameter_order``."""

    def arguments(self, values: Mapping[str, object]) -> tuple[object, ...]:
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
        return self.take(values)


class Statement:
    """A Core statement on tables of the installation, compiled once for each dialect.

    Statements on client tables are made by ``scoped_select``, ``scoped_update``, ``scoped_delete``,
    ``scoped_insert`` and ``scoped_upsert``, which add the owner themselves; a plain statement that touches
    a client table is refused. ``system=True`` is the exception for workers that sweep over all clients;
    such a statement runs in a :class:`SystemScope` only.

    What a statement touches is checked when it is first used: there are a thousand, and a command uses twenty. A test
    uses them all.
    """

    __slots__ = (
        "_build",
        "_compiled",
        "_core",
        "_make_wide",
        "_returns_rows",
        "_wide",
        "client",
        "owners",
        "system",
    )

    def __init__(self, core: ClauseElement | Build, *, system: bool = False) -> None:
        self.system = system
        self.client = False
        self.owners: frozenset[str] = frozenset()
        """Owner columns that are filled in from the scope."""
        self._build: Build = partial(_check, core, system=system)
        self._core: ClauseElement | None = None
        self._returns_rows = False
        self._make_wide: Callable[[], Statement] | None = None
        self._wide: Statement | None = None
        self._compiled: dict[str, Compiled] = {}

    @property
    def core(self) -> ClauseElement:
        """What it is in SQLAlchemy, checked and with its owner; raise UnscopedStatement if its rows have no owner."""
        if self._core is None:
            core = self._build()
            self._returns_rows = not isinstance(core, dml.UpdateBase) or bool(core.exported_columns)
            self._core = core
        return self._core

    @property
    def returns_rows(self) -> bool:
        """Whether there are rows to fetch."""
        _ = self.core
        return self._returns_rows

    @property
    def vendor_wide(self) -> "Statement | None":
        """The same SELECT for a :class:`VendorScope`, made at its first use."""
        _ = self.core  # says how
        if self._wide is None and self._make_wide is not None:
            self._wide = self._make_wide()
        return self._wide

    def compiled_for(self, dialect: str) -> Compiled:
        """Return the statement for this dialect, compiled at its first use."""
        found = self._compiled.get(dialect)
        if found is None:
            found = self._compiled[dialect] = _compile(self.core, dialect)
        return found

    def for_scope(self, scope: AnyScope) -> "Statement":
        """Return the statement as it runs in this scope: a SELECT has a form of its own for a vendor-wide one."""
        if not self.client or not isinstance(scope, VendorScope) or SITE not in self.owners:
            return self
        if self.vendor_wide is None:
            raise WrongScope("a vendor-wide scope reads; a change needs the Scope of one site")
        return self.vendor_wide

    def with_owner(self, scope: AnyScope, values: Mapping[str, object]) -> Mapping[str, object]:
        """Return the caller's values with the owner filled in from the scope."""
        return self.with_owners(scope, (values,))[0]

    def with_owners(
        self, scope: AnyScope, rows: Sequence[Mapping[str, object]]
    ) -> Sequence[Mapping[str, object]]:
        """Return the values of many rows, each with the owner filled in from the scope."""
        if self.system and not isinstance(scope, SystemScope):
            raise WrongScope("a statement over all clients runs in a SystemScope only")
        if not self.client:
            return rows
        owner = self._owner(scope)
        if [1 for values in rows if VENDOR in values or SITE in values or SITES in values]:
            raise WrongScope("vendor_id and site_id come from the scope, never from the caller")
        return [{**values, **owner} for values in rows]

    def _owner(self, scope: AnyScope) -> Mapping[str, object]:
        """Return the owner columns of the scope that a statement on client rows takes."""
        if isinstance(scope, SystemScope):
            raise WrongScope("a statement on client rows needs the Scope of one vendor and site")
        if isinstance(scope, VendorScope):
            if SITE in self.owners:
                raise WrongScope("a vendor-wide scope reads; a change needs the Scope of one site")
            known = {VENDOR: scope.vendor, SITES: scope.sites}
        else:
            known = {VENDOR: scope.vendor, SITE: scope.site}
        return {
            name: value for name, value in known.items() if name == VENDOR or name in self.owners
        }

    def __repr__(self) -> str:
        return f"Statement({' '.join(self.compiled_for('sqlite').text.split())[:120]})"


# Rows inserted by one call of the driver: every call releases the interpreter lock and waits to get it back.
BLOCK_ROWS = (64, 32, 16, 8, 4, 2)
_ROW = re.compile(r" VALUES (\([?, ]+\))")

_DIALECTS: dict[str, Dialect] = {
    "sqlite": sqlite.dialect(paramstyle="qmark"),
    "postgresql": postgresql.dialect(),  # type: ignore[no-untyped-call]  # the library has no types for it
}


def _compile(core: ClauseElement, dialect: str) -> Compiled:
    if isinstance(core, dml.Insert) and not core.exported_columns:
        core = core.inline()  # or SQLAlchemy adds a RETURNING that was not requested
    compiled: Any = core.compile(dialect=_DIALECTS[dialect])  # Any: declared as its base class
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
    return Compiled(text, order, given, parameters, encode, blocks, _taker(order))


def _taker(names: Sequence[str]) -> Callable[[Mapping[str, object]], tuple[object, ...]]:
    """Return a function that takes the values of these names, which may repeat, out of a mapping."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: tuple([values[name] for name in names])


def _multi_row_texts(text: str, values: int) -> dict[int, str]:
    """Return an INSERT of one row, written for several rows."""
    found = _ROW.search(text)
    if found is None or found[1].count("?") != values:
        return {}
    head, row, tail = text[: found.start(1)], found[1], text[found.end(1) :]
    return {rows: head + ", ".join([row] * rows) + tail for rows in BLOCK_ROWS}


def _json_list(values: Iterable[object]) -> str:
    return json.dumps(list(values))


# ---- running statements -----------------------------------------------------------------------------


class StatementTx(Protocol):
    """What runs statements in one transaction. Fills in the owner of client statements from the scope."""

    async def run(self, statement: Statement, /, **values: object) -> int:
        """Execute, and return the number of rows affected."""

    async def many(self, statement: Statement, rows: Sequence[Mapping[str, object]], /) -> None:
        """Execute once for each row of values."""

    async def rows(self, statement: Statement, /, **values: object) -> list[Row]:
        """Execute, and return every row."""

    async def row(self, statement: Statement, /, **values: object) -> Row | None:
        """Execute, and return the first row."""


# ---- statements on client tables: the owner is added here and nowhere else -------------------------


def scoped_select(core: AnySelect, *tables: Table, site_finds: bool = True) -> Statement:
    """Return a SELECT on these client tables, limited to the rows of the scope it runs in.

    Every client table in it must be named in ``tables``. A nested SELECT cannot be limited from here, so
    one on a client table is refused: join instead. ``site_finds`` is False if SQLite is to take an index that
    has the vendor and not the site.
    """
    statement = _client_statement(
        lambda: _limited(statement, core, tables, site_finds=site_finds), *tables
    )
    return statement


def _limited(
    statement: Statement, core: AnySelect, tables: Sequence[Table], *, site_finds: bool
) -> AnySelect:
    """Return a SELECT limited to the scope, and let its statement make the one for a vendor-wide scope."""
    parts = [*visitors.iterate(core)]
    _refuse_raw_sql(parts)
    named = {table.name for table in tables}
    read = {table.name for table in _client_tables_of(parts)}
    if not named or read != named:
        raise UnscopedStatement(f"client tables read: {sorted(read)}; named: {sorted(named)}")
    nested = [part for part in parts if part is not core and _is_query(part)]
    if any(True for part in nested for _ in client_tables_in(part)):
        raise UnscopedStatement("a nested SELECT on a client table has no owner; join it instead")
    if any(isinstance(part, selectable.Alias) for part in parts):
        raise UnscopedStatement("an alias of a client table is not limited; name the table itself")
    # SQLite has no statistics and would read all rows of the owner rather than look up the keys that are given.
    keys = {part.column for part in parts if isinstance(part, among)}
    finds_rows = {table: not _has_index_of(keys, table) for table in tables}
    if SITE in statement.owners:

        def make_wide() -> Statement:
            own = [in_vendor_scope(table, finds_rows=found) for table, found in finds_rows.items()]
            wide = _client_statement(lambda: core.where(*own))
            wide.owners = frozenset({VENDOR, SITES})
            return wide

        statement._make_wide = make_wide  # noqa: SLF001  (same module)
    own = [
        in_scope(table, finds_rows=found, site_finds=site_finds)
        for table, found in finds_rows.items()
    ]
    return core.where(*own)


def _has_index_of(keys: set[AnyColumn], table: Table) -> bool:
    """Return whether the rows of a table are named by a list of keys that has an index of its own."""
    if not keys:
        return False
    leading = {next(iter(index.columns)) for index in table.indexes if index.columns}
    return not keys.isdisjoint({*leading, *list(table.primary_key.columns)[:1]})


def scoped_update(table: Table, *conditions: ColumnElement[bool], **values: object) -> Statement:
    """Return an UPDATE of these columns, limited to the rows of the scope it runs in."""

    def build() -> ClauseElement:
        if not values or values.keys() & set(OWNER_COLUMNS):
            raise UnscopedStatement(f"{table.name}: an UPDATE names its columns, never the owner")
        _require_one_client_table(table, *conditions, *values.values())
        return update(table).where(in_scope(table), *conditions).values(**values)

    return _client_statement(build, table)


def scoped_delete(table: Table, *conditions: ColumnElement[bool]) -> Statement:
    """Return a DELETE, limited to the rows of the scope it runs in."""

    def build() -> ClauseElement:
        _require_one_client_table(table, *conditions)
        return delete(table).where(in_scope(table), *conditions)

    return _client_statement(build, table)


def scoped_insert(table: Table, *names: str, ignore_conflict: bool = False) -> Statement:
    """Return an INSERT that binds these columns and takes the owner from the scope it runs in."""

    def build() -> ClauseElement:
        core = _owned_insert(table, *names)
        return core.on_conflict_do_nothing() if ignore_conflict else core

    return _client_statement(build, table)


def scoped_upsert(
    table: Table, *names: str, key: Sequence[str], replace: Sequence[str]
) -> Statement:
    """Return an INSERT that replaces some columns of an existing row of the same owner and key."""

    def build() -> ClauseElement:
        if set(replace) & set(OWNER_COLUMNS):
            raise UnscopedStatement(f"{table.name}: rows do not change their owner")
        core = _owned_insert(table, *names)
        return core.on_conflict_do_update(
            index_elements=[*owner_columns_of(table), *key],
            set_={name: core.excluded[name] for name in replace},
        )

    return _client_statement(build, table)


def client_tables_in(element: visitors.ExternallyTraversible) -> Iterator[Table]:
    """Yield the client tables that an element mentions: as a table, through a column, or by name."""
    return _client_tables_of(visitors.iterate(element))


def _client_tables_of(parts: Iterable[object]) -> Iterator[Table]:
    for part in parts:
        for table in (part, getattr(part, "table", None)):
            while isinstance(table, selectable.AliasedReturnsRows):
                table = table.element
            if isinstance(table, selectable.TableClause) and table.name in CLIENT_TABLES:
                yield CLIENT_TABLES[table.name]


def _client_statement(build: Build, *tables: Table) -> Statement:
    statement = Statement(build, system=True)
    statement.system, statement.client = False, True
    statement.owners = frozenset(name for table in tables for name in owner_columns_of(table))
    return statement


def _owned_insert(table: Table, *names: str) -> Insert:
    if table.name not in CLIENT_TABLES or set(names) & set(OWNER_COLUMNS):
        raise UnscopedStatement(f"{table.name}: the owner of a client row comes from the scope")
    owners = owner_columns_of(table)
    return insert(table).values({name: bindparam(name) for name in (*owners, *names)})


def _require_one_client_table(table: Table, *parts: object) -> None:
    if table.name not in CLIENT_TABLES:
        raise UnscopedStatement(f"{table.name} is not a client table")
    for part in parts:
        if not isinstance(part, ClauseElement):
            continue
        _require_no_raw_sql(part)
        if any(_is_query(nested) for nested in visitors.iterate(part)):
            raise UnscopedStatement(f"{table.name}: a nested SELECT has no owner")
        if {other.name for other in client_tables_in(part)} - {table.name}:
            raise UnscopedStatement(f"{table.name}: a condition names another client table")


def _check(core: ClauseElement | Build, *, system: bool) -> ClauseElement:
    """Return what a statement is; refuse a plain one on client rows."""
    if not isinstance(core, ClauseElement):
        core = core()
    if system:
        return core
    _require_no_raw_sql(core)
    if found := sorted({table.name for table in client_tables_in(core)}):
        raise UnscopedStatement(
            f"{', '.join(found)}: write statements on client tables with scoped_select and its siblings"
        )
    return core


def _require_no_raw_sql(core: ClauseElement) -> None:
    _refuse_raw_sql(visitors.iterate(core))


def _refuse_raw_sql(parts: Iterable[object]) -> None:
    for element in parts:
        is_literal = getattr(element, "is_literal", False) and getattr(element, "name", "*") != "*"
        if isinstance(element, TextClause) or is_literal:
            raise UnscopedStatement(
                "raw SQL text cannot be checked for its owner; write it with Core"
            )


def _is_query(element: object) -> bool:
    return isinstance(element, (selectable.SelectBase, selectable.Subquery, selectable.CTE))


PING = Statement(select(literal(1)))
"""The cheapest statement, for readiness checks."""
