"""The page of retention: periods, legal holds, and what the last purges did, for operators."""

import re

import pytest

from clearlane.accounts.users import ConsoleRole
from clearlane.kernel.clock import to_micros
from clearlane.kernel.faults import WorkFailed
from clearlane.kernel.retention_kinds import RETENTION, RetentionKind
from clearlane.pipeline.retention.purge_runs import PURGE_WORDS, Purge, record_purge
from clearlane.store.retention import legal_holds, periods
from tests.console.sandbox_console import open_sandbox_console
from tests.console.signed_in_console import BY

pytestmark = pytest.mark.one_database


@pytest.fixture
async def sandbox(tmp_path):
    async with open_sandbox_console(tmp_path) as made:
        yield made


@pytest.fixture
async def operator(sandbox):
    return await sandbox.person(ConsoleRole.OPERATOR)


def rows(page, name):
    """The rows of a table by its name, as text."""
    table = page.partition(f'aria-label="{name}, a table"')[2].partition("</tbody>")[0]
    body = table.partition("<tbody>")[2]
    return [
        " ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in body.split("</tr>") if row.strip()
    ]


async def write(sandbox, scope, job):
    return await sandbox.installation.database.write(scope, job, actor=BY)


async def hold(sandbox, claim_number, matter):
    site = sandbox.site("A-1")

    async def job(tx):
        return await legal_holds.add(
            tx, vendor_id=site.vendor_id, site_id=site.id, claim_number=claim_number, matter=matter,
            actor="nora", at=to_micros(sandbox.installation.clock.now()),
        )  # fmt: skip

    return await write(sandbox, legal_holds.SCOPE, job)


async def test_periods_are_those_in_force_with_those_of_vendors(sandbox, operator):
    page = await operator.text("/retention")
    found = rows(page, "Periods")
    assert len(found) == len(RetentionKind)
    assert found[0].startswith(f"claims {RETENTION[RetentionKind.CLAIMS].title} 3,653 days 2,192")
    vendor = sandbox.installation.accounts.vendor("ACME")
    for of, days in ((vendor.id, 4_018), (periods.EVERY_VENDOR, 3_700)):
        await write(
            sandbox,
            periods.SCOPE,
            lambda tx, of=of, days=days: periods.put_period(tx, of, RetentionKind.CLAIMS, days),
        )
    [claims, *_] = rows(await operator.text("/retention"), "Periods")
    assert "3,700 days default 3,653 2,192" in claims
    assert claims.endswith(f"{vendor.name}: 4,018 days")


async def test_what_is_on_hold_is_listed_and_what_was_released_on_demand(sandbox, operator):
    page = await operator.text("/retention")
    assert "No legal hold is in force." in page
    states = [row.startswith("Not run yet") for row in rows(page, "Purges")]
    assert states == [True] * len(PURGE_WORDS)
    first = await hold(sandbox, "", "case <b>7")
    number = await sandbox.send("3001")
    await hold(sandbox, number, "audit 9")
    page = await operator.text("/retention")
    of_claim, of_site = rows(page, "Legal holds")
    assert (number in of_claim, "audit 9" in of_claim) == (True, True)
    assert f'href="/console/claims/{number}"' in page
    assert "Everything of Fernhill Family Practice case &lt;b&gt;7" in of_site
    assert "2 holds in force" in page

    async def release(tx):
        await legal_holds.release(
            tx, first, actor="milo", at=to_micros(sandbox.installation.clock.now())
        )

    await write(sandbox, legal_holds.SCOPE, release)
    page = await operator.text("/retention")
    assert (len(rows(page, "Legal holds")), "1 hold in force" in page) == (1, True)
    [everything] = re.findall(r'href="/console(/retention\?[^"]*)">Released ones too', page)
    page = await operator.text(everything.replace("&amp;", "&"))
    assert "milo" in rows(page, "Legal holds")[1]
    assert "1 hold in force" in page


async def test_each_purge_shows_what_it_removed_or_why_it_failed(sandbox, operator):
    context = sandbox.installation.work_context

    async def remove():
        return {"claims": 1_200, "payments": 0, "data keys": 3}

    async def fail():
        raise WorkFailed("disk-full")

    await record_purge(context, Purge.RECORDS, remove())
    with pytest.raises(WorkFailed):
        await record_purge(context, Purge.FILES, fail())
    page = await operator.text("/retention")
    records, *_, files = rows(page, "Purges")
    assert records.startswith("Done Claims, payments")
    assert records.endswith("Removed: claims 1,200, data keys 3")
    assert files.startswith("Failed Files that sites send and fetch Failed")
    assert "disk-full" in files
    assert "The purge of files that sites send and fetch failed" in await operator.text("/")
