"""Open claims are counted once for all who ask, from an index alone, however many there are.

Also tests `pipeline/query/installation/claim_counts`, `store/installation/stored_counts` and `store/database/schema/counts`.
"""

from datetime import timedelta

import asyncpg
import pytest

from clearlane.pipeline.query.installation import claim_counts
from clearlane.pipeline.query.installation.measures import MeasureSource
from clearlane.store.database.database import Actor
from clearlane.store.database.postgresql import _allow_owners
from clearlane.store.database.postgresql_session import prepare_connection
from clearlane.store.installation import operating_counts, stored_counts
from clearlane.store.installation.operating_counts import SCOPE
from clearlane.store.installation.stored_counts import StoredCounts
from tests.claims.answers import patient, status
from tests.pipeline.flowing import Flow


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def measured(flow):
    """What an operator gets who asks now: open claims and those of the last day."""
    source = MeasureSource(
        database=flow.database,
        clock=flow.clock,
        wall=flow.clock,
        connections=flow.context.payer_access.connections,
    )
    measures = await source.measure()
    return sum(one.claims for one in measures.open_claims), measures.claims_last_day


async def kept(flow):
    async with flow.database.read(SCOPE) as tx:
        return await stored_counts.find_counts(tx)


async def test_a_node_counts_for_all_who_ask(flow):
    async def tick(**later):
        flow.clock.advance(timedelta(**later))
        await claim_counts.count_tick(flow.context, None)

    await flow.submit(2)
    assert await measured(flow) == (2, 2)
    await tick()
    await flow.submit(1)
    assert await measured(flow) == (2, 2), "one row is read, and no claim"
    await tick(seconds=claim_counts.COUNTED_SECONDS - 1)
    assert await measured(flow) == (2, 2), "another node has just counted"
    await tick(seconds=2)
    assert await measured(flow) == (3, 3)
    await flow.submit(1)
    flow.clock.advance(timedelta(seconds=claim_counts.KEPT_SECONDS + 1))
    assert await measured(flow) == (4, 4), "no node counts any more"


@pytest.mark.safe_default(16)
async def test_claims_that_were_corrected_or_not_accepted_are_counted_as_what_they_are(flow):
    own = {"Svc_VendorClaimId": "MINE", "F26_PatientAcctNumber": "ACC"}
    await flow.sent(**own)
    refused = status(patient("ACC", "A7:500:85*20261102*U*100"))
    assert await flow.arrive(refused) == ["applied"]
    await flow.submit(1, **own, F19_ClaimSupplementalInfoNoteText="CORRECTED")
    for npi in ("1234567890", "1234567891"):
        [result] = await flow.post(Svc_VendorClaimId="BAD", F33A_BillingProviderNpi=npi)
        assert not result.accepted
    # The correction waits, and the last one that was not accepted; the rejected claim has a successor.
    assert await measured(flow) == (2, 2)


async def test_counting_that_takes_long_rests_long(flow):
    await flow.submit(1)
    await claim_counts.count_tick(flow.context, None)
    counted = (await kept(flow))._replace(took=60_000_000)
    await flow.database.write(
        SCOPE,
        lambda tx: stored_counts.put_counts(tx, StoredCounts(*counted)),
        actor=Actor("node", "n"),
    )
    for minutes, is_counted_anew in ((49, False), (2, True)):
        flow.clock.advance(timedelta(minutes=minutes))
        await claim_counts.count_tick(flow.context, None)
        assert ((await kept(flow)).took < 60_000_000) is is_counted_anew


PARTS_OF_INDEX = """
SELECT child.relname AS name FROM pg_inherits
JOIN pg_class AS child ON child.oid = inhrelid JOIN pg_class AS whole ON whole.oid = inhparent
WHERE whole.relname = 'ix_claims_open'
"""


async def test_open_claims_are_counted_from_an_index_alone_under_row_level_security(new_place):
    place = await new_place("postgresql")
    compiled = operating_counts._OPEN_CLAIMS.compiled_for("postgresql")
    connection = await asyncpg.connect(place.url)
    try:
        await prepare_connection(connection)  # with the rights of our own statements
        async with connection.transaction():
            await connection.execute(_allow_owners(SCOPE))
            await connection.execute(
                "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off"
            )
            values = dict.fromkeys(compiled.parameters, 0)
            rows = await connection.fetch(f"EXPLAIN {compiled.text}", *compiled.arguments(values))
            parts = await connection.fetch(PARTS_OF_INDEX)
    finally:
        await connection.close()
    plan = "\n".join(row[0] for row in rows)
    # The table is partitioned, and each part has its part of the index.
    assert parts
    missing = [
        each["name"] for each in parts if f"Index Only Scan using {each['name']} on " not in plan
    ]
    assert not missing, plan
    assert "Seq Scan" not in plan
