"""Sign-in, sessions and one-time login URLs, with a clock that only the test moves.

Also tests `console/account/sign_in_page`, `store/accounts/instances`, `accounts/recovery_codes`, `store/accounts/recovery_codes` and
`store/database/schema/recovery_code_tables`.
"""

import asyncio
from datetime import timedelta
from types import SimpleNamespace

import pytest
from sqlalchemy import select

from clearlane.accounts import totp
from clearlane.accounts.passwords import hash_user_password
from clearlane.accounts.recovery_codes import RECOVERY_CODES_PER_USER, read_recovery_code
from clearlane.accounts.totp import TOTP_STEP_SECONDS
from clearlane.accounts.users import (
    CONSOLE_CODE_FAILURES_MAX,
    CONSOLE_CODE_LOCK_SECONDS,
    Access,
    ConsoleRole,
    UserState,
)
from clearlane.cli.account.console_user import TOTP_SECRET_BYTES
from clearlane.kernel import limits
from clearlane.kernel.ids import NO_VENDOR, Scope
from clearlane.pipeline.access import proxy_login
from clearlane.pipeline.access.change_role import change_role
from clearlane.pipeline.access.invitations import renew_recovery_codes
from clearlane.pipeline.access.proxy_login import LOGIN_ENTRY_SECONDS
from clearlane.pipeline.access.sign_in import (
    CONSOLE_PASSWORDS_WAITING_MAX,
    CONSOLE_PASSWORDS_WAITING_PER_ADDRESS_MAX,
    CONSOLE_SESSION_SECONDS_MAX,
    PasswordChecker,
    PasswordQueueFull,
    SignInForm,
    resume_session,
    seal_totp_secret,
    sign_in,
    sign_out,
)
from clearlane.store.accounts import console_users
from clearlane.store.accounts.accounts import (
    AccountRefused,
    NewSite,
    add_site,
    add_vendor,
    load_accounts,
)
from clearlane.store.accounts.console_users import (
    CONSOLE_IDLE_SECONDS_MAX,
    CONSOLE_SESSIONS_PER_USER_MAX,
)
from clearlane.store.database import schema
from clearlane.store.database.database import Actor, SystemScope
from clearlane.store.database.sql import Statement
from clearlane.store.vault.vault import Vault
from tests.cases import every_case

pytestmark = pytest.mark.one_database

BY = Actor("operator", "a test")
ALL = SystemScope("a test")
PASSWORD = "a long and quiet evening"
SECRET = b"\x05" * TOTP_SECRET_BYTES
GUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


@pytest.fixture
async def context(database, place, clock):
    """A vendor with a site, and a console user who sees it."""
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    await add_vendor(
        database, pepper=vault.pepper, key="ACME", name="Acme", now=clock.now(), actor=BY
    )
    site = NewSite(vendor_key="ACME", vendor_site_id="A-1", baa_accepted=True)
    await add_site(database, site, now=clock.now(), actor=BY)
    accounts = await load_accounts(database, vault.pepper)
    context = SimpleNamespace(
        database=database, vault=vault, accounts=lambda: accounts, clock=clock
    )
    await add(context)
    return context


async def add(context, name="nora"):
    vendor, site = context.accounts().vendors[0], context.accounts().sites[0]
    await context.vault.ensure_key(vendor.id)
    new = console_users.NewUser(
        name=name,
        vendor=vendor.id,
        sites=frozenset({site.id}),
        password_hash=hash_user_password(PASSWORD, bytes(16)),
        totp_secret=seal_totp_secret(context.vault, vendor.id, name, SECRET),
    )
    await console_users.add_user(context.database, new, now=context.clock.now(), actor=BY)


def code(context, beside=0):
    return totp.code_at(SECRET, totp.step_at(context.clock.now().timestamp()) + beside)


async def enter(context, passwords=None, address="192.0.2.1", **typed):
    values = {"name": "nora", "password": PASSWORD, "code": code(context)} | typed
    return await sign_in(
        context,
        passwords or PasswordChecker(),
        SignInForm(**values),
        address=address,
        now=context.clock.now(),
        request_id="r",
    )


async def whose(context, session):
    return await resume_session(context, session, now=context.clock.now())


async def stored(database, *tables):
    """Everything these tables hold, as one text."""
    async with database.read(ALL) as tx:
        return repr([await tx.rows(Statement(select(t), system=True)) for t in tables])


