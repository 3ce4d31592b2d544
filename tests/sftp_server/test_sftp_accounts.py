"""SFTP accounts in the database: keys, states and quotas.

Also tests `store/installation/sftp_host_keys`, `store/database/schema/sftp_tables`.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from clearlane.accounts.sftp_account import SftpAccount, SftpAccountState
from clearlane.sftp_server.host_keys import make_host_keys
from clearlane.store.accounts import sftp_accounts
from clearlane.store.accounts.accounts import AccountRefused
from clearlane.store.accounts.sftp_accounts import SCOPE, SftpUsage
from clearlane.store.database.database import Actor
from clearlane.store.installation.sftp_host_keys import add_host_keys, load_host_keys
from clearlane.store.vault.vault import Vault
from tests.databases import START, make_site

BY = Actor("operator", "a test")
KEYS = {"SHA256:a": "ssh-ed25519 AAAA"}


@pytest.fixture
async def account(database):
    scope = await make_site(database)
    new = SftpAccount(name="larkspur", vendor_id=scope.vendor, site_id=scope.site)
    await sftp_accounts.add_account(database, new, KEYS, now=START, actor=BY)
    [(stored, keys)] = await sftp_accounts.list_accounts(database)
    assert (stored.name, stored.scope, stored.networks) == ("larkspur", scope, ())
    assert [(key.fingerprint, key.public_key) for key in keys] == list(KEYS.items())
    return stored


async def test_a_name_is_used_once_and_an_account_needs_a_key(database, account):
    with pytest.raises(AccountRefused, match="already"):
        await sftp_accounts.add_account(database, account, KEYS, now=START, actor=BY)
    with pytest.raises(AccountRefused, match="needs a public key"):
        await sftp_accounts.add_account(database, account, {}, now=START, actor=BY)
    with pytest.raises(AccountRefused, match="no SFTP account"):
        await sftp_accounts.remove_account(database, "other", actor=BY)


async def test_keys_are_added_and_removed_and_the_last_stays(database, account, monkeypatch):
    async def change(name):
        return await sftp_accounts.add_key(database, "larkspur", name, "k", now=START, actor=BY)

    assert (await change("SHA256:b"), await change("SHA256:b")) == (True, False)
    monkeypatch.setattr(sftp_accounts, "KEYS_PER_ACCOUNT_MAX", 2)
    with pytest.raises(AccountRefused, match="has 2 keys"):
        await change("SHA256:c")
    await sftp_accounts.remove_key(database, "larkspur", "SHA256:a", actor=BY)
    for name, words in (("SHA256:a", "no such key"), ("SHA256:b", "last key")):
        with pytest.raises(AccountRefused, match=words):
            await sftp_accounts.remove_key(database, "larkspur", name, actor=BY)
    async with database.read(SCOPE) as tx:
        assert await sftp_accounts.has_key(tx, account, "SHA256:b", "k")
        assert not await sftp_accounts.has_key(tx, account, "SHA256:b", "other")


async def test_a_state_changes_once_and_a_removed_account_is_gone(database, account):
    disabled = SftpAccountState.DISABLED
    for changed in (True, False):
        assert (
            await sftp_accounts.set_account_state(database, "larkspur", disabled, actor=BY)
            is changed
        )
    async with database.read(SCOPE) as tx:
        assert await sftp_accounts.active_accounts(tx, [account.id]) == set()
    await sftp_accounts.set_account_state(database, "larkspur", SftpAccountState.ACTIVE, actor=BY)
    async with database.read(SCOPE) as tx:
        assert await sftp_accounts.active_accounts(tx, [account.id]) == {account.id}
    await sftp_accounts.remove_account(database, "larkspur", actor=BY)
    async with database.read(SCOPE) as tx:
        assert await sftp_accounts.find_account(tx, "larkspur") is None


async def test_what_is_given_of_an_account_changes_and_it_can_still_sign_in(database, account):
    async def change(**changes):
        return await sftp_accounts.change_account(database, "larkspur", changes, actor=BY)

    given = {"networks": ("203.0.113.0/24",), "password_hash": "hash", "files_per_day_max": 5}
    assert (await change(**given), await change(**given)) == (True, False)
    [(stored, _)] = await sftp_accounts.list_accounts(database)
    assert stored == replace(account, **given)
    for changes, words in (
        ({"networks": ()}, "needs a list of networks"),
        ({"profile": "none", "files_per_day_max": 0}, "no such profile"),
    ):
        with pytest.raises(AccountRefused, match=words):
            await change(**changes)
    await sftp_accounts.remove_key(database, "larkspur", "SHA256:a", actor=BY)
    with pytest.raises(AccountRefused, match="no key"):
        await change(password_hash="")
    assert [stored for stored, _ in await sftp_accounts.list_accounts(database)] == [stored]


async def test_what_was_sent_is_counted_by_day(database, account):
    async def add(now, **sent):
        async def job(tx):
            total = await sftp_accounts.add_usage(tx, account, SftpUsage(**sent), now)
            assert total == await sftp_accounts.usage_of_day(tx, account, now)
            return total

        return await database.write(account.scope, job, actor=BY)

    assert await add(START, files=1, bytes=10) == SftpUsage(1, 10)
    assert await add(START, files=2, bytes=5) == SftpUsage(3, 15)
    assert await add(START + timedelta(days=1), files=1, bytes=1) == SftpUsage(1, 1)
    assert await add(START + timedelta(days=9), files=1, bytes=1) == SftpUsage(1, 1)
    async with database.read(account.scope) as tx:
        assert await sftp_accounts.usage_of_day(tx, account, START) == SftpUsage()
    assert await sftp_accounts.list_usage_of_day(database, START + timedelta(days=9)) == {
        account.id: SftpUsage(1, 1)
    }


async def test_host_keys_are_sealed_made_once_and_changed_at_once(database, place, clock):
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    keys = make_host_keys(START)
    given = {"now": START, "actor": BY}
    assert await add_host_keys(database, vault, keys, only_first=True, **given)
    assert not await add_host_keys(database, vault, make_host_keys(START), only_first=True, **given)
    other = Vault(database, place.keys(), clock)
    await other.load()
    assert set(await load_host_keys(database, other)) == set(keys)
    assert "PRIVATE" not in repr(keys)
    # Keys that are changed at once are not replaced later by those that waited to take over.
    later = make_host_keys(START + timedelta(days=30))
    await add_host_keys(database, vault, later, **given)
    assert set(await load_host_keys(database, other)) == {*keys, *later}
    at_once = make_host_keys(START)
    await add_host_keys(database, vault, at_once, **given)
    assert set(await load_host_keys(database, other)) == {*keys, *at_once}
