"""A statement on client rows that does not constrain their owner cannot be made."""

import contextlib
import importlib
import re
import sqlite3
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy import (
    bindparam,
    column,
    delete,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    table,
    text,
    update,
)

import clearlane
from clearlane.kernel.ids import Scope, VendorScope
from clearlane.store.database.schema import claim_events as e
from clearlane.store.database.schema import claims as c
from clearlane.store.database.schema import sites, vendors
from clearlane.store.database.sql import (
    CLIENT_TABLES,
    Statement,
    SystemScope,
    UnscopedStatement,
    WrongScope,
    among,
    in_scope,
    insert_into,
    scoped_delete,
    scoped_insert,
    scoped_select,
    scoped_update,
    scoped_upsert,
)
from tests.cases import every_case

b = bindparam
other = c.alias()
inner = select(c.c.state).subquery()
common = select(c.c.state).cte()
event = insert_into(e, "claim_number", "at", "event")
claim_id = select(c.c.claim_number)

UNSCOPED = {
    "no condition": select(c.c.state),
    "no site": select(c.c.state).where(c.c.vendor_id == b("vendor_id")),
    "no vendor": select(c.c.state).where(c.c.site_id == b("site_id")),
    "another bind": select(c.c.state).where(
        c.c.vendor_id == b("vendor_id"), c.c.site_id == b("vendor_id")
    ),
    "a value": select(c.c.state).where(c.c.vendor_id == 1, c.c.site_id == 1),
    "greater": select(c.c.state).where(
        c.c.vendor_id >= b("vendor_id"), c.c.site_id == b("site_id")
    ),
    "one of two": select(c.c.state).where(or_(in_scope(c), c.c.state == "sent")),
    "negated": select(c.c.state).where(~in_scope(c)),
    "an alias": select(other.c.state),
    "the alias of a scoped table": select(other.c.state).where(in_scope(c)),
    "count": select(func.count()).select_from(c),
    "joined table": select(c.c.state)
    .join(e, e.c.claim_number == c.c.claim_number)
    .where(in_scope(c)),
    "left table of a left join": select(c.c.state).select_from(
        c.outerjoin(e, in_scope(c) & in_scope(e))
    ),
    "both of a full join": select(c.c.state).select_from(
        c.join(e, in_scope(c) & in_scope(e), full=True)
    ),
    "cross product": select(c.c.state, e.c.at).where(in_scope(c)),
    "subquery in where": select(c.c.state).where(
        in_scope(c), exists(select(e.c.id).where(e.c.claim_number == c.c.claim_number))
    ),
    "scalar subquery": select(vendors.c.id, claim_id.limit(1).scalar_subquery()),
    "subquery in from": select(inner.c.state),
    "subquery in from beside a scoped one": select(c.c.state, inner.c.state).where(in_scope(c)),
    "common table expression": select(common.c.state),
    "union": select(c.c.state).where(in_scope(c)).union_all(select(e.c.event)),
    "not correlated": select(c.c.state).where(in_scope(c), exists(claim_id.correlate(None))),
    "correlated to nothing": claim_id.correlate(c),
    "update": update(c).values(state=b("state")),
    "update by id": update(c).where(c.c.claim_number == b("id")).values(state=b("state")),
    "update of the owner": update(c).where(in_scope(c)).values(vendor_id=b("new")),
    "update of everything": update(c).where(in_scope(c)),
    "update from another": update(vendors)
    .where(vendors.c.id == c.c.vendor_id)
    .values(name=b("name")),
    "update by a subquery": update(vendors).values(name=claim_id.scalar_subquery()),
    "delete": delete(c).where(c.c.claim_number == b("id")),
    "insert without owner": insert(e).values(at=b("at")),
    "insert of a value": insert(e).values(vendor_id=7, site_id=b("site_id"), at=b("at")),
    "insert of another bind": insert(e).values(vendor_id=b("v"), site_id=b("site_id")),
    "insert of all columns": insert(e),
    "insert of chosen rows": insert(e).from_select(
        ["vendor_id", "site_id"], select(sites.c.vendor_id, sites.c.id)
    ),
    "insert from clients": insert(vendors).from_select(["name"], claim_id),
    "upsert by a number of all clients": event.on_conflict_do_update(
        index_elements=["id"], set_={"at": event.excluded.at}
    ),
    "upsert of the owner": event.on_conflict_do_update(
        index_elements=["vendor_id", "site_id"], set_={"site_id": event.excluded.at}
    ),
    "upsert by a subquery": insert_into(vendors, "name").on_conflict_do_update(
        index_elements=["id"], set_={"name": claim_id.scalar_subquery()}
    ),
    "text": text("SELECT state FROM claims"),
    "text within": select(vendors.c.id).where(text("id IN (SELECT 1 FROM claims)")),
    "literal column": select(literal_column("(SELECT state FROM claims)")),
    "a table by its name": select(table("claims", column("state")).c.state),
}

