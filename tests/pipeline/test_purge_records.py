"""Records go when their retention period is over, all that belongs together, and nothing that is held; money still adds up.

Also tests `store/retention/old_claims`, `store/retention/old_payer_files`, `store/retention/old_data_keys`,
`store/retention/periods`, `store/retention/legal_holds`, `pipeline/retention/cutoffs`, `kernel/retention_kinds` and
`store/database/schema/retention`.
"""

from datetime import timedelta

import pytest
from sqlalchemy import LargeBinary, func, literal, select, update

from clearlane.kernel.clock import to_micros
from clearlane.kernel.retention_kinds import RETENTION, RetentionKind
from clearlane.pipeline.filing.checkpoints import make_checkpoints
from clearlane.pipeline.retention.cutoffs import list_cutoffs
from clearlane.pipeline.retention.purge_records import (
    destroy_unused_keys,
    purge_records,
    report_purge,
)
from clearlane.store.audit import audit
from clearlane.store.database import schema
from clearlane.store.database.database import Actor, SystemScope
from clearlane.store.database.schema import metadata
from clearlane.store.database.sql import Statement
from clearlane.store.installation.ledger_check import check_ledger
from clearlane.store.retention import legal_holds, old_data_keys, periods
from clearlane.store.vault.vault import KEY_CLASSES
from tests.claims.answers import paid, payment
from tests.pipeline.flowing import Flow, accounts

NORA = Actor("operator", "nora")
ALL = SystemScope("a test looks")
TEN_YEARS = timedelta(days=RETENTION[RetentionKind.CLAIMS].days)
DAY = timedelta(days=1)
LEFT = ("audit", "audit_head", "data_keys", "installation_keys", "revisions", "sites", "vendors")


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def count(flow, table, *where):
    async with flow.database.read(ALL) as tx:
        statement = Statement(select(func.count()).select_from(table).where(*where), system=True)
        return (await tx.row(statement))[0]


async def hold(flow, claim_number="", site=None):
    site = site or flow.site

    async def job(tx):
        return await legal_holds.add(
            tx, vendor_id=site.vendor_id, site_id=site.id, claim_number=claim_number, matter="case 7",
            actor="nora", at=to_micros(flow.clock.now()),
        )  # fmt: skip

    return await flow.database.write(legal_holds.SCOPE, job, actor=NORA)


async def release(flow, id):
    async def job(tx):
        await legal_holds.release(tx, id, actor="nora", at=to_micros(flow.clock.now()))

    await flow.database.write(legal_holds.SCOPE, job, actor=NORA)


async def set_period(flow, kind, days, vendor=periods.EVERY_VENDOR):
    await flow.database.write(
        periods.SCOPE, lambda tx: periods.put_period(tx, vendor, kind, days), actor=NORA
    )


async def add_paid_claims(flow, claims=2):
    """Claims that were sent and paid; their numbers."""
    numbers, content = await flow.sent(claims)
    parts = [paid(account, "1", "100", "80") for account in accounts(content)]
    await flow.arrive(payment(*parts, amount=str(80 * claims)))
    await make_checkpoints(flow.context, flow.clock.now() + timedelta(hours=2))
    return numbers


@pytest.mark.both_databases
async def test_everything_about_a_claim_goes_after_ten_years_and_its_keys_with_it(flow):
    await add_paid_claims(flow)
    flow.clock.advance(TEN_YEARS - DAY)
    assert (await purge_records(flow.context, flow.clock.now()))["claims"] == 0
    assert await count(flow, schema.claims) == 2
    flow.clock.advance(2 * DAY)
    lines = {line.kind: line for line in await report_purge(flow.context, flow.clock.now())}
    assert lines[RetentionKind.CLAIMS].counts == {"claims": 2}
    assert await count(flow, schema.claims) == 2  # a report changes nothing
    keys = await count(flow, schema.data_keys)
    removed = await purge_records(flow.context, flow.clock.now())
    destroyed = removed.pop("data keys")
    assert removed.pop("rows of the audit trail") > 2
    assert set(removed.values()) == {1, 2}
    assert removed["claims"] == 2
    assert destroyed == keys == 2  # the others went while the claims were there
    kept = {"inbox", "events", "event_head", "control_numbers", "proof_checkpoints", *LEFT}
    for table in metadata.sorted_tables:
        if {"claim_number", "payment_id", "batch_id"} & set(
            table.c.keys()
        ) and table.name not in kept:
            assert await count(flow, table) == 0, table.name
    assert await count(flow, schema.inbox, func.length(schema.inbox.c.content) > 0) == 0
    assert await count(flow, schema.data_keys, schema.data_keys.c.retention == "records") == 0
    async with flow.database.read(ALL) as tx:
        assert await check_ledger(tx) == []
    assert not (await audit.verify(flow.database, flow.vault, None)).fault
    again = await purge_records(flow.context, flow.clock.now())
    assert set(again.values()) == {0}