@pytest.mark.both_databases
async def test_a_session_belongs_to_who_signed_in(context):
    session = await enter(context)
    user = await whose(context, session)
    assert (user.name, user.state) == ("nora", UserState.ACTIVE)
    assert user.may_see(context.accounts().sites[0])
    assert await whose(context, session[:-1] + chr(ord(session[-1]) ^ 1)) is None


@pytest.mark.both_databases
async def test_a_session_ends_when_it_is_not_used(context, clock):
    session = await enter(context)
    clock.advance(timedelta(seconds=CONSOLE_IDLE_SECONDS_MAX - 1))
    assert await whose(context, session)
    clock.advance(timedelta(seconds=CONSOLE_IDLE_SECONDS_MAX - 1))
    assert await whose(context, session), "the look before was a use"
    clock.advance(timedelta(seconds=CONSOLE_IDLE_SECONDS_MAX))
    assert await whose(context, session) is None


@pytest.mark.both_databases
async def test_a_session_ends_after_a_working_day_however_busy(context, clock):
    session = await enter(context)
    step = timedelta(seconds=CONSOLE_IDLE_SECONDS_MAX // 2)
    for _ in range(int(timedelta(seconds=CONSOLE_SESSION_SECONDS_MAX) / step) - 1):
        clock.advance(step)
        assert await whose(context, session)
    clock.advance(step)
    assert await whose(context, session) is None


@pytest.mark.both_databases
async def test_signing_out_ends_the_session_and_no_other(context, clock):
    first = await enter(context)
    clock.advance(timedelta(seconds=TOTP_STEP_SECONDS))
    second = await enter(context)
    await sign_out(context, first, await whose(context, first), request_id="r")
    assert await whose(context, first) is None
    assert await whose(context, second)


@pytest.mark.both_databases
async def test_new_sessions_replace_the_oldest_ones(context, clock):
    sessions = []
    for _ in range(CONSOLE_SESSIONS_PER_USER_MAX + 1):
        sessions.append(await enter(context))
        clock.advance(timedelta(seconds=TOTP_STEP_SECONDS))
    alive = [await whose(context, session) is not None for session in sessions]
    assert alive == [False] + [True] * CONSOLE_SESSIONS_PER_USER_MAX


@pytest.mark.both_databases
async def test_a_code_is_taken_once_and_never_an_older_one_after_it(context):
    assert await enter(context, code=code(context))
    assert await enter(context, code=code(context)) is None
    assert await enter(context, code=code(context, -1)) is None
    assert await enter(context, code=code(context, +1))


@pytest.mark.both_databases
async def test_clocks_may_differ_by_half_a_minute_and_no_more(context):
    assert await enter(context, code=code(context, -2)) is None
    assert await enter(context, code=code(context, +2)) is None
    assert await enter(context, code=code(context, -1))


@pytest.mark.both_databases
async def test_wrong_codes_lock_the_second_factor_for_a_while(context, clock):
    for _ in range(CONSOLE_CODE_FAILURES_MAX):
        assert await enter(context, code="000000") is None
    assert await enter(context) is None, "the right code comes too late"
    clock.advance(timedelta(seconds=CONSOLE_CODE_LOCK_SECONDS))
    assert await enter(context)


async def renewed(context) -> tuple[str, ...]:
    """New recovery codes of Nora, for the code that her authenticator shows."""
    async with context.database.read(console_users.SCOPE) as tx:
        user = (await console_users.find_user(tx, "nora")).user
    return await renew_recovery_codes(
        context, user, code(context), now=context.clock.now(), actor=BY
    )


async def test_a_recovery_code_signs_in_once_in_place_of_the_code(context, clock):
    codes = await renewed(context)
    assert len(set(codes)) == RECOVERY_CODES_PER_USER
    # Of many at once one is let in.
    sessions = await asyncio.gather(*(enter(context, code=codes[0]) for _ in range(4)))
    assert [session is not None for session in sessions].count(True) == 1
    assert await enter(context, password="wrong", code=codes[1]) is None
    assert await enter(context, code=codes[1])
    clock.advance(timedelta(seconds=TOTP_STEP_SECONDS))
    assert await enter(context), "the authenticator's code works on"
    text = await stored(context.database, schema.recovery_codes, schema.audit)
    assert "user.recovery_code_used" in text
    assert not [one for one in codes if one in text or one.replace("-", "") in text]


@pytest.mark.both_databases
async def test_guessing_recovery_codes_locks_the_second_factor(context, clock):
    codes = await renewed(context)
    clock.advance(timedelta(seconds=CONSOLE_CODE_LOCK_SECONDS))
    for number in range(CONSOLE_CODE_FAILURES_MAX):
        assert await enter(context, code=f"0000-0000-{number:04}") is None
    assert await enter(context, code=codes[0]) is None, "the right code comes too late"
    with pytest.raises(AccountRefused, match="none is checked for a while"):
        await renewed(context)
    clock.advance(timedelta(seconds=CONSOLE_CODE_LOCK_SECONDS))
    assert await enter(context, code=codes[0])


@pytest.mark.both_databases
async def test_a_new_second_factor_ends_the_recovery_codes(context):
    codes = await renewed(context)
    sealed = seal_totp_secret(context.vault, context.accounts().vendors[0].id, "nora", SECRET)
    await console_users.set_totp(context.database, "nora", sealed, actor=BY)
    assert await enter(context, code=codes[0]) is None


@every_case(
    ("typed", "digits"),
    [
        ("4821-0937-5562", "482109375562"),
        (" 4821 0937 5562 ", "482109375562"),
        ("314159", None),
        ("", None),
        ("4821-0937-556x", None),
        ("٤821-0937-5562", None),
    ],
)
def test_a_recovery_code_is_read_as_people_type_it(typed, digits):
    assert read_recovery_code(typed) == digits


@pytest.mark.both_databases
async def test_who_does_not_know_the_password_cannot_lock_a_user_out(context):
    for _ in range(CONSOLE_CODE_FAILURES_MAX + 1):
        assert await enter(context, password="wrong", code="000000") is None
    assert await enter(context)


@pytest.mark.both_databases
async def test_a_new_password_ends_the_old_one_and_every_session(context, clock):
    session = await enter(context)
    await console_users.set_password(
        context.database, "nora", hash_user_password("another long evening", bytes(16)), actor=BY
    )
    assert await whose(context, session) is None
    clock.advance(timedelta(seconds=TOTP_STEP_SECONDS))
    assert await enter(context) is None
    assert await enter(context, password="another long evening")


@pytest.mark.both_databases
async def test_a_new_second_factor_ends_the_old_one_and_every_session(context, clock):
    session = await enter(context)
    vendor, other = context.accounts().vendors[0].id, b"\x06" * TOTP_SECRET_BYTES
    sealed = seal_totp_secret(context.vault, vendor, "nora", other)
    await console_users.set_totp(context.database, "nora", sealed, actor=BY)
    assert await whose(context, session) is None
    assert await enter(context, code=code(context, +1)) is None
    assert await enter(context, code=totp.code_at(other, totp.step_at(clock.now().timestamp())))


async def test_of_two_operators_who_take_each_others_role_one_stays(context):
    vendor = context.accounts().vendors[0].id
    operator = Access(role=ConsoleRole.OPERATOR, vendor=NO_VENDOR, sites=None)
    support = Access(role=ConsoleRole.SUPPORT, vendor=vendor, sites=None)
    for name in ("ada", "otis"):
        await add(context, name)
        assert await change_role(context, name, operator, actor=BY)
    done = await asyncio.gather(
        *(change_role(context, name, support, actor=BY) for name in ("ada", "otis")),
        return_exceptions=True,
    )
    refused = [why for why in done if isinstance(why, AccountRefused)]
    assert (done.count(True), len(refused)) == (1, 1)
    assert "is the last operator" in str(refused[0])
    users = {user.name: user for user in await console_users.all_users(context.database)}
    left = [name for name, user in users.items() if user.role is ConsoleRole.OPERATOR]
    with pytest.raises(AccountRefused, match="is the last operator"):
        await console_users.set_state(context.database, left[0], UserState.DISABLED, actor=BY)
    # The second factor is sealed for whom the user belongs to, and works on.
    [other] = {"ada", "otis"} - set(left)
    assert (users[other].vendor_id, users[other].sites) == (vendor, None)
    for name in ("ada", "otis"):
        assert await enter(context, name=name)


async def test_a_name_is_given_once(context):
    with pytest.raises(AccountRefused, match="There is a user nora already"):
        await add(context)


async def test_too_many_passwords_at_once_are_refused_unchecked(context):
    passwords = PasswordChecker()
    passwords._waiting["198.51.100.7"] = CONSOLE_PASSWORDS_WAITING_MAX
    with pytest.raises(PasswordQueueFull):
        await enter(context, passwords)
    passwords._waiting.clear()
    assert await enter(context, passwords)
    assert not passwords._waiting


async def test_one_address_that_guesses_keeps_nobody_else_out(context):
    passwords, guesser = PasswordChecker(), "198.51.100.7"
    passwords._waiting[guesser] = CONSOLE_PASSWORDS_WAITING_PER_ADDRESS_MAX
    with pytest.raises(PasswordQueueFull):
        await enter(context, passwords, address=guesser)
    assert await enter(context, passwords)
    assert list(passwords._waiting) == [guesser]


async def test_the_tables_hold_no_usable_secret(context):
    session = await enter(context)
    asking = asked(context)
    token = (await proxy_login.create_token(asking, GUID, "Reception")).secret
    part = (await proxy_login.create_login_url(asking, GUID, token)).secret
    text = await stored(
        context.database,
        schema.console_users,
        schema.console_sessions,
        schema.instances,
        schema.login_urls,
        schema.audit,
    )
    assert "Reception" in text, "the tables were read"
    for secret in (session, token, part, PASSWORD):
        assert secret not in text
    assert repr(SECRET)[2:-1] not in text
    assert "$argon2id$" in text
    assert PASSWORD not in repr(SignInForm("nora", PASSWORD, "1"))


# ---- one-time parts -----------------------------------------------------------------------------


def asked(context):
    vendor, site = context.accounts().vendors[0], context.accounts().sites[0]
    return proxy_login.ProxyLoginCaller(
        database=context.database,
        vault=context.vault,
        vendor=vendor,
        site=site,
        now=context.clock.now(),
        actor=Actor("vendor", vendor.key),
    )


async def new_part(context):
    token = (await proxy_login.create_token(asked(context), GUID, "")).secret
    return (await proxy_login.create_login_url(asked(context), GUID, token)).secret


async def opens(context, part):
    return await proxy_login.use_login_url(
        context.database, context.vault, context.accounts(), part, now=context.clock.now(), actor=BY
    )


async def test_a_part_opens_until_a_minute_has_passed(context, clock):
    part = await new_part(context)
    clock.advance(timedelta(seconds=LOGIN_ENTRY_SECONDS) - timedelta(microseconds=1))
    assert await opens(context, part)
    part = await new_part(context)
    clock.advance(timedelta(seconds=60))
    assert not await opens(context, part)


async def test_a_hundred_at_once_are_let_through_once(context):
    part = await new_part(context)
    opened = await asyncio.gather(*(opens(context, part) for _ in range(100)))
    assert opened.count(True) == 1


async def test_the_database_decides_also_where_all_have_looked_before(context):
    from clearlane.kernel.clock import to_micros
    from clearlane.store.accounts import instances

    part = await new_part(context)
    hashed, now = proxy_login._part_hash(context.vault, part), to_micros(context.clock.now())
    used = await asyncio.gather(
        *(
            context.database.write(
                ALL, lambda tx: instances.use_login_url(tx, hashed, now), actor=BY
            )
            for _ in range(100)
        )
    )
    vendor, site = context.accounts().vendors[0], context.accounts().sites[0]
    (entry,) = [each for each in used if each]
    assert entry.scope == Scope(vendor.id, site.id)


async def test_parts_that_have_ended_do_not_pile_up(context, clock):
    for _ in range(5):
        await new_part(context)
        clock.advance(timedelta(seconds=LOGIN_ENTRY_SECONDS))
    count = (await stored(context.database, schema.login_urls)).count(GUID)
    assert count == 1


async def test_instances_of_a_client_are_bounded(context, monkeypatch):
    monkeypatch.setattr(limits, "INSTANCES_PER_SITE_MAX", 1)
    assert (await proxy_login.create_token(asked(context), GUID, "")).code == 0
    another = GUID.replace("0f8", "1f8")
    assert await proxy_login.create_token(asked(context), another, "") == proxy_login.TOO_MANY
    assert (await proxy_login.create_token(asked(context), GUID, "")).code == 0