SCOPED = {
    "select": lambda: scoped_select(select(c.c.state).where(c.c.claim_number == b("id")), c),
    "count": lambda: scoped_select(select(func.count()).select_from(c), c),
    "both of a join": lambda: scoped_select(
        select(c.c.state).join(e, e.c.claim_number == c.c.claim_number), c, e
    ),
    "beside a table of the installation": lambda: scoped_select(
        select(c.c.state, sites.c.time_zone).join(sites, sites.c.id == c.c.site_id), c
    ),
    "among": lambda: scoped_select(select(c.c.state).where(among(c.c.claim_number, "ids")), c),
    "update": lambda: scoped_update(c, c.c.claim_number == b("id"), state=b("state")),
    "delete": lambda: scoped_delete(c, c.c.claim_number == b("id")),
    "insert": lambda: scoped_insert(e, "claim_number", "at", "event"),
    "insert or ignore": lambda: scoped_insert(e, "claim_number", "at", ignore_conflict=True),
    "upsert": lambda: scoped_upsert(
        c, "claim_number", "kind", "state", key=("kind",), replace=("state",)
    ),
}

REFUSED = {
    "no table named": lambda: scoped_select(select(c.c.state)),
    "a table not named": lambda: scoped_select(
        select(c.c.state).join(e, e.c.claim_number == c.c.claim_number), c
    ),
    "a table that is not read": lambda: scoped_select(select(c.c.state), c, e),
    "a nested select": lambda: scoped_select(
        select(c.c.state).where(exists(select(e.c.id).where(e.c.claim_number == c.c.claim_number))),
        c,
        e,
    ),
    "a subquery in from": lambda: scoped_select(select(inner.c.state), c),
    "a common table expression": lambda: scoped_select(select(common.c.state), c),
    "an alias": lambda: scoped_select(select(other.c.state), c),
    "raw text": lambda: scoped_select(select(c.c.state).where(text("1 = 1")), c),
    "an update of the owner": lambda: scoped_update(c, vendor_id=b("new")),
    "an update of nothing": lambda: scoped_update(c),
    "an update by a subquery": lambda: scoped_update(c, state=claim_id.scalar_subquery()),
    "an update by another table": lambda: scoped_update(
        c, c.c.claim_number == e.c.claim_number, state=b("state")
    ),
    "an update of a table of the installation": lambda: scoped_update(vendors, name=b("name")),
    "a delete by another table": lambda: scoped_delete(c, c.c.claim_number == e.c.claim_number),
    "an insert of the owner": lambda: scoped_insert(e, "vendor_id", "at"),
    "an insert into a table of the installation": lambda: scoped_insert(vendors, "name"),
    "an upsert of the owner": lambda: scoped_upsert(
        e, "claim_number", key=("claim_number",), replace=("site_id",)
    ),
}


@every_case("make", REFUSED.values(), ids=REFUSED.keys())
def test_a_constructor_refuses_what_it_cannot_limit_to_one_owner(make):
    with pytest.raises(UnscopedStatement):
        _ = make().core


@every_case("core", UNSCOPED.values(), ids=UNSCOPED.keys())
def test_a_plain_statement_on_client_rows_is_refused_and_runs_only_as_system(core):
    with pytest.raises(UnscopedStatement):
        _ = Statement(core).core
    sweeping = Statement(core, system=True)
    with pytest.raises(WrongScope):
        sweeping.with_owner(Scope(1, 2), {})
    assert sweeping.with_owner(SystemScope("a test"), {"x": 1}) == {"x": 1}


