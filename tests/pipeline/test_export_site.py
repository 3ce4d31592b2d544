"""A site's data go out whole, page by page, and go on after an interruption; then they are erased, and others are not touched.

Also tests `pipeline/operator/erase_site`, `store/retention/site_rows` and `store/retention/site_erasure`.
"""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from clearlane.accounts.model import SiteState
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.operator import export_site
from clearlane.pipeline.operator.erase_site import erase_site, plan_erasure
from clearlane.pipeline.operator.export_site import SiteExport, verify_export
from clearlane.store.audit import audit
from clearlane.store.database import schema
from clearlane.store.database.database import Actor, OperationRefused, SystemScope
from clearlane.store.database.sql import CLIENT_TABLES, Statement
from clearlane.store.installation.ledger_check import check_ledger
from clearlane.store.retention import legal_holds, site_erasure
from tests.claims.answers import paid, payment
from tests.pipeline.flowing import Flow, accounts

NORA = Actor("operator", "nora")
ALL = SystemScope("a test looks")
KEYS_REVISION = Statement(
    select(schema.revisions.c.revision).where(schema.revisions.c.name == "keys")
)


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def two_paid_sites(flow):
    """Two sites whose claims one payer paid, each with one more claim that was not answered."""
    other = await flow.new_site()
    numbers = {site.id: await flow.submit(2, site=site) for site in (flow.site, other)}
    content = await flow.send()
    parts = [paid(account, "1", "100", "80") for account in accounts(content)]
    await flow.arrive(payment(*parts, amount=str(80 * len(parts))))
    return other, numbers


async def export(flow, directory, site=None):
    making = SiteExport(flow.context, site or flow.site, directory)
    return [page async for page in making.run(NORA)]


def lines(directory, name):
    return [json.loads(line) for line in (directory / name).read_bytes().splitlines()]


async def count(flow, table, site):
    async with flow.database.read(ALL) as tx:
        statement = Statement(
            select(func.count()).select_from(table).where(table.c.site_id == site.id), system=True
        )
        return (await tx.row(statement))[0]


async def contents(flow):
    """Whether each file of a payer has its content."""
    async with flow.database.read(ALL) as tx:
        length = func.length(schema.inbox.c.content)
        rows = await tx.rows(Statement(select(length).order_by(schema.inbox.c.id)))
    return [size > 0 for (size,) in rows]


@pytest.mark.both_databases
async def test_an_export_holds_what_is_the_sites_and_nothing_else(flow, tmp_path):
    other, numbers = await two_paid_sites(flow)
    target = tmp_path / "out"
    await export(flow, target)
    found = lines(target, "claims.jsonl")
    assert [one["claim_number"] for one in found] == sorted(numbers[flow.site.id])
    first = found[0]
    assert first["content"][
        "vendorClaimId" if "vendorClaimId" in first["content"] else next(iter(first["content"]))
    ]
    assert {fact["kind"] for fact in first["facts"]} >= {"sent", "payment"} or first["facts"]
    assert first["sendings"][0]["delivered_at"]
    assert first["status"]
    shown = lines(target, "documents.jsonl")
    assert {one["claim_number"] for one in shown} == set(numbers[flow.site.id])
    assert all(one["x12"].startswith("ISA") for one in shown)
    [share] = lines(target, "payments.jsonl")
    assert len(share["claim_payments"]) == 2
    assert (target / "claims.x12").read_bytes().count(b"ISA*") == 2
    manifest = verify_export(target)
    assert manifest["files"]["claims.jsonl"]["rows"] == 2
    everything = b"".join(one.read_bytes() for one in target.iterdir() if one.is_file())
    assert not any(number.encode() in everything for number in numbers[other.id])
    assert {oct(one.stat().st_mode)[-3:] for one in target.iterdir() if one.is_file()} == {"600"}
    (target / "claims.x12").write_bytes(b"other")
    with pytest.raises(OperationRefused, match="changed after the export"):
        verify_export(target)
    with pytest.raises(OperationRefused, match="finished export"):
        await export(flow, target)


@pytest.mark.one_database
async def test_an_interrupted_export_goes_on_and_is_the_same(flow, tmp_path, monkeypatch):
    await two_paid_sites(flow)
    monkeypatch.setattr(export_site, "CLAIMS_AT_ONCE", 1)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    await export(flow, whole)
    making = SiteExport(flow.context, flow.site, broken)
    async for _ in making.run(NORA):
        break  # after the first page
    with (broken / "claims.jsonl").open("ab") as file:
        file.write(b"half a li")  # what a crash leaves
    await export(flow, broken)
    for name in ("claims.jsonl", "documents.jsonl", "payments.jsonl"):
        assert (whole / name).read_bytes() == (broken / name).read_bytes(), name
    with pytest.raises(OperationRefused, match="not empty"):
        await export(flow, tmp_path)


