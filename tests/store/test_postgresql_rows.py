"""Several rows in one statement on PostgreSQL; on both databases many rows are written alike."""

import pytest
from sqlalchemy import bindparam, select, update

from clearlane.store.claims import claim_updates
from clearlane.store.database import schema
from clearlane.store.database.database import Actor, ConstraintViolation, SystemScope
from clearlane.store.database.postgresql import UPDATED_TOGETHER_MIN
from clearlane.store.database.postgresql_rows import BLOCK_ROWS, insert_text, update_text
from clearlane.store.database.sql import Statement, insert_into

ALL = SystemScope("a test")
OPERATOR = Actor("operator", "nora")
NUMBERS = schema.control_numbers
ADD = Statement(insert_into(NUMBERS, "name", "number"))
ADD_ONCE = Statement(insert_into(NUMBERS, "name", "number").on_conflict_do_nothing())
NEW = insert_into(NUMBERS, "name", "number")
PUT = Statement(
    NEW.on_conflict_do_update(index_elements=["name"], set_={"number": NEW.excluded.number})
)
CHANGE = Statement(
    update(NUMBERS).where(NUMBERS.c.name == bindparam("of")).values(number=bindparam("new_number"))
)
KNOWN = Statement(select(NUMBERS.c.name, NUMBERS.c.number).where(NUMBERS.c.name.startswith("t")))
COUNTS = [1, *(rows + more for rows in BLOCK_ROWS for more in (-1, 0, 1)), 2 * BLOCK_ROWS[0] + 11]


def rows_of(count, first=0):
    return [{"name": f"t{at}", "number": at} for at in range(first, first + count)]


async def stored(database):
    async with database.read(ALL) as tx:
        return dict(await tx.rows(KNOWN))


async def write(database, statement, rows):
    await database.write(ALL, lambda tx: tx.many(statement, rows), actor=OPERATOR)


@pytest.mark.parametrize("count", COUNTS)
async def test_every_row_is_inserted_once_however_many_there_are(database, count):
    await write(database, ADD, rows_of(count))
    assert await stored(database) == {f"t{at}": at for at in range(count)}


async def test_a_row_that_is_there_refuses_all_rows_or_is_passed_over(database):
    await write(database, ADD, rows_of(3, first=50))
    with pytest.raises(ConstraintViolation):
        await write(database, ADD, rows_of(70))
    assert await stored(database) == {"t50": 50, "t51": 51, "t52": 52}
    await write(database, ADD_ONCE, [{"name": f"t{at % 60}", "number": -1} for at in range(70)])
    found = await stored(database)
    assert len(found) == 60
    assert (found["t50"], found["t0"]) == (50, -1)


async def test_of_two_rows_of_one_key_the_later_one_counts(database):
    await write(database, PUT, [*rows_of(70), {"name": "t3", "number": 1_000}])
    assert (await stored(database))["t3"] == 1_000
    await write(database, PUT, [{"name": f"t{at}", "number": -at} for at in range(60, 90)])
    assert [(await stored(database))[f"t{at}"] for at in (59, 60, 69, 89)] == [59, -60, -69, -89]
    changes = [{"of": f"t{at}", "new_number": at + 1} for at in range(70)]
    await write(database, CHANGE, [*changes, {"of": "t5", "new_number": 2_000}])
    found = await stored(database)
    assert (found["t3"], found["t5"], found["t69"]) == (4, 2_000, 70)


@pytest.mark.parametrize("count", [1, UPDATED_TOGETHER_MIN - 1, UPDATED_TOGETHER_MIN, 70])
async def test_each_row_gets_its_own_values_and_no_other_row_changes(database, count):
    await write(database, ADD, rows_of(80))
    changes = [{"of": f"t{at}", "new_number": 500 + at} for at in reversed(range(count))]
    await write(database, CHANGE, [*changes, {"of": "t-unknown", "new_number": 1}])
    assert await stored(database) == {f"t{at}": 500 + at if at < count else at for at in range(80)}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("INSERT INTO t (a) SELECT u.a FROM u WHERE u.b = $1::TEXT", 1),
        ("INSERT INTO t (a) VALUES ($1::TEXT) ON CONFLICT (a) DO UPDATE SET b = $2::TEXT", 2),
        ("INSERT INTO t (a, b) VALUES ($1::TEXT, lower($2::TEXT))", 2),
        ("INSERT INTO t (a, b) VALUES ($1::TEXT, $1::TEXT)", 1),
        ("UPDATE t SET a=$1::TEXT WHERE t.b = $2::TEXT", 2),
    ],
)
def test_other_statements_are_no_insert_of_several_rows(text, values):
    assert insert_text(text, values, 8) is None


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("UPDATE t SET a=(t.a + $1::INTEGER) WHERE t.b = $2::TEXT", 2),
        ("UPDATE t SET a=$1::TEXT, c=1 WHERE t.b = $2::TEXT", 2),
        ("UPDATE t SET a=$1::TEXT WHERE t.b = $2::TEXT AND t.c = $3::TEXT", 3),
        ("UPDATE t SET a=$1::TEXT WHERE t.b < $2::TEXT", 2),
        ("UPDATE t SET a=$1::TEXT WHERE t.b = $1::TEXT", 1),
        ("INSERT INTO t (a) VALUES ($1::TEXT)", 1),
    ],
)
def test_other_statements_are_no_update_of_several_keys(text, values):
    assert update_text(text, values) is None


def test_the_status_of_claims_is_updated_together():
    compiled = claim_updates._UPDATE.compiled_for("postgresql")
    assert update_text(compiled.text, len(compiled.parameter_order)) is not None
