"""Accounts in the database: every change is stored, audited and announced, or nothing is.

Also tests `store/accounts/accounts` and `store/installation/sandbox_account`.
"""

import asyncio
import base64
import json
from datetime import timedelta

import pytest
from sqlalchemy import select

from clearlane.accounts.model import SiteState, VendorState
from clearlane.kernel import limits
from clearlane.store.accounts.accounts import (
    SECRETS_PER_ACCOUNT_MAX,
    VENDOR_SITE_ID_CHARACTERS,
    AccountRefused,
    NewSite,
    accept_baa,
    add_site,
    add_vendor,
    load_accounts,
    revoke_baa,
    rotate_secret,
    set_site_state,
    set_vendor_proxy_login,
    set_vendor_rate,
    set_vendor_state,
)
from clearlane.store.database import schema
from clearlane.store.database.database import Actor, SystemScope
from clearlane.store.database.sql import Statement
from clearlane.store.installation.sandbox_account import (
    SANDBOX_SITE_ID,
    SANDBOX_VENDOR_KEY,
    ensure_sandbox_account,
)

pytestmark = pytest.mark.one_database

PEPPER = b"\x07" * 32
NORA = Actor("operator", "nora")
ALL = SystemScope("a test")
AUDIT = Statement(
    select(schema.audit.c.action, schema.audit.c.ids, schema.audit.c.actor).order_by(
        schema.audit.c.seq
    )
)
REVISION = Statement(
    select(schema.revisions.c.revision).where(schema.revisions.c.name == "accounts")
)
EVERYTHING = Statement(select(schema.vendor_secrets))


def header(key, password):
    return "Basic " + base64.b64encode(f"{key}:{password}".encode()).decode()


async def vendor(database, clock, key="ACME", **more):
    values = {"name": "Acme"} | more
    return await add_vendor(database, pepper=PEPPER, key=key, now=clock.now(), actor=NORA, **values)


async def site(database, clock, **values):
    values = {"vendor_key": "ACME"} | values
    return await add_site(database, NewSite(**values), now=clock.now(), actor=NORA)


async def opens(database, clock, key, password):
    return (await load_accounts(database, PEPPER)).authenticate(header(key, password), clock.now())


async def rows(database, statement):
    async with database.read(ALL) as tx:
        return await tx.rows(statement)


async def audited(database):
    return [(action, json.loads(ids)) for action, ids, _ in await rows(database, AUDIT)]


async def refused(call):
    with pytest.raises(AccountRefused) as caught:
        await call
    return [finding.location for finding in caught.value.findings]


@pytest.mark.both_databases
async def test_a_vendor_gets_in_with_the_password_that_was_shown(database, clock):
    done = await vendor(database, clock, rate_per_minute=60)
    password = done.credentials.password
    assert len(password) == limits.SECRET_CHARACTERS >= 24
    assert password.isalnum()
    found = await opens(database, clock, "ACME", password)
    assert (found.key, found.name, found.state, found.proxy_login, found.rate_per_minute) == (
        "ACME", "Acme", "active", True, 60,
    )  # fmt: skip
    assert await opens(database, clock, "ACME", password[:-1]) is None
    assert await audited(database) == [("vendor.add", ["ACME"])]
    assert await rows(database, REVISION) == [(done.revision,)]


async def test_the_password_itself_is_nowhere_in_the_database(database, clock):
    done = await vendor(database, clock)
    stored = repr(await rows(database, EVERYTHING)) + repr(await rows(database, AUDIT))
    assert done.credentials.password not in stored
    assert done.credentials.password not in repr(done)


async def test_two_vendors_never_get_the_same_password(database, clock):
    one, other = await vendor(database, clock, "A"), await vendor(database, clock, "B")
    assert one.credentials.password != other.credentials.password


@pytest.mark.both_databases
@pytest.mark.parametrize("key", ["ACME", "acme", "Acme"])
async def test_a_key_that_is_taken_in_any_case_is_refused_and_nothing_stored(database, clock, key):
    await vendor(database, clock)
    assert await refused(vendor(database, clock, key)) == ["KEY"]
    assert len(await audited(database)) == 1
    assert len((await load_accounts(database, PEPPER)).vendors) == 1


async def test_every_fault_of_a_vendor_is_refused_at_once(database, clock):
    call = vendor(database, clock, "a:b", name="", rate_per_minute=0)
    assert await refused(call) == ["KEY", "NAME", "LIMIT"]


@pytest.mark.both_databases
async def test_the_same_key_added_at_the_same_time_is_added_once(database, clock):
    both = await asyncio.gather(
        vendor(database, clock), vendor(database, clock), return_exceptions=True
    )
    assert sum(isinstance(outcome, AccountRefused) for outcome in both) == 1
    assert len((await load_accounts(database, PEPPER)).vendors) == 1


async def rotate(database, clock, overlap=timedelta(), key="ACME"):
    return await rotate_secret(
        database, pepper=PEPPER, key=key, overlap=overlap, now=clock.now(), actor=NORA
    )


