"""A statement on client rows that does not constrain their owner cannot be made."""

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

from clearlane.kernel.ids import Scope
from clearlane.store.schema import claim_events as e
from clearlane.store.schema import claims as c
from clearlane.store.schema import sites, vendors
from clearlane.store.sql import (
    Statement,
    SystemScope,
    UnscopedStatement,
    WrongScope,
    among,
    in_scope,
    insert_into,
)

b = bindparam
other = c.alias()
inner = select(c.c.state).subquery()
common = select(c.c.state).cte()
event = insert_into(e, "request_id", "at", "event")
claim_id = select(c.c.request_id)

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
    "one of two": select(c.c.state).where(or_(in_scope(c), c.c.state == "Sent")),
    "negated": select(c.c.state).where(~in_scope(c)),
    "an alias": select(other.c.state),
    "the alias of a scoped table": select(other.c.state).where(in_scope(c)),
    "count": select(func.count()).select_from(c),
    "joined table": select(c.c.state).join(e, e.c.request_id == c.c.request_id).where(in_scope(c)),
    "left table of a left join": select(c.c.state).select_from(
        c.outerjoin(e, in_scope(c) & in_scope(e))
    ),
    "both of a full join": select(c.c.state).select_from(
        c.join(e, in_scope(c) & in_scope(e), full=True)
    ),
    "cross product": select(c.c.state, e.c.at).where(in_scope(c)),
    "subquery in where": select(c.c.state).where(
        in_scope(c), exists(select(e.c.id).where(e.c.request_id == c.c.request_id))
    ),
    "scalar subquery": select(vendors.c.id, claim_id.limit(1).scalar_subquery()),
    "subquery in from": select(inner.c.state),
    "subquery in from beside a scoped one": select(c.c.state, inner.c.state).where(in_scope(c)),
    "common table expression": select(common.c.state),
    "union": select(c.c.state).where(in_scope(c)).union_all(select(e.c.event)),
    "not correlated": select(c.c.state).where(in_scope(c), exists(claim_id.correlate(None))),
    "correlated to nothing": claim_id.correlate(c),
    "update": update(c).values(state=b("state")),
    "update by id": update(c).where(c.c.request_id == b("id")).values(state=b("state")),
    "update of the owner": update(c).where(in_scope(c)).values(vendor_id=b("new")),
    "update of everything": update(c).where(in_scope(c)),
    "update from another": update(vendors)
    .where(vendors.c.id == c.c.vendor_id)
    .values(name=b("name")),
    "update by a subquery": update(vendors).values(name=claim_id.scalar_subquery()),
    "delete": delete(c).where(c.c.request_id == b("id")),
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
    "select": select(c.c.state).where(in_scope(c), c.c.request_id == b("id")),
    "count": select(func.count()).select_from(c).where(in_scope(c)),
    "an alias": select(other.c.state).where(in_scope(other)),
    "both of a join": select(c.c.state)
    .join(e, (e.c.request_id == c.c.request_id) & in_scope(e))
    .where(in_scope(c)),
    "right of a left join": select(c.c.state)
    .select_from(c.outerjoin(e, in_scope(e)))
    .where(in_scope(c)),
    "correlated": select(c.c.state).where(
        in_scope(c), exists(select(e.c.id).where(in_scope(e), e.c.request_id == c.c.request_id))
    ),
    "update": update(c).where(in_scope(c), c.c.request_id == b("id")).values(state=b("state")),
    "delete": delete(c).where(in_scope(c)),
    "insert": event.returning(e.c.id),
    "upsert": insert_into(c, "request_id", "state").on_conflict_do_update(
        index_elements=["vendor_id", "site_id", "kind", "vendor_claim_hash"], set_={"state": "Sent"}
    ),
    "insert from select": insert(e).from_select(
        ["vendor_id", "site_id", "event"], select(b("vendor_id"), b("site_id"), sites.c.name)
    ),
    "among": select(c.c.state).where(in_scope(c), among(c.c.request_id, "ids")),
}


@pytest.mark.parametrize("core", UNSCOPED.values(), ids=UNSCOPED.keys())
def test_a_statement_without_its_owner_is_refused_and_runs_only_as_system(core):
    with pytest.raises(UnscopedStatement):
        Statement(core)
    sweeping = Statement(core, system=True)
    with pytest.raises(WrongScope):
        sweeping.with_owner(Scope(1, 2), {})
    assert sweeping.with_owner(SystemScope("a test"), {"x": 1}) == {"x": 1}


@pytest.mark.parametrize("core", SCOPED.values(), ids=SCOPED.keys())
def test_a_scoped_statement_takes_its_owner_from_the_scope_alone(core):
    statement = Statement(core)
    assert statement.client
    assert statement.with_owner(Scope(1, 2), {"x": 3}) == {"x": 3, "vendor_id": 1, "site_id": 2}
    with pytest.raises(WrongScope):
        statement.with_owner(SystemScope("a test"), {})
    for owner in ("vendor_id", "site_id"):
        with pytest.raises(WrongScope):
            statement.with_owner(Scope(1, 2), {owner: 9})
    for dialect in ("sqlite", "postgresql"):
        assert {"vendor_id", "site_id"} <= statement.compiled_for(dialect).parameters


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
    assert statement.compiled_for("sqlite").arguments({"name": "x"}) == [
        "active",
        "suspended",
        "x",
        5,
        0,
    ]
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
    assert statement.compiled_for("sqlite").arguments({"ids": [1, 2]}) == ["[1, 2]"]
    assert statement.compiled_for("postgresql").arguments({"ids": [1, 2]}) == [[1, 2]]
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
