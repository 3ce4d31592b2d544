"""API keys: whom they let in, and how they are stored, rotated, disabled and removed.

Also tests `store/accounts/api_keys`, `store/database/schema/api_key_tables` and `pipeline/access/api_key_uses`.
"""

import asyncio
import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select
from structlog.testing import capture_logs

from clearlane.accounts.api_keys import (
    SCOPE_MEANINGS,
    ApiKey,
    KeyScope,
    KeyState,
    api_key_findings,
    new_api_key,
    read_bearer,
)
from clearlane.accounts.credentials import SecretHash, hash_password
from clearlane.accounts.directory import AccountDirectory
from clearlane.accounts.model import Site, Vendor, VendorState
from clearlane.kernel.ids import SiteId, VendorId
from clearlane.pipeline.access import api_key_uses
from clearlane.pipeline.access.api_key_uses import ApiKeyUses
from clearlane.store.accounts.accounts import (
    SECRETS_PER_ACCOUNT_MAX,
    AccountRefused,
    NewSite,
    add_site,
    add_vendor,
    load_accounts,
    set_vendor_state,
)
from clearlane.store.accounts.api_keys import (
    API_KEYS_PER_VENDOR_MAX,
    NewApiKey,
    add_api_key,
    last_key_uses,
    remove_api_key,
    rotate_api_key,
    set_api_key_state,
)
from clearlane.store.database import schema
from clearlane.store.database.database import Actor, SystemScope
from clearlane.store.database.group_commit import DatabaseUnavailable
from clearlane.store.database.sql import Statement
from tests.patience import until

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PEPPER = b"\x07" * 32
NORA = Actor("operator", "nora")
ACME = Vendor(VendorId(1), "ACME", "Acme Practice Software")
GONE = Vendor(VendorId(2), "GONE", "Gone", state=VendorState.DISABLED)
SITES = [Site(SiteId(number), ACME.id, f"A-{number}", "", "") for number in (1, 2)]
SECRETS = {name: new_api_key(name) for name in ("live", "ended", "old", "off", "gone")}


def key(id, **more):
    values = {
        "vendor_id": ACME.id, "name": id, "scopes": frozenset({KeyScope.READ}), "sites": None,
        "state": KeyState.ACTIVE, "created_at": NOW, "expires_at": None,
    }  # fmt: skip
    secrets = (SecretHash(hash_password(PEPPER, SECRETS[id].encode())),)
    return ApiKey(id=id, **({"secrets": secrets} | values | more))


OLD_END = NOW + timedelta(hours=1)
DIRECTORY = AccountDirectory(
    pepper=PEPPER,
    vendors=[ACME, GONE],
    secrets={},
    sites=SITES,
    api_keys=[
        key("live", sites=frozenset({SiteId(1)})),
        key("ended", expires_at=NOW),
        key(
            "old",
            secrets=(SecretHash(hash_password(PEPPER, SECRETS["old"].encode()), OLD_END),),
        ),
        key("off", state=KeyState.DISABLED),
        key("gone", vendor_id=GONE.id),
    ],
)


def opened(api_key, now=NOW, scheme="Bearer"):
    found = DIRECTORY.authenticate_key(f"{scheme} {api_key}", now)
    return found and found[1].id


def test_a_live_key_of_an_active_vendor_is_accepted_and_no_other():
    assert opened(SECRETS["live"]) == "live"
    assert opened(SECRETS["live"], scheme="bearer  ") == "live"
    assert opened(SECRETS["live"], scheme="Basic") is None
    assert opened(SECRETS["live"][:-1]) is None
    assert opened(SECRETS["live"].replace("live", "off")) is None
    assert opened(SECRETS["live"].replace("live", "nobody")) is None
    assert [opened(SECRETS[id]) for id in ("ended", "off", "gone")] == [None] * 3
    assert opened(SECRETS["ended"], NOW - timedelta(microseconds=1)) == "ended"
    assert opened(SECRETS["old"], OLD_END - timedelta(microseconds=1)) == "old"
    assert opened(SECRETS["old"], OLD_END) is None
    assert DIRECTORY.authenticate_key(None, NOW) is None
    assert DIRECTORY.authenticate(f"Bearer {SECRETS['live']}", NOW) is None
    live = DIRECTORY.api_key("live")
    assert [live.may_use(site) for site in SITES] == [True, False]
    assert all(key("old").may_use(site) for site in SITES)