@pytest.mark.both_databases
async def test_after_a_rotation_both_passwords_open_until_the_overlap_ends(database, clock):
    old = (await vendor(database, clock)).credentials.password
    new = (await rotate(database, clock, timedelta(hours=24))).credentials.password
    assert await opens(database, clock, "ACME", old)
    assert await opens(database, clock, "ACME", new)
    clock.advance(timedelta(hours=24))
    assert await opens(database, clock, "ACME", old) is None
    assert await opens(database, clock, "ACME", new)
    assert await audited(database) == [("vendor.add", ["ACME"]), ("vendor.rotate", ["ACME"])]


@pytest.mark.both_databases
async def test_a_rotation_without_overlap_ends_every_old_password_at_once(database, clock):
    first = (await vendor(database, clock)).credentials.password
    second = (await rotate(database, clock, timedelta(hours=24))).credentials.password
    third = (await rotate(database, clock)).credentials.password
    assert await opens(database, clock, "ACME", first) is None
    assert await opens(database, clock, "ACME", second) is None
    assert await opens(database, clock, "ACME", third)
    assert len(await rows(database, EVERYTHING)) == 1


async def test_a_later_rotation_never_lengthens_an_earlier_overlap(database, clock):
    old = (await vendor(database, clock)).credentials.password
    await rotate(database, clock, timedelta(hours=1))
    await rotate(database, clock, timedelta(hours=24))
    clock.advance(timedelta(hours=1))
    assert await opens(database, clock, "ACME", old) is None


@pytest.mark.both_databases
async def test_live_passwords_do_not_pile_up(database, clock):
    await vendor(database, clock)
    for _ in range(SECRETS_PER_ACCOUNT_MAX - 1):
        await rotate(database, clock, timedelta(hours=1))
    assert await refused(rotate(database, clock, timedelta(hours=1))) == ["OVERLAP"]
    await rotate(database, clock)
    assert len(await rows(database, EVERYTHING)) == 1


async def test_a_vendor_nobody_knows_cannot_be_changed(database, clock):
    assert await refused(rotate(database, clock)) == ["KEY"]
    disabled = VendorState.DISABLED
    assert await refused(set_vendor_state(database, "ACME", disabled, actor=NORA)) == ["KEY"]
    assert await refused(set_vendor_rate(database, "ACME", 1, actor=NORA)) == ["KEY"]
    assert await refused(site(database, clock)) == ["KEY"]
    assert await audited(database) == []


async def test_a_disabled_vendor_stays_out_until_it_is_enabled(database, clock):
    password = (await vendor(database, clock)).credentials.password
    await set_vendor_state(database, "ACME", VendorState.DISABLED, actor=NORA)
    assert await opens(database, clock, "ACME", password) is None
    await set_vendor_state(database, "ACME", VendorState.ACTIVE, actor=NORA)
    assert await opens(database, clock, "ACME", password)
    assert [action for action, _ in await audited(database)][1:] == [
        "vendor.disable",
        "vendor.enable",
    ]


async def test_proxy_login_and_limit_of_a_vendor_change(database, clock):
    await vendor(database, clock)
    await set_vendor_proxy_login(database, "ACME", allowed=False, actor=NORA)
    await set_vendor_rate(database, "ACME", 600, actor=NORA)
    found = (await load_accounts(database, PEPPER)).vendor("ACME")
    assert (found.proxy_login, found.rate_per_minute) == (False, 600)
    await set_vendor_rate(database, "ACME", None, actor=NORA)
    assert (await load_accounts(database, PEPPER)).vendor("ACME").rate_per_minute is None
    assert await refused(set_vendor_rate(database, "ACME", 0, actor=NORA)) == ["LIMIT"]
    assert [action for action, _ in await audited(database)][1:] == [
        "vendor.proxy_login_off", "vendor.limit", "vendor.limit",
    ]  # fmt: skip


async def test_a_change_to_what_is_so_already_is_neither_audited_nor_announced(database, clock):
    first = await vendor(database, clock)
    done = await set_vendor_state(database, "ACME", VendorState.ACTIVE, actor=NORA)
    assert done.revision is None
    assert await rows(database, REVISION) == [(first.revision,)]
    assert len(await audited(database)) == 1


@pytest.mark.both_databases
async def test_each_change_names_who_made_it_and_moves_the_revision(database, clock):
    one = await vendor(database, clock)
    _, two = await site(database, clock, vendor_site_id="S-1")
    assert two.revision == one.revision + 1
    assert {actor for _, _, actor in await rows(database, AUDIT)} == {"operator:nora"}


async def test_a_site_belongs_to_its_vendor(database, clock):
    await vendor(database, clock)
    await vendor(database, clock, "BOLT")
    await site(
        database,
        clock,
        vendor_site_id="S-1",
        client_id="100",
        name=" Larkspur Dental ",
        time_zone="America/Chicago",
        baa_accepted=True,
    )
    accounts = await load_accounts(database, PEPPER)
    acme, bolt = accounts.vendor("ACME"), accounts.vendor("BOLT")
    found = accounts.site(acme, "S-1")
    assert (found.client_id, found.name, found.time_zone) == (
        "100",
        "Larkspur Dental",
        "America/Chicago",
    )
    assert (found.state, found.baa_accepted, found.scope.vendor) == ("active", True, acme.id)
    assert accounts.site(bolt, "S-1") is None