@pytest.mark.parametrize("make", SCOPED.values(), ids=SCOPED.keys())
def test_a_scoped_statement_takes_its_owner_from_the_scope_alone(make):
    statement = make()
    assert statement.client
    assert statement.with_owner(Scope(1, 2), {"x": 3}) == {"x": 3, "vendor_id": 1, "site_id": 2}
    with pytest.raises(WrongScope):
        statement.with_owner(SystemScope("a test"), {})
    for owner in ("vendor_id", "site_id"):
        with pytest.raises(WrongScope):
            statement.with_owner(Scope(1, 2), {owner: 9})
    for dialect in ("sqlite", "postgresql"):
        assert {"vendor_id", "site_id"} <= statement.compiled_for(dialect).parameters


@pytest.mark.parametrize("make", SCOPED.values(), ids=SCOPED.keys())
def test_a_vendor_wide_scope_reads_its_sites_and_changes_nothing(make):
    statement, wide = make(), VendorScope(1, (2, 3))
    with pytest.raises(WrongScope):
        statement.with_owner(wide, {})
    if not statement.returns_rows:
        with pytest.raises(WrongScope):
            statement.for_scope(wide)
        return
    reading = statement.for_scope(wide)
    assert reading is statement.for_scope(wide)
    assert statement.for_scope(Scope(1, 2)) is statement
    assert reading.with_owner(wide, {"x": 3}) == {"x": 3, "vendor_id": 1, "site_ids": (2, 3)}
    for owner in ("vendor_id", "site_id", "site_ids"):
        with pytest.raises(WrongScope):
            reading.with_owner(wide, {owner: 9})
    for scope in (Scope(1, 2), SystemScope("a test")):
        with pytest.raises((WrongScope, TypeError)):
            reading.compiled_for("sqlite").arguments(reading.with_owner(scope, {"id": "x"}))
    for dialect in ("sqlite", "postgresql"):
        compiled = reading.compiled_for(dialect)
        assert {"vendor_id", "site_ids"} <= compiled.parameters
        assert not list(owner_faults(compiled.text))


def test_a_sweeping_statement_runs_in_no_vendor_wide_scope():
    with pytest.raises(WrongScope):
        Statement(select(c.c.state), system=True).with_owner(VendorScope(1, (2,)), {})


def test_a_statement_of_the_installation_runs_in_any_scope_with_the_callers_values():
    statement = Statement(select(sites.c.id).where(sites.c.vendor_id == b("vendor_id")))
    assert not statement.client
    assert statement.with_owner(Scope(1, 2), {"vendor_id": 9}) == {"vendor_id": 9}
    assert statement.with_owner(SystemScope("a test"), {"vendor_id": 9}) == {"vendor_id": 9}


def test_a_missing_and_an_unknown_value_are_both_named():
    compiled = Statement(select(sites.c.id).where(sites.c.name == b("name"))).compiled_for("sqlite")
    with pytest.raises(TypeError, match=r"missing: name; .*does not take: nam"):
        compiled.arguments({"nam": "x"})


def test_values_of_the_statement_and_of_the_caller_come_in_the_drivers_order():
    statement = Statement(
        select(sites.c.id)
        .where(sites.c.state.in_(["active", "suspended"]), sites.c.name == b("name"))
        .limit(5)
    )
    assert statement.compiled_for("sqlite").arguments({"name": "x"}) == (
        "active",
        "suspended",
        "x",
        5,
        0,
    )
    compiled = statement.compiled_for("postgresql")
    arguments = compiled.arguments({"name": "x"})
    spelled = compiled.text
    for number, value in reversed(list(enumerate(arguments, 1))):
        spelled = spelled.replace(f"${number}::", f"{value!r}::")
    assert "IN ('active'::VARCHAR, 'suspended'::VARCHAR)" in spelled
    assert "name = 'x'::VARCHAR" in spelled
    assert "LIMIT 5::INTEGER" in spelled


def test_a_list_of_the_caller_is_one_value_on_both_databases():
    statement = Statement(select(sites.c.id).where(among(sites.c.id, "ids")))
    assert statement.compiled_for("sqlite").arguments({"ids": [1, 2]}) == ("[1, 2]",)
    assert statement.compiled_for("postgresql").arguments({"ids": [1, 2]}) == ([1, 2],)
    with pytest.raises(TypeError, match="among"):
        Statement(select(sites.c.id).where(sites.c.id.in_(b("ids", expanding=True)))).compiled_for(
            "sqlite"
        )


def test_a_statement_is_compiled_once():
    statement = Statement(select(sites.c.id))
    assert statement.compiled_for("sqlite") is statement.compiled_for("sqlite")


