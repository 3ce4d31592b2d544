"""Signing in, sessions and one-time parts, with a clock that stands still until it is told to move."""

import asyncio
from datetime import timedelta
from types import SimpleNamespace

import pytest
from sqlalchemy import select

from clearlane.accounts import totp
from clearlane.accounts.passwords import hash_chosen
from clearlane.accounts.users import UserState
from clearlane.kernel import limits
from clearlane.kernel.ids import Scope
from clearlane.pipeline.access import proxy_login
from clearlane.pipeline.access.sign_in import (
    Busy,
    Passwords,
    Typed,
    resume,
    seal_secret,
    sign_in,
    sign_out,
)
from clearlane.pipeline.query.health import health
from clearlane.store import console_users as store
from clearlane.store import schema
from clearlane.store.accounts import AccountRefused, NewSite, add_site, add_vendor, load_accounts
from clearlane.store.database import Actor, System
from clearlane.store.sql import Statement
from clearlane.store.vault import Vault

BY = Actor("operator", "a test")
ALL = System("a test")
PASSWORD = "a long and quiet evening"
SECRET = b"\x05" * limits.TOTP_SECRET_BYTES
GUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


@pytest.fixture
async def desk(database, place, clock):
    """A vendor with a site, and a console user who sees it."""
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    await add_vendor(
        database, pepper=vault.pepper, key="ACME", name="Acme", now=clock.now(), actor=BY
    )
    site = NewSite(vendor_key="ACME", vendor_site_id="A-1", baa_accepted=True)
    await add_site(database, site, now=clock.now(), actor=BY)
    accounts = await load_accounts(database, vault.pepper)
    desk = SimpleNamespace(database=database, vault=vault, accounts=accounts, clock=clock)
    await add(desk)
    return desk


async def add(desk, name="nora"):
    vendor, site = desk.accounts.vendors[0], desk.accounts.sites[0]
    await desk.vault.ready(vendor.id)
    new = store.NewUser(
        name=name,
        vendor=vendor.id,
        sites=frozenset({site.id}),
        password_hash=hash_chosen(PASSWORD, bytes(16)),
        totp_secret=seal_secret(desk.vault, vendor.id, name, SECRET),
    )
    await store.add_user(desk.database, new, now=desk.clock.now(), actor=BY)


def code(desk, beside=0):
    return totp.code_at(SECRET, totp.step_at(desk.clock.now().timestamp()) + beside)


async def enter(desk, passwords=None, address="192.0.2.1", **typed):
    values = {"name": "nora", "password": PASSWORD, "code": code(desk)} | typed
    return await sign_in(
        desk,
        passwords or Passwords(),
        Typed(**values),
        address=address,
        now=desk.clock.now(),
        request_id="r",
    )


async def whose(desk, session):
    return await resume(desk, session, now=desk.clock.now())


async def stored(database, *tables):
    """Everything these tables hold, as one text."""
    async with database.read(ALL) as tx:
        return repr([await tx.rows(Statement(select(t), system=True)) for t in tables])


async def test_a_session_belongs_to_who_signed_in(desk):
    session = await enter(desk)
    user = await whose(desk, session)
    assert (user.name, user.state) == ("nora", UserState.ACTIVE)
    assert user.may_see(desk.accounts.sites[0])
    assert await whose(desk, session[:-1] + "x") is None


async def test_a_session_ends_when_it_is_not_used(desk, clock):
    session = await enter(desk)
    clock.advance(timedelta(seconds=limits.CONSOLE_IDLE_SECONDS_MAX - 1))
    assert await whose(desk, session)
    clock.advance(timedelta(seconds=limits.CONSOLE_IDLE_SECONDS_MAX - 1))
    assert await whose(desk, session), "the look before was a use"
    clock.advance(timedelta(seconds=limits.CONSOLE_IDLE_SECONDS_MAX))
    assert await whose(desk, session) is None


