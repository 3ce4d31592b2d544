"""Old rows leave the trail as a prefix, behind a signed record; everything else is still found by a verification.

Also tests `pipeline/retention/cut_audit_trail`.
"""

import json
from datetime import timedelta

import msgspec
import pytest

from clearlane.kernel.clock import to_micros
from clearlane.kernel.retention_kinds import RETENTION, RetentionKind
from clearlane.pipeline.retention.cut_audit_trail import cut_audit_trail
from clearlane.pipeline.retention.purge_records import purge_records, report_purge
from clearlane.proofs.signing import has_signature, public_key_of, with_signature
from clearlane.store.audit import audit
from clearlane.store.audit.anchor import Anchor, AnchorNote, AnchorVerdict, compare
from clearlane.store.audit.audit_chain import ChainHead
from clearlane.store.audit.audit_search import trail_length
from clearlane.store.audit.trail_cut import TrailCut, cut_page, read_cut
from clearlane.store.database import schema
from clearlane.store.database.database import Actor, StoreFault, SystemScope
from clearlane.store.database.schema import ANCHORED_ACTION
from clearlane.store.database.sql import Statement
from clearlane.store.installation.ledger_check import check_ledger
from clearlane.store.retention import legal_holds
from clearlane.store.vault.vault import Vault
from tests.pipeline.flowing import Flow
from tests.store.test_audit import ALL, OPERATOR, Trail

pytestmark = pytest.mark.both_databases
OLD, YOUNG = 6, 4
DAYS = RETENTION[RetentionKind.AUDIT].days
REMOVE = "DELETE FROM audit WHERE seq <= {}"


@pytest.fixture
async def trail(place, database, clock):
    """Six rows, and four that are a year younger."""
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    made = Trail(place, database, vault)
    await made.grow(OLD)
    clock.advance(timedelta(days=365))
    await made.grow(YOUNG)
    made.remember(await audit.read_head(database))
    return made


async def cut(trail, clock, limit=100):
    """Remove what is older than the last row, as a job does."""

    async def job(tx):
        before = to_micros(clock.now())
        removed = await cut_page(tx, trail.vault, before=before, limit=limit, now=clock.now())
        if removed:
            tx.audit("audit.purged", count=len(removed))
        return [row.seq for row in removed]

    return await trail.database.write(ALL, job, actor=OPERATOR)


async def stored(trail):
    async with trail.database.read(ALL) as tx:
        rows = await tx.rows(Statement(schema.audit.select().with_only_columns(schema.audit.c.seq)))
        return sorted(seq for (seq,) in rows)


async def test_a_prefix_goes_and_the_rest_is_whole(trail, clock):
    assert await cut(trail, clock, limit=4) == [1, 2, 3, 4]
    assert await cut(trail, clock) == [5, 6]
    assert await cut(trail, clock) == []
    verified = await trail.verify()
    assert (verified.fault, verified.rows, verified.cut) == ("", 12, 6)
    assert verified.cut_until.startswith(f"{clock.now() - timedelta(days=365):%Y-%m-%d}")
    assert await stored(trail) == list(range(7, 13))
    assert await trail_length(trail.database) == 6
    async with trail.database.read(ALL) as tx:
        record = await read_cut(tx, trail.vault)
        assert await check_ledger(tx) == []
    assert has_signature(record)
    assert record.key == public_key_of(trail.vault.proof_seed).hex()
    await trail.grow(2)
    assert not (await trail.verify()).fault


async def test_the_last_row_stays_and_nothing_can_be_removed_by_hand(trail, clock):
    clock.advance(timedelta(days=1))
    assert await cut(trail, clock) == list(range(1, OLD + YOUNG))
    remove = Statement(schema.audit.delete(), system=True)
    with pytest.raises(StoreFault):
        await trail.database.write(ALL, lambda tx: tx.run(remove), actor=OPERATOR)
    assert await stored(trail) == [10, 11]
    assert not (await trail.verify()).fault


async def test_an_anchor_that_remembers_a_removed_row_is_no_fault(trail, clock):
    old = Anchor(trail.place.data / "old.anchor", trail.key)
    async with trail.database.read(ALL) as tx:
        rows = await tx.rows(audit._PAGE, after=2, size=1)
    with old.locked():
        old.advance(AnchorNote(ChainHead(3, rows[0][11])))
    await cut(trail, clock)
    assert not (await trail.verify(old)).fault
    async with trail.database.read(ALL) as tx:
        assert (await compare(tx, old, shared=False))[0] is AnchorVerdict.HELD