@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Bearer x", "Bearer clearlane_", "Bearer clearlane_a_", "Bearer clearlane__b",
     "Bearer clearlane_a_b c", "Bearer clearlane_ä_b", "Bearer " + "clearlane_a_" + "b" * 2_000],
)  # fmt: skip
def test_what_is_not_a_key_is_not_read_as_one(header):
    assert read_bearer(header) is None


def test_a_key_has_the_prefix_that_scanners_look_for_and_at_least_160_random_bits():
    made = new_api_key("abc")
    assert made.startswith("clearlane_abc_")
    assert len(made.removeprefix("clearlane_abc_")) * 5.95 > 160
    assert read_bearer(f"Bearer {made}") == (b"abc", made.encode())
    assert made != new_api_key("abc")
    assert SCOPE_MEANINGS.keys() == set(KeyScope)


def test_every_fault_of_a_new_key_is_found_at_once():
    good = {
        "name": "x", "scopes": ["read"], "sites": ["A"], "known_sites": ["A"], "expires_at": None, "now": NOW,
    }  # fmt: skip
    assert api_key_findings(**good) == []
    bad = good | {"name": " ", "scopes": ["webhooks", "all"], "sites": ["B"], "expires_at": NOW}
    found = api_key_findings(**bad)
    assert [one.location for one in found] == ["NAME", "SCOPE", "SCOPE", "SITE", "EXPIRES"]
    assert "read, submit, correct, files, webhooks" in found[1].message
    assert "for all sites" in found[2].message
    [none] = api_key_findings(**good | {"scopes": []})
    assert none.location == "SCOPE"


# ---- in the database ---------------------------------------------------------------------------


@pytest.fixture
async def account(database, clock):
    now = clock.now()
    await add_vendor(database, pepper=PEPPER, key="ACME", name="Acme", now=now, actor=NORA)
    for name in ("A-1", "A-2"):
        await add_site(
            database, NewSite(vendor_key="ACME", vendor_site_id=name), now=now, actor=NORA
        )


async def add(database, clock, **more):
    values = {"vendor_key": "ACME", "name": "Export", "scopes": ["read", "files"]} | more
    return await add_api_key(
        database, NewApiKey(**values), pepper=PEPPER, now=clock.now(), actor=NORA
    )


async def opens(database, clock, api_key):
    accounts = await load_accounts(database, PEPPER)
    return accounts.authenticate_key(f"Bearer {api_key}", clock.now())


async def rotate(database, clock, id, hours):
    return await rotate_api_key(
        database, id, pepper=PEPPER, overlap=timedelta(hours=hours), now=clock.now(), actor=NORA
    )


async def refused(call):
    with pytest.raises(AccountRefused) as caught:
        await call
    return [finding.location for finding in caught.value.findings]


async def rows(database, *columns):
    async with database.read(SystemScope("a test")) as tx:
        return await tx.rows(Statement(select(*columns)))


async def test_a_key_is_added_audited_announced_and_only_its_hash_stored(database, clock, account):
    before = (await rows(database, schema.revisions.c.revision))[0][0]
    ends = clock.now() + timedelta(days=30)
    made = await add(database, clock, sites=["A-2"], expires_at=ends)
    assert made.revision > before
    vendor, found = await opens(database, clock, made.api_key)
    assert (vendor.key, found.id, found.name) == ("ACME", made.id, "Export")
    assert found.scopes == {KeyScope.READ, KeyScope.FILES}
    accounts = await load_accounts(database, PEPPER)
    assert [site.vendor_site_id for site in accounts.sites if found.may_use(site)] == ["A-2"]
    assert (found.expires_at, found.created_at) == (ends, clock.now())
    audited = await rows(database, schema.audit.c.action, schema.audit.c.ids, schema.audit.c.detail)
    action, ids, detail = audited[-1]
    assert (action, json.loads(ids)) == ("api_key.add", [made.id])
    assert "name Export; files read; 1 sites" in detail
    stored = repr(
        [await rows(database, table) for table in (schema.api_keys, schema.api_key_secrets)]
    )
    assert made.api_key not in stored + repr(audited) + repr(made)
    clock.advance(timedelta(days=30))
    assert await opens(database, clock, made.api_key) is None