async def test_a_session_ends_after_a_working_day_however_busy(desk, clock):
    session = await enter(desk)
    step = timedelta(seconds=limits.CONSOLE_IDLE_SECONDS_MAX // 2)
    for _ in range(int(timedelta(seconds=limits.CONSOLE_SESSION_SECONDS_MAX) / step) - 1):
        clock.advance(step)
        assert await whose(desk, session)
    clock.advance(step)
    assert await whose(desk, session) is None


async def test_signing_out_ends_the_session_and_no_other(desk, clock):
    first = await enter(desk)
    clock.advance(timedelta(seconds=limits.TOTP_STEP_SECONDS))
    second = await enter(desk)
    await sign_out(desk, first, await whose(desk, first), request_id="r")
    assert await whose(desk, first) is None
    assert await whose(desk, second)


async def test_old_sessions_make_room_for_new_ones(desk, clock):
    sessions = []
    for _ in range(limits.CONSOLE_SESSIONS_PER_USER_MAX + 1):
        sessions.append(await enter(desk))
        clock.advance(timedelta(seconds=limits.TOTP_STEP_SECONDS))
    alive = [await whose(desk, session) is not None for session in sessions]
    assert alive == [False] + [True] * limits.CONSOLE_SESSIONS_PER_USER_MAX


async def test_a_code_is_taken_once_and_never_an_older_one_after_it(desk):
    assert await enter(desk, code=code(desk))
    assert await enter(desk, code=code(desk)) is None
    assert await enter(desk, code=code(desk, -1)) is None
    assert await enter(desk, code=code(desk, +1))


async def test_clocks_may_differ_by_half_a_minute_and_no_more(desk):
    assert await enter(desk, code=code(desk, -2)) is None
    assert await enter(desk, code=code(desk, +2)) is None
    assert await enter(desk, code=code(desk, -1))


async def test_wrong_codes_lock_the_second_factor_for_a_while(desk, clock):
    for _ in range(limits.CONSOLE_CODE_FAILURES_MAX):
        assert await enter(desk, code="000000") is None
    assert await enter(desk) is None, "the right code comes too late"
    clock.advance(timedelta(seconds=limits.CONSOLE_CODE_LOCK_SECONDS))
    assert await enter(desk)


async def test_who_does_not_know_the_password_cannot_lock_a_user_out(desk):
    for _ in range(limits.CONSOLE_CODE_FAILURES_MAX + 1):
        assert await enter(desk, password="wrong", code="000000") is None
    assert await enter(desk)


async def test_a_new_password_ends_the_old_one_and_every_session(desk, clock):
    session = await enter(desk)
    await store.set_password(
        desk.database, "nora", hash_chosen("another long evening", bytes(16)), actor=BY
    )
    assert await whose(desk, session) is None
    clock.advance(timedelta(seconds=limits.TOTP_STEP_SECONDS))
    assert await enter(desk) is None
    assert await enter(desk, password="another long evening")


async def test_a_new_second_factor_ends_the_old_one_and_every_session(desk, clock):
    session = await enter(desk)
    vendor, other = desk.accounts.vendors[0].id, b"\x06" * limits.TOTP_SECRET_BYTES
    sealed = seal_secret(desk.vault, vendor, "nora", other)
    await store.set_totp(desk.database, "nora", sealed, actor=BY)
    assert await whose(desk, session) is None
    assert await enter(desk, code=code(desk, +1)) is None
    assert await enter(desk, code=totp.code_at(other, totp.step_at(clock.now().timestamp())))


async def test_a_name_is_given_once(desk):
    with pytest.raises(AccountRefused, match="There is a user nora already"):
        await add(desk)


async def test_too_many_passwords_at_once_are_turned_away_unread(desk):
    passwords = Passwords()
    passwords._waiting["198.51.100.7"] = limits.CONSOLE_PASSWORDS_WAITING_MAX
    with pytest.raises(Busy):
        await enter(desk, passwords)
    passwords._waiting.clear()
    assert await enter(desk, passwords)
    assert not passwords._waiting


async def test_one_address_that_guesses_keeps_nobody_else_out(desk):
    passwords, guesser = Passwords(), "198.51.100.7"
    passwords._waiting[guesser] = limits.CONSOLE_PASSWORDS_WAITING_PER_ADDRESS_MAX
    with pytest.raises(Busy):
        await enter(desk, passwords, address=guesser)
    assert await enter(desk, passwords)
    assert list(passwords._waiting) == [guesser]


async def test_the_tables_open_no_door(desk):
    session = await enter(desk)
    asking = asked(desk)
    token = (await proxy_login.create_token(asking, GUID, "Front desk")).given
    part = (await proxy_login.get_url(asking, GUID, token)).given
    text = await stored(
        desk.database,
        schema.console_users,
        schema.console_sessions,
        schema.instances,
        schema.login_entries,
        schema.audit,
    )
    assert "Front desk" in text, "the tables were read"
    for secret in (session, token, part, PASSWORD):
        assert secret not in text
    assert repr(SECRET)[2:-1] not in text
    assert "$argon2id$" in text
    assert PASSWORD not in repr(Typed("nora", PASSWORD, "1"))


async def test_health_tells_parts_and_what_is_wrong_with_them(desk):
    parts = {part.name: part for part in await health(desk.database)}
    assert parts["Database"].well
    assert parts["Audit trail"].well
    assert (parts["Nodes"].well, parts["Nodes"].words) == (False, "none is alive")


# ---- one-time parts -----------------------------------------------------------------------------


def asked(desk):
    vendor, site = desk.accounts.vendors[0], desk.accounts.sites[0]
    return proxy_login.Asking(
        database=desk.database,
        vault=desk.vault,
        vendor=vendor,
        site=site,
        now=desk.clock.now(),
        actor=Actor("vendor", vendor.key),
    )


async def new_part(desk):
    token = (await proxy_login.create_token(asked(desk), GUID, "")).given
    return (await proxy_login.get_url(asked(desk), GUID, token)).given


async def opens(desk, part):
    return await proxy_login.enter(
        desk.database, desk.vault, desk.accounts, part, now=desk.clock.now(), actor=BY
    )


async def test_a_part_opens_until_a_minute_has_passed(desk, clock):
    part = await new_part(desk)
    clock.advance(timedelta(seconds=limits.LOGIN_ENTRY_SECONDS) - timedelta(microseconds=1))
    assert await opens(desk, part)
    part = await new_part(desk)
    clock.advance(timedelta(seconds=60))
    assert not await opens(desk, part)


async def test_a_hundred_at_once_are_let_through_once(desk):
    part = await new_part(desk)
    opened = await asyncio.gather(*(opens(desk, part) for _ in range(100)))
    assert opened.count(True) == 1


async def test_the_database_decides_also_where_all_have_looked_before(desk):
    from clearlane.kernel.clock import micros
    from clearlane.store import instances

    part = await new_part(desk)
    hashed, now = proxy_login._part_hash(desk.vault, part), micros(desk.clock.now())
    used = await asyncio.gather(
        *(
            desk.database.write(ALL, lambda tx: instances.use_entry(tx, hashed, now), actor=BY)
            for _ in range(100)
        )
    )
    vendor, site = desk.accounts.vendors[0], desk.accounts.sites[0]
    (entry,) = [each for each in used if each]
    assert entry.scope == Scope(vendor.id, site.id)


async def test_parts_that_have_ended_do_not_pile_up(desk, clock):
    for _ in range(5):
        await new_part(desk)
        clock.advance(timedelta(seconds=limits.LOGIN_ENTRY_SECONDS))
    count = (await stored(desk.database, schema.login_entries)).count(GUID)
    assert count == 1


async def test_instances_of_a_client_are_bounded(desk, monkeypatch):
    monkeypatch.setattr(limits, "INSTANCES_PER_SITE_MAX", 1)
    assert (await proxy_login.create_token(asked(desk), GUID, "")).code == 0
    another = GUID.replace("0f8", "1f8")
    assert await proxy_login.create_token(asked(desk), another, "") == proxy_login.TOO_MANY
    assert (await proxy_login.create_token(asked(desk), GUID, "")).code == 0
