"""Counts and money of an installation with payments agree; each check finds what was changed, also in a backup.

Also tests `store/installation/ledger_check` and `store/installation/backup_verification`.
"""

import pytest
from sqlalchemy import update

from clearlane.store.database import schema
from clearlane.store.database.database import Actor, OperationRefused, SystemScope
from clearlane.store.database.sql import Statement
from clearlane.store.installation.backup import write_backup
from clearlane.store.installation.backup_verification import verify_backup, verify_restored
from clearlane.store.installation.ledger_check import check_ledger
from clearlane.store.vault.keys import MasterKeys, new_master_key
from tests.claims.answers import paid, payment
from tests.pipeline.flowing import Flow, accounts

NORA = Actor("operator", "nora")
ALL = SystemScope("a test changes rows by hand")
PAYMENTS, MATCHED, SHARES = schema.payments, schema.claim_payments, schema.payment_shares
CHANGES = (
    (PAYMENTS, {"claims": PAYMENTS.c.claims + 1}, ["as many claim payments as it says"]),
    (PAYMENTS, {"unmatched": 0}, ["as many claim payments as it says"]),
    (
        MATCHED,
        {"paid_cents": MATCHED.c.paid_cents - 1},
        ["paid on claims is the sum", "share of a payment is the sum"],
    ),
    (
        PAYMENTS,
        {"adjustment_cents": 5},
        ["adjustments of a payment are the sum", "payment that balances"],
    ),
    (PAYMENTS, {"amount_cents": 1}, ["payment that balances"]),
    (SHARES, {"claims": SHARES.c.claims + 1}, ["share of a payment is the sum"]),
    (schema.batches, {"claims": schema.batches.c.claims - 1}, ["batch has as many claims"]),
    (schema.audit_head, {"seq": schema.audit_head.c.seq + 1}, ["audit trail has as many rows"]),
)


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def faults_after(database, change=None):
    """What is found after a change, which is rolled back."""
    found = []

    async def job(tx):
        if change is not None:
            await tx.run(Statement(change, system=True))
        found.extend(one.sentence for one in await check_ledger(tx))
        raise LookupError

    with pytest.raises(LookupError):
        await database.write(ALL, job, actor=NORA)
    return found


@pytest.mark.both_databases
async def test_each_check_finds_what_does_not_agree(flow):
    _, content = await flow.sent(2)
    known = [paid(account, "1", "100", "80") for account in accounts(content)]
    await flow.arrive(payment(*known, paid("UNKNOWN", "1", "100", "40"), amount="200"))
    assert await faults_after(flow.database) == []
    for table, values, expected in CHANGES:
        found = await faults_after(flow.database, update(table).values(**values))
        assert len(found) == len(expected), (table.name, values, found)
        assert all(want in said for want, said in zip(expected, found, strict=True))
        assert all("it does not hold for " in said for said in found)
    verified = await verify_restored(flow.database, flow.vault)
    assert (verified.faults, verified.manifest) == ((), None)
    assert verified.rows["claim_payments"] == 2


@pytest.mark.one_database
async def test_a_backup_is_tried_in_a_scratch_place_that_is_left_empty(
    flow, place, clock, tmp_path
):
    _, content = await flow.sent(1)
    await flow.arrive(payment(paid(accounts(content)[0], "1", "100", "80")))
    keys, scratch = place.keys(), tmp_path / "scratch"

    async def tried(name, with_keys=keys):
        target = tmp_path / name
        if not target.exists():
            await write_backup(
                flow.database, flow.vault, file=place.sqlite_file, target=target, clock=clock, actor=NORA,
            )  # fmt: skip
        return await verify_backup(target, scratch=scratch, keys=with_keys, clock=clock)

    good = await tried("good.backup")
    assert (good.faults, good.rows["payments"], good.manifest.audit_seq) == ((), 1, good.audit_rows)
    (tmp_path / "other").write_bytes(b"x")
    with pytest.raises(OperationRefused, match="not a backup of Clearlane"):
        await tried("other")
    with pytest.raises(OperationRefused):
        await tried("good.backup", MasterKeys((new_master_key(),)))
    change = Statement(update(PAYMENTS).values(amount_cents=1), system=True)
    await flow.database.write(ALL, lambda tx: tx.run(change), actor=NORA)
    bad = await tried("bad.backup")
    assert [said.partition(":")[0] for said in bad.faults] == [
        "A payment that balances is what was paid on claims and adjusted"
    ]
    assert list(scratch.iterdir()) == []