def record_of(trail, **changed):
    """A record as this installation signs it."""
    values = {"seq": 3, "hash": "00" * 32, "until": "2026-01-01T00:00:00.000000Z", "signed_at": "2026-01-01T00:00:00.000000Z"}  # fmt: skip
    return with_signature(trail.vault.proof_seed, TrailCut(**values | changed))


def of_another(trail):
    return with_signature(bytes(32), record_of(trail))


def with_another_row(trail):
    return msgspec.structs.replace(record_of(trail), seq=4)


FORGED = {
    "no record": lambda trail: "",
    "no json": lambda trail: "{",
    "another installation's": of_another,
    "changed after it was signed": with_another_row,
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
async def test_rows_that_were_removed_by_hand_are_missed(trail, forge):
    made = forge(trail)
    text = made if isinstance(made, str) else msgspec.json.encode(made).decode()
    seq = json.loads(text)["seq"] if text.endswith("}") else 3
    await trail.tamper(f"UPDATE audit_cut SET seq = {seq}, record = '{text}'", REMOVE.format(seq))
    verified = await trail.verify()
    assert verified.seq == 1
    assert "not signed by this installation" in verified.fault


async def test_a_record_of_other_rows_does_not_fit(trail, clock):
    await cut(trail, clock)
    async with trail.database.read(ALL) as tx:
        [(_, kept)] = await tx.rows(
            Statement(schema.audit_cut.select().with_only_columns(schema.audit_cut.c.id, schema.audit_cut.c.record))
        )  # fmt: skip
    # Further rows are removed, and the record stays.
    await trail.tamper(REMOVE.format(8))
    assert (await trail.verify()).seq == 7
    # The record is taken away: the rows that it accounts for are missing.
    await trail.tamper("UPDATE audit_cut SET seq = 0, record = ''")
    assert (await trail.verify()).seq == 1
    await trail.tamper(f"UPDATE audit_cut SET seq = 8, record = '{kept}'")
    assert "not signed" in (await trail.verify()).fault
    await trail.tamper("DELETE FROM audit_cut")
    assert "begins is missing" in (await trail.verify()).fault


async def test_the_trail_is_kept_for_its_period_and_while_anything_is_held(place, database, clock):
    flow = await Flow.open(place, database, clock)
    context, nora = flow.context, Actor("operator", "nora")

    async def note(tx):
        tx.audit(ANCHORED_ACTION, ids=["a1"])

    await database.write(ALL, note, actor=nora)
    first = len(await stored(flow))

    async def hold(tx):
        return await legal_holds.add(
            tx, vendor_id=flow.site.vendor_id, site_id=flow.site.id, claim_number="",
            matter="case 7", actor="nora", at=to_micros(clock.now()),
        )  # fmt: skip

    held = await database.write(legal_holds.SCOPE, hold, actor=nora)
    clock.advance(timedelta(days=DAYS, minutes=1))
    await database.write(ALL, _touch, actor=nora)
    assert (await purge_records(context, clock.now()))["rows of the audit trail"] == 0

    async def release(tx):
        await legal_holds.release(tx, held, actor="nora", at=to_micros(clock.now()))

    await database.write(legal_holds.SCOPE, release, actor=nora)
    lines = {line.kind: line for line in await report_purge(context, clock.now())}
    assert lines[RetentionKind.AUDIT].counts == {"rows of the audit trail": first}
    assert await cut_audit_trail(context, DAYS + 1) == 0
    assert (await purge_records(context, clock.now()))["rows of the audit trail"] == first
    verified = await audit.verify(database, flow.vault, None)
    assert (verified.fault, verified.cut) == ("", first)
    # What says that a data directory anchors is said again.
    async with database.read(SystemScope("a test")) as tx:
        rows = await tx.rows(audit._PAGE, after=0, size=1_000)
    assert [json.loads(row[7]) for row in rows if row[5] == ANCHORED_ACTION] == [["a1"]]
    assert [row[8] for row in rows if row[5] == "audit.purged"] == [first]
    assert (await purge_records(context, clock.now()))["rows of the audit trail"] == 0


async def _touch(tx):
    tx.audit("claims.read", ids=["r1"])
