"""Tables that grow are partitioned on PostgreSQL: made ahead of time, guarded, and read one at a time.

Also tests `store/database/schema/partitions` and `pipeline/retention/make_partitions`.
"""

from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from clearlane.kernel.ids import new_number
from clearlane.store.database.database import OperationRefused
from clearlane.store.database.postgresql_partitions import make_partitions, partition_state
from clearlane.store.database.schema import APP_ROLE
from clearlane.store.database.schema.partitions import (
    PARTITION_KEYS,
    first_of,
    list_quarters,
    next_quarter,
    quarter_of,
    quarter_partition,
)
from tests.databases import START, make_site
from tests.store.test_database import CLAIM, EVENT, OPERATOR, a_claim

NOW = datetime.now(UTC)
LATER = list_quarters(NOW, 9)[-1]
"""A quarter that no partition was made for."""
ALL = (
    "SELECT set_config('clearlane.vendors', '*', false), set_config('clearlane.sites', '*', false)"
)


@pytest.fixture(params=["postgresql"])
def database_kind(request):
    return request.param


@pytest.fixture
async def fresh(new_place):
    """A database of one test alone, since its partitions change."""
    return await new_place("postgresql")


@pytest.fixture
async def server(fresh):
    """A superuser's connection to it."""
    connection = await fresh.raw()
    yield connection
    await connection.close()


async def store(place, *moments):
    """Store a claim with an event for each moment, and return their numbers."""
    database = await place.open()
    numbers = [new_number(at) for at in moments]

    async def job(tx):
        for number in numbers:
            await tx.run(CLAIM, **a_claim(number))
            await tx.run(EVENT, claim_number=number, at=1, event="received")

    await database.write(await make_site(database), job, actor=OPERATOR)
    await database.close()
    return numbers


async def partition_of(server, table, number):
    found = await server.fetch(
        f"SELECT tableoid::regclass::text FROM {table} WHERE claim_number = $1", number
    )
    return [name for (name,) in found]


def test_quarters_follow_each_other_and_hold_the_numbers_of_their_days():
    at = datetime(2026, 11, 19, tzinfo=UTC)
    this, after = list_quarters(at, 3)
    assert (this, after) == (datetime(2026, 10, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))
    assert next_quarter(this) == after
    assert list_quarters(at, 1) == [this]
    assert list_quarters(at, 2) == [this, after]
    partition = quarter_partition("claims", this)
    assert (partition.name, quarter_of(partition.name)) == ("claims_2026_q4", this)
    assert quarter_of("claims_earlier") is None
    last = new_number(after - timedelta(milliseconds=1))
    assert first_of("claims", this) < last < first_of("claims", after) < new_number(after)
    assert new_number(this) > first_of("claims", this)


async def test_a_row_lies_in_the_partition_of_its_number_and_refers_to_another(fresh, server):
    now, old = await store(fresh, NOW, START)
    this = list_quarters(NOW, 1)[0]
    for table in ("claims", "claim_events"):
        assert await partition_of(server, table, now) == [quarter_partition(table, this).name]
        assert await partition_of(server, table, old) == [f"{table}_earlier"]
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await server.execute("DELETE FROM claims WHERE claim_number = $1", now)
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await server.execute("UPDATE claim_events SET claim_number = $1", new_number(NOW))
    with pytest.raises(asyncpg.UniqueViolationError):
        await store_again(server, now)


async def store_again(server, number):
    await server.execute("INSERT INTO claims SELECT * FROM claims WHERE claim_number = $1", number)


async def test_a_plan_that_is_kept_reads_one_partition(server):
    await server.execute("SET plan_cache_mode = force_generic_plan")
    for table, (column, letter) in PARTITION_KEYS.items():
        await server.execute(f"PREPARE find(text) AS SELECT FROM {table} WHERE {column} = $1")
        number = new_number(NOW, letter=letter)
        plan = [row[0] for row in await server.fetch(f"EXPLAIN ANALYZE EXECUTE find('{number}')")]
        await server.execute("DEALLOCATE find")
        parts = await server.fetchval(
            "SELECT count(*) FROM pg_inherits WHERE inhparent = $1::text::regclass", table
        )
        assert any(f"Subplans Removed: {parts - 1}" in line for line in plan), plan


async def test_partitions_are_made_ahead_once(fresh, server):
    assert await make_partitions(server, NOW) == []
    made = await make_partitions(server, LATER)
    assert f"claims_{LATER.year}_q{LATER.month // 3 + 1}" in made
    assert len(made) >= 2 * len(PARTITION_KEYS)
    assert await make_partitions(server, LATER) == []
    state = await partition_state(server)
    assert state.through > LATER + timedelta(days=92)
    assert state.stray == ()
    (number,) = await store(fresh, LATER)
    assert await partition_of(server, "claims", number) == [quarter_partition("claims", LATER).name]


async def test_rows_that_no_partition_took_are_found_reported_and_moved(fresh, server):
    (number,) = await store(fresh, LATER)
    assert await partition_of(server, "claims", number) == ["claims_default"]
    assert (await partition_state(server)).stray == ("claim_events", "claims")
    name = quarter_partition("claims", LATER).name
    assert name not in await make_partitions(server, LATER)
    assert name in await make_partitions(server, LATER, moves=True)
    for table in ("claims", "claim_events"):
        kept = [quarter_partition(table, LATER).name]
        assert await partition_of(server, table, number) == kept
    assert (await partition_state(server)).stray == ()
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await server.execute("DELETE FROM claims WHERE claim_number = $1", number)


async def test_a_partition_waits_for_no_one_and_is_made_later(fresh, server):
    other = await fresh.raw()
    async with other.transaction():
        await other.execute("LOCK claims IN ROW EXCLUSIVE MODE")
        held = {name for name in await make_partitions(server, LATER) if name.startswith("claims")}
        assert held == set()
    assert quarter_partition("claims", LATER).name in await make_partitions(server, LATER)
    await other.close()


async def test_a_login_that_owns_nothing_learns_who_makes_partitions(server):
    await server.execute(f"SET ROLE {APP_ROLE}")
    with pytest.raises(
        OperationRefused, match=r"does not own the tables. Run `clearlane db upgrade`"
    ):
        await make_partitions(server, LATER)


async def test_row_level_security_holds_for_each_partition_by_itself(fresh, server):
    await store(fresh, NOW)
    name = quarter_partition("claims", list_quarters(NOW, 1)[0]).name
    await server.execute(f"SET ROLE {APP_ROLE}")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await server.fetch(f"SELECT FROM {name}")
    await server.execute(f"RESET ROLE; GRANT SELECT ON {name} TO {APP_ROLE}; SET ROLE {APP_ROLE}")
    assert await server.fetch(f"SELECT FROM {name}") == []
    await server.execute(ALL)
    assert len(await server.fetch(f"SELECT FROM {name}")) == 1


async def test_an_installation_knows_until_when_it_has_partitions(fresh, new_place):
    database = await fresh.open()
    before = await database.partition_state()
    assert await database.make_partitions(LATER) != []
    assert (await database.partition_state()).through > before.through
    await database.close()
    file = await (await new_place("sqlite")).open()
    assert (await file.partition_state(), await file.make_partitions(LATER)) == (None, [])
    await file.close()