async def test_a_rotation_leaves_no_gap_and_live_secrets_do_not_pile_up(database, clock, account):
    old = await add(database, clock)
    new = await rotate(database, clock, old.id, 2)
    assert (await opens(database, clock, old.api_key))[1].id == old.id
    assert (await opens(database, clock, new.api_key))[1].id == old.id
    clock.advance(timedelta(hours=2))
    assert await opens(database, clock, old.api_key) is None
    assert await opens(database, clock, new.api_key)
    last = await rotate(database, clock, old.id, 0)
    assert await opens(database, clock, new.api_key) is None
    for _ in range(SECRETS_PER_ACCOUNT_MAX - 1):
        last = await rotate(database, clock, old.id, 1)
    assert await refused(rotate(database, clock, old.id, 1)) == ["OVERLAP"]
    assert await opens(database, clock, last.api_key)
    assert await refused(rotate(database, clock, "none", 1)) == ["ID"]


async def test_a_key_is_disabled_accepted_again_and_removed(database, clock, account):
    made = await add(database, clock)
    off = await set_api_key_state(database, made.id, KeyState.DISABLED, actor=NORA)
    assert off.revision
    assert await opens(database, clock, made.api_key) is None
    again = await set_api_key_state(database, made.id, KeyState.DISABLED, actor=NORA)
    assert again.revision is None
    await set_api_key_state(database, made.id, KeyState.ACTIVE, actor=NORA)
    assert await opens(database, clock, made.api_key)
    await set_vendor_state(database, "ACME", VendorState.DISABLED, actor=NORA)
    assert await opens(database, clock, made.api_key) is None
    await set_vendor_state(database, "ACME", VendorState.ACTIVE, actor=NORA)
    await remove_api_key(database, made.id, actor=NORA)
    assert await opens(database, clock, made.api_key) is None
    assert await rows(database, schema.api_key_secrets) == []
    actions = [action for (action,) in await rows(database, schema.audit.c.action)]
    assert [one for one in actions if one.startswith("api_key.")] == [
        "api_key.add", "api_key.disable", "api_key.enable", "api_key.remove",
    ]  # fmt: skip
    for change in (
        remove_api_key(database, made.id, actor=NORA),
        set_api_key_state(database, made.id, KeyState.ACTIVE, actor=NORA),
    ):
        assert await refused(change) == ["ID"]
    # Its name is free again.
    assert await add(database, clock)


async def test_what_cannot_be_added_changes_nothing(database, clock, account):
    await add(database, clock)
    assert await refused(add(database, clock, name="EXPORT ")) == ["NAME"]
    assert await refused(add(database, clock, vendor_key="NOBODY")) == ["KEY"]
    wrong = add(database, clock, name="", scopes=["all"], sites=["B-1"], expires_at=clock.now())
    assert await refused(wrong) == ["NAME", "SCOPE", "SITE", "EXPIRES"]
    assert len(await rows(database, schema.api_keys.c.name)) == 1
    for number in range(API_KEYS_PER_VENDOR_MAX - 1):
        await add(database, clock, name=f"key {number}")
    assert await refused(add(database, clock, name="one more")) == ["KEY"]


async def test_uses_are_recorded_beside_the_calls_and_once_a_minute(
    database, clock, account, monkeypatch
):
    made = await add(database, clock)
    uses, first = ApiKeyUses(database), clock.now()
    assert await last_key_uses(database) == {}
    revision = await rows(database, schema.revisions.c.revision)
    uses.record(made.id, first)
    await asyncio.gather(*uses._tasks)
    assert await last_key_uses(database) == {made.id: first}
    for second in (1, 2, 3):
        uses.record(made.id, first + timedelta(seconds=second))
    assert not uses._tasks
    # The minute ends here, and not while a slow machine is still in it; the next one ends by itself.
    monkeypatch.setattr(api_key_uses, "RECORDED_SECONDS", 0.05)
    uses._record_noted()

    async def is_recorded():
        return await last_key_uses(database) == {made.id: first + timedelta(seconds=3)}

    await until(is_recorded)
    # A minute without a use ends the watch; an earlier use that comes late changes nothing.
    await until(lambda: not uses._recent)
    uses.record(made.id, first)
    await asyncio.gather(*uses._tasks)
    assert await last_key_uses(database) == {made.id: first + timedelta(seconds=3)}
    assert await rows(database, schema.revisions.c.revision) == revision


async def test_a_use_that_cannot_be_recorded_disturbs_no_one(clock):
    class NoDatabase:
        async def write(self, *_, **__):
            raise DatabaseUnavailable("none")

    uses = ApiKeyUses(NoDatabase())
    uses.record("x", clock.now())
    with capture_logs() as lines:
        await asyncio.gather(*uses._tasks)
    assert [line["event"] for line in lines] == ["use of API keys not recorded"]