@pytest.mark.both_databases
async def test_what_is_held_stays_with_all_that_it_came_from_until_it_is_released(flow):
    first, second = await add_paid_claims(flow)
    flow.clock.advance(TEN_YEARS + DAY)
    held = await hold(flow, first)
    removed = await purge_records(flow.context, flow.clock.now())
    assert (removed["claims"], removed["payments"], removed["files of payers"]) == (1, 0, 0)
    assert (removed["batches"], removed["checkpoints"]) == (0, 0)
    assert await count(flow, schema.claims, schema.claims.c.claim_number == second) == 0
    async with flow.database.read(ALL) as tx:
        assert await check_ledger(tx) == []  # what went is counted
    await release(flow, held)
    of_site = await hold(flow)
    assert (await purge_records(flow.context, flow.clock.now()))["claims"] == 0
    await release(flow, of_site)
    removed = await purge_records(flow.context, flow.clock.now())
    assert (removed["claims"], removed["payments"], removed["batches"]) == (1, 1, 1)


@pytest.mark.one_database
async def test_a_vendor_has_periods_of_its_own_and_the_longest_counts_for_what_is_shared(flow):
    other = await flow.new_site()
    await set_period(flow, RetentionKind.CLAIMS, 3_000)
    await set_period(flow, RetentionKind.CLAIMS, 5_000, other.vendor_id)
    await set_period(flow, RetentionKind.REMITTANCES, 4_000, other.vendor_id)
    now = flow.clock.now()
    found = {
        one.vendor_id: one.before
        for one in await list_cutoffs(
            flow.database, flow.context.limits.kept_days, RetentionKind.CLAIMS, now
        )
    }
    assert found[flow.site.vendor_id] == to_micros(now - timedelta(days=3_000))
    assert found[other.vendor_id] == to_micros(now - timedelta(days=5_000))
    [shared] = await list_cutoffs(
        flow.database, flow.context.limits.kept_days, RetentionKind.REMITTANCES, now
    )
    assert shared.before == to_micros(now - timedelta(days=4_000))
    await set_period(flow, RetentionKind.REMITTANCES, None, other.vendor_id)
    [shared] = await list_cutoffs(
        flow.database, flow.context.limits.kept_days, RetentionKind.REMITTANCES, now
    )
    assert shared.before == to_micros(now - TEN_YEARS)


@pytest.mark.one_database
async def test_a_replaced_claim_stays_as_long_as_the_claim_in_its_place(flow):
    [first] = await flow.submit(1)
    flow.clock.advance(timedelta(days=200))
    async with flow.database.read(ALL) as tx:
        [(updated,)] = await tx.rows(
            Statement(
                select(schema.claims.c.updated_at).where(schema.claims.c.claim_number == first),
                system=True,
            )
        )
    assert updated < to_micros(flow.clock.now())
    [second] = await flow.submit(1)

    async def link(tx):
        claims = schema.claims
        await tx.run(
            Statement(
                update(claims).where(claims.c.claim_number == first).values(successor_id=second),
                system=True,
            )
        )
        await tx.run(
            Statement(
                update(claims).where(claims.c.claim_number == second).values(predecessor_id=first),
                system=True,
            )
        )

    await flow.database.write(ALL, link, actor=NORA)
    flow.clock.advance(TEN_YEARS - timedelta(days=100))
    assert (await purge_records(flow.context, flow.clock.now()))["claims"] == 0
    flow.clock.advance(timedelta(days=120))
    assert (await purge_records(flow.context, flow.clock.now()))["claims"] == 2


@pytest.mark.one_database
async def test_every_sealed_value_is_under_a_key_of_its_site_and_class(flow):
    """What the destruction of keys looks through is all that is sealed, each under the class that it says."""
    await add_paid_claims(flow)
    binary = {
        (table.name, column.name)
        for table in metadata.sorted_tables
        for column in table.c
        if isinstance(column.type, LargeBinary)
    }
    sealed = {
        (name, column) for name, (_, columns) in old_data_keys.SEALED.items() for column in columns
    }
    assert sealed | old_data_keys.NOT_SEALED == binary
    assert not sealed & old_data_keys.NOT_SEALED
    async with flow.database.read(ALL) as tx:
        keys = {
            id: (site, of)
            for id, site, of in await tx.rows(
                Statement(
                    select(
                        schema.data_keys.c.id,
                        schema.data_keys.c.site_id,
                        schema.data_keys.c.retention,
                    )
                )
            )
        }
        seen = 0
        for name, (of, columns) in old_data_keys.SEALED.items():
            table = metadata.tables[name]
            site = table.c.site_id if "site_id" in table.c else literal(0)
            for column in columns:
                for value, owner in await tx.rows(
                    Statement(select(table.c[column], site), system=True)
                ):
                    if value:
                        seen += 1
                        assert keys[int.from_bytes(value[1:9], "big")] == (owner, of.value), name
    assert seen > 8
    names = {"inquiry_responses": "inquiries", "kept form": "", "sandbox": "sandbox_state"}
    for name, of in KEY_CLASSES.items():
        table = names.get(name, name)
        assert not table or old_data_keys.SEALED[table][0] == of, name


@pytest.mark.one_database
async def test_a_key_is_destroyed_only_when_nothing_needs_it_and_its_month_is_long_over(flow):
    [number] = await flow.submit(1)
    flow.clock.advance(timedelta(days=40))
    assert await destroy_unused_keys(flow.context, flow.clock.now()) == 0  # too early
    flow.clock.advance(timedelta(days=60))
    before = await count(flow, schema.data_keys)
    destroyed = await destroy_unused_keys(flow.context, flow.clock.now())
    assert 0 < destroyed < before
    await flow.vault.load()
    assert (await flow.status(number)) is not None
    assert await destroy_unused_keys(flow.context, flow.clock.now()) == 0