@pytest.mark.both_databases
async def test_an_erased_site_leaves_nothing_but_what_the_certificate_says(flow, tmp_path):
    other, numbers = await two_paid_sites(flow)
    [waiting] = await flow.submit(1)
    target, suspended = tmp_path / "out", replace(flow.site, state=SiteState.SUSPENDED)

    async def refused(site, match):
        with pytest.raises(OperationRefused, match=match):
            await plan_erasure(flow.context, site, target)

    await refused(suspended, "no finished export")
    await export(flow, target)
    await refused(flow.site, "suspend it first")
    await refused(suspended, "1 claims wait to be sent")
    flow.clock.advance(timedelta(minutes=1))
    await flow.send()
    await refused(suspended, "changed since the export")
    target = tmp_path / "again"
    await export(flow, target)
    held = await flow.database.write(
        legal_holds.SCOPE,
        lambda tx: legal_holds.add(
            tx, vendor_id=flow.site.vendor_id, site_id=flow.site.id, claim_number=waiting, matter="case 7",
            actor="nora", at=1,
        ),
        actor=NORA,
    )  # fmt: skip
    await refused(suspended, r"Legal holds are in force: 1 \(case 7\)")
    await flow.database.write(
        legal_holds.SCOPE,
        lambda tx: legal_holds.release(tx, held, actor="nora", at=to_micros(flow.clock.now())),
        actor=NORA,
    )
    async with flow.database.read(ALL) as tx:
        known = await tx.row(KEYS_REVISION)
    before = {
        name: await count(flow, table, other)
        for name, table in CLIENT_TABLES.items()
        if "site_id" in table.c
    }
    plan = await plan_erasure(flow.context, suspended, target)
    assert plan.open_claims >= 1
    until = flow.clock.now()
    certificate = json.loads(await erase_site(flow.context, plan, backups_until=until, actor=NORA))[
        "content"
    ]
    assert certificate["destroyed"]["rows"]["claims"] == 3
    assert certificate["destroyed"]["data_keys"] > 0
    assert certificate["backups"]["hold_it_until"] == f"{until:%Y-%m-%d}"
    # A file and a payment are about both sites.
    assert {one["count"] for one in certificate["kept"] if "count" in one} == {1}
    assert await contents(flow) == [True]
    for name, table in CLIENT_TABLES.items():
        if "site_id" in table.c:
            if name not in site_erasure.KEPT_TABLES:
                assert await count(flow, table, flow.site) == 0, name
            assert await count(flow, table, other) == before[name], name
    assert await count(flow, schema.data_keys, flow.site) == 0
    async with flow.database.read(ALL) as tx:
        assert await tx.row(KEYS_REVISION) != known
    await flow.vault.load()  # as every node does when the revision of the keys changes
    assert not flow.vault.has_current_key(flow.site.scope)
    assert flow.vault.has_current_key(other.scope)
    assert await flow.status(numbers[other.id][0], other) is not None
    async with flow.database.read(ALL) as tx:
        assert await check_ledger(tx) == []
    assert not (await audit.verify(flow.database, flow.vault, None)).fault
    # A second run finds nothing left to do.
    again = await erase_site(flow.context, plan, backups_until=None, actor=NORA)
    assert json.loads(again)["content"]["destroyed"]["rows"] == {"claims": 0, "payment_shares": 0}


@pytest.mark.one_database
async def test_files_and_payments_about_an_erased_site_alone_go_with_it(flow, tmp_path):
    _, content = await flow.sent(2)
    parts = [paid(account, "1", "100", "80") for account in accounts(content)]
    await flow.arrive(payment(*parts, amount="160"))
    assert await contents(flow) == [True]
    await export(flow, tmp_path / "out")
    suspended = replace(flow.site, state=SiteState.SUSPENDED)
    plan = await plan_erasure(flow.context, suspended, tmp_path / "out")
    certificate = json.loads(await erase_site(flow.context, plan, backups_until=None, actor=NORA))
    assert {one["count"] for one in certificate["content"]["kept"] if "count" in one} == {0}
    assert await contents(flow) == [False]
    async with flow.database.read(ALL) as tx:
        payments = await tx.rows(Statement(select(schema.payments.c.payment_id)))
        assert payments == []
        assert await check_ledger(tx) == []