async def test_a_site_gets_an_id_of_the_services_making(database, clock):
    await vendor(database, clock)
    one, _ = await site(database, clock)
    other, _ = await site(database, clock)
    assert one != other
    assert len(one) == VENDOR_SITE_ID_CHARACTERS
    found = (await load_accounts(database, PEPPER)).any_site(one)
    assert (found.client_id, found.name, found.time_zone, found.baa_accepted) == (
        one,
        one,
        "UTC",
        False,
    )


@pytest.mark.both_databases
async def test_a_vendor_site_id_is_unique_over_all_vendors_in_any_case(database, clock):
    await vendor(database, clock)
    await vendor(database, clock, "BOLT")
    await site(database, clock, vendor_site_id="S-1")
    for key in ("ACME", "BOLT"):
        call = site(database, clock, vendor_key=key, vendor_site_id="s-1")
        assert await refused(call) == ["VENDOR_SITE_ID"]


async def test_every_fault_of_a_site_is_refused_at_once(database, clock):
    call = site(database, clock, vendor_site_id="a b", client_id="?", time_zone="Mars/Base")
    assert await refused(call) == ["VENDOR_SITE_ID", "CLIENT_ID", "TIME_ZONE"]


@pytest.mark.both_databases
async def test_a_site_is_suspended_and_active_again(database, clock):
    await vendor(database, clock)
    id, _ = await site(database, clock)
    for state in (SiteState.SUSPENDED, SiteState.ACTIVE):
        await set_site_state(database, id, state, actor=NORA)
        assert (await load_accounts(database, PEPPER)).any_site(id).state is state
    call = set_site_state(database, "nowhere", SiteState.ACTIVE, actor=NORA)
    assert await refused(call) == ["VENDOR_SITE_ID"]


@pytest.mark.both_databases
async def test_the_first_acceptance_of_the_agreement_stays_until_it_is_revoked(database, clock):
    at = Statement(select(schema.sites.c.baa_accepted_at))
    await vendor(database, clock)
    id, _ = await site(database, clock)
    assert (await accept_baa(database, id, now=clock.now(), actor=NORA)).revision
    first = await rows(database, at)
    clock.advance(timedelta(days=1))
    assert (await accept_baa(database, id, now=clock.now(), actor=NORA)).revision is None
    assert await rows(database, at) == first
    assert (await load_accounts(database, PEPPER)).any_site(id).baa_accepted
    assert (await revoke_baa(database, id, actor=NORA)).revision
    assert not (await load_accounts(database, PEPPER)).any_site(id).baa_accepted
    assert [action for action, _ in await audited(database)][2:] == [
        "site.baa_accept",
        "site.baa_revoke",
    ]


@pytest.mark.both_databases
async def test_a_sandbox_gets_its_account_once(database, clock):
    first = await ensure_sandbox_account(database, PEPPER, clock.now(), None)
    assert (first.vendor_key, first.vendor_site_id) == (SANDBOX_VENDOR_KEY, SANDBOX_SITE_ID)
    found = await opens(database, clock, first.vendor_key, first.password)
    accounts = await load_accounts(database, PEPPER)
    assert accounts.site(found, first.vendor_site_id).baa_accepted
    again = await ensure_sandbox_account(database, PEPPER, clock.now(), None)
    assert again.password is None
    assert again.vendor_site_id == first.vendor_site_id
    assert len(await audited(database)) == 2


async def test_a_wanted_password_comes_back_as_long_as_it_opens(database, clock):
    wanted = "w" * 24
    for _ in range(2):
        found = await ensure_sandbox_account(database, PEPPER, clock.now(), wanted)
        assert found.password == wanted
    await rotate(database, clock, key=SANDBOX_VENDOR_KEY)
    found = await ensure_sandbox_account(database, PEPPER, clock.now(), wanted)
    assert found.password is None
    assert await opens(database, clock, SANDBOX_VENDOR_KEY, wanted) is None


@pytest.mark.parametrize(
    "wanted", ["", "short", "w" * 23, "w" * 200, "w" * 24 + "\u00e9", "w w" * 10]
)
async def test_a_weak_or_odd_wanted_password_is_refused(database, clock, wanted):
    call = ensure_sandbox_account(database, PEPPER, clock.now(), wanted)
    assert await refused(call) == ["PASSWORD"]


@pytest.mark.both_databases
async def test_two_nodes_that_start_together_make_one_sandbox_account(place, clock):
    one, other = await place.open(clock), await place.open(clock)
    try:
        made = await asyncio.gather(
            *(ensure_sandbox_account(each, PEPPER, clock.now(), "w" * 24) for each in (one, other))
        )
        assert {each.password for each in made} == {"w" * 24}
        assert len((await load_accounts(one, PEPPER)).vendors) == 1
    finally:
        await one.close()
        await other.close()