def test_a_statement_prints_its_text_and_no_value():
    statement = Statement(select(sites.c.id).where(sites.c.name == "ROSA ARDEN"))
    assert "ROSA" not in repr(statement)


SOURCE = Path(clearlane.__file__).parent
DEFINITION = re.compile(r"= (?:Statement|scoped_\w+)\(")


def every_statement():
    """Yield each statement of the package by name; all are constants of the modules that define one."""
    for file in sorted(SOURCE.rglob("*.py")):
        if "migrations" not in file.parts and DEFINITION.search(file.read_text("utf-8")):
            module = ".".join(file.relative_to(SOURCE.parent).with_suffix("").parts)
            for name, value in vars(importlib.import_module(module)).items():
                if isinstance(value, Statement):
                    yield f"{module}.{name}", value


def tables_in(text):
    """Return the tables that a compiled statement reads or writes, by its SQL text."""
    lists = re.findall(r"\b(?:FROM|JOIN|UPDATE|INTO) (\w+(?:(?: AS \w+)?, \w+)*)", text)
    return {name.split(" AS ")[0] for names in lists for name in names.split(", ")}


def owner_faults(text):
    """Name each client table in a compiled statement whose rows are not limited to one owner.

    Reads the SQL text alone, so it does not depend on how the statement was built.
    """
    flat = " ".join(text.split())
    for name in sorted(tables_in(flat) & CLIENT_TABLES.keys()):
        if flat.startswith(f"INSERT INTO {name} "):
            columns = re.search(rf"INSERT INTO {name} \(([^)]*)\)", flat)[1].split(", ")
            bound = re.search(r"VALUES \((.*?)\)(?: |$)", flat)[1].split(", ")
            owners = [bound[columns.index(o)] for o in owner_columns(name) if o in columns]
            if [value for value in owners if re.match(r"\?|\$\d+", value)] != owners or not owners:
                yield name
        elif not all(
            re.search(rf"\b{name}\.{owner} {OWNED}", flat) for owner in owner_columns(name)
        ):
            yield name


OWNED = r"(?:= (?:\?|\$\d+)|= ANY \(\$\d+|IN \(SELECT value FROM json_each\(\?\)\))"


def owner_columns(name):
    """The owner columns of a client table: a table of vendors has no site."""
    return [o for o in ("vendor_id", "site_id") if o in CLIENT_TABLES[name].c]


def test_every_compiled_statement_on_client_rows_names_their_owner():
    statements = dict(every_statement())
    on_clients = 0
    for name, statement in statements.items():
        for dialect in ("sqlite", "postgresql"):
            text = statement.compiled_for(dialect).text
            if statement.system:
                continue
            assert not list(owner_faults(text)), name
            touched = tables_in(" ".join(text.split())) & CLIENT_TABLES.keys()
            assert statement.client == bool(touched), name
            on_clients += statement.client
            if statement.vendor_wide:
                assert not list(owner_faults(statement.vendor_wide.compiled_for(dialect).text)), (
                    name
                )
    assert len(statements) > 200
    assert on_clients > 2 * 25


async def test_each_database_understands_every_statement(place):
    """A server that prepares a statement knows its tables, columns, functions and the types of its values."""
    refused = {}
    texts = {name: statement.compiled_for(place.kind).text for name, statement in every_statement()}
    if place.kind == "postgresql":
        connection = await place.raw()
        try:
            for name, text in texts.items():
                try:
                    await connection.prepare(text)
                except asyncpg.PostgresError as fault:
                    refused[name] = str(fault)
        finally:
            await connection.close()
    else:
        with contextlib.closing(sqlite3.connect(place.sqlite_file)) as database:
            for name, text in texts.items():
                try:
                    database.execute(f"EXPLAIN {text}", [None] * text.count("?"))
                except sqlite3.Error as fault:
                    refused[name] = str(fault)
    assert refused == {}
    assert len(texts) > 200


UNOWNED = [
    select(c.c.state),
    select(vendors.c.id, e.c.at),
    delete(c),
    update(c).values(state=b("state")),
    insert(e).values(at=b("at")),
    select(c.c.state).where(c.c.vendor_id == b("vendor_id")),
]


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_the_check_over_compiled_statements_finds_a_missing_owner(dialect):
    for core in UNOWNED:
        assert list(owner_faults(Statement(core, system=True).compiled_for(dialect).text)), core
