"""Rights and limits of connections, direct and through a real pgbouncer that gives each transaction another connection.

Also tests `store/database/postgresql_connection`.
"""

import asyncio
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit, urlunsplit

import pytest
from sqlalchemy import select

from clearlane.cli.doctor.doctor_checks import DoctorVerdict
from clearlane.cli.doctor.doctor_installation import installation_checks
from clearlane.pipeline.query.claim_filters import ClaimListRequest
from clearlane.pipeline.query.claim_list import find_claims
from clearlane.settings import load
from clearlane.store.claims.claim_query import ClaimListRow
from clearlane.store.database import schema
from clearlane.store.database.database import (
    Actor,
    OperationRefused,
    SystemScope,
    open_database,
)
from clearlane.store.database.postgresql import _is_disconnection
from clearlane.store.database.postgresql_connection import connect, connect_pooled
from clearlane.store.database.sql import Statement
from clearlane.store.installation.nodes import bump_revision
from clearlane.wiring import open_installation
from tests.databases import START, make_site
from tests.manual_clock import ManualClock
from tests.patience import PATIENCE_SECONDS
from tests.pgbouncer import open_pooler
from tests.pipeline.test_secondary_claims import PLAIN, VENDOR, Site835
from tests.store.test_database import CLAIM, a_claim

OPERATOR = Actor("operator", "nora")
ALL = SystemScope("a test")
REFUSAL = "leads to a pooler such as pgbouncer.*Set CLEARLANE_DATABASE_DIRECT_URL"


@pytest.fixture(scope="module")
def pooler(postgresql_server):
    """Yield a function that turns an address of the server into one through its pooler."""
    with open_pooler(postgresql_server) as url:
        query = urlsplit(url).query
        yield lambda direct: urlunsplit(urlsplit(direct)._replace(query=query))


@pytest.fixture
async def place(new_place):
    return await new_place("postgresql")


async def opened(place, url, direct_url, clock=None):
    return await open_database(
        url=url,
        direct_url=direct_url,
        sqlite_file=place.sqlite_file,
        connections=8,
        keys=place.keys(),
        anchor=place.data / "audit.anchor",
        clock=clock or ManualClock(START),
    )


async def test_a_pooler_is_refused_until_the_direct_address_is_given(place, pooler, monkeypatch):
    url = pooler(place.url)
    tries = (replace(place, url=url).open, partial(connect, url), partial(opened, place, url, url))
    for refused in tries:
        with pytest.raises(OperationRefused, match=REFUSAL):
            await refused()
    monkeypatch.setenv("CLEARLANE_DATABASE_URL", url)
    place.keys()
    *_, check = await asyncio.to_thread(lambda: list(installation_checks(place.data)))
    assert (check.name, check.verdict) == ("database", DoctorVerdict.FAULT)
    assert "Set CLEARLANE_DATABASE_DIRECT_URL" in check.do


async def test_two_addresses_of_different_databases_are_refused(place, pooler):
    other = urlunsplit(urlsplit(place.url)._replace(path="/postgres"))
    with pytest.raises(OperationRefused, match="lead to different databases or servers"):
        await opened(place, pooler(place.url), other)


async def test_an_unusable_pooler_is_refused_without_its_password(place):
    with pytest.raises(OperationRefused) as caught:
        await opened(place, "postgresql://user:pass-word@127.0.0.1:1/none", place.url)
    assert "cannot be reached" in str(caught.value)
    assert "pass-word" not in str(caught.value)


async def test_vendors_do_not_see_each_other_behind_a_pooler(place, pooler):
    database = await opened(place, pooler(place.url), place.url)
    # As if a statement's own check of the owner had a hole: only the role of its transaction is left.
    everything = Statement(select(schema.claims.c.claim_number), system=True)
    everything.system = False
    scopes = [await make_site(database) for _ in range(2)]
    raw = await connect_pooled(pooler(place.url))
    try:
        await asyncio.gather(*(
            database.write(scope, lambda tx, at=at: tx.run(CLAIM, **a_claim(f"r{at}")), actor=OPERATOR)
            for at, scope in enumerate(scopes)
        ))  # fmt: skip

        async def seen(at):
            async with database.read(scopes[at % 2]) as tx:
                return await tx.rows(everything)

        found = await asyncio.gather(*map(seen, range(24)))
        assert found == [[(f"r{at % 2}",)] for at in range(24)]
        found = await asyncio.gather(*(
            database.write(scopes[at % 2], lambda tx: tx.rows(everything), actor=OPERATOR)
            for at in range(24)
        ))  # fmt: skip
        assert found == [[(f"r{at % 2}",)] for at in range(24)]
        # Nothing of ours is left on the connections that other clients of the pooler get.
        for _ in range(6):
            async with raw.transaction():
                left = await raw.fetchrow(
                    "SELECT current_user = session_user, current_setting('lock_timeout'), "
                    "current_setting('clearlane.vendors', true)"
                )
            assert tuple(left) in {(True, "0", None), (True, "0", "")}
    finally:
        await raw.close()
        await database.close()


async def test_a_change_is_signaled_over_the_direct_address(place, pooler):
    database = await opened(place, pooler(place.url), place.url)
    signal = database.change_signal()
    try:
        await signal.wait(PATIENCE_SECONDS)  # it connects, and says so
        waiting = asyncio.create_task(signal.wait(PATIENCE_SECONDS))
        await asyncio.sleep(0)
        await database.write(ALL, lambda tx: bump_revision(tx, "payers"), actor=OPERATOR)
        async with asyncio.timeout(PATIENCE_SECONDS / 2):
            await waiting
    finally:
        await signal.close()
        await database.close()


@pytest.mark.slow
async def test_a_claim_goes_through_to_its_payment_behind_a_pooler(place, pooler):
    settings = load(
        environ={},
        overrides={
            "mode": "sandbox", "data": place.data, "database_url": pooler(place.url),
            "database_direct_url": place.url,
        },
    )  # fmt: skip
    async with open_installation(settings, role="worker") as installation:
        await make_site(installation.database)
        await installation.refresh()
        site = Site835(installation)
        await installation.sandbox_runtime.simulator.freeze(VENDOR)
        (number,) = await site.submit(PLAIN | {"F01A_InsuredId": "3001"})
        await site.days(20)
        [(_, row)] = await find_claims(
            site.context, [site.site.scope], ClaimListRequest(given={}, limit=9), ClaimListRow
        )
        assert (row.claim_number, row.label) == (number, "paid")
        assert row.paid_cents > 0


def test_an_error_that_ends_the_connection_leaves_a_commit_open():
    def fault(state):
        return type("Fault", (Exception,), {"sqlstate": state})()

    assert all(map(_is_disconnection, map(fault, ("08P01", "57P01", "08006"))))
    assert not any(map(_is_disconnection, map(fault, ("40001", "53100", None))))
