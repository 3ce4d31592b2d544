"""Who may sign in to the SFTP server, with which keys, passwords, algorithms, and how often."""

import asyncio
import secrets

import asyncssh
import pytest
from sqlalchemy import select
from structlog.testing import capture_logs

from clearlane.accounts.passwords import hash_user_password
from clearlane.accounts.sftp_account import SftpAccountState
from clearlane.api.frame.auth import SignInThrottle
from clearlane.kernel import limits
from clearlane.sftp_server.algorithms import read_public_key
from clearlane.store.accounts.accounts import revoke_baa
from clearlane.store.accounts.sftp_accounts import (
    SCOPE,
    add_key,
    list_accounts,
    remove_key,
    set_account_state,
)
from clearlane.store.database.schema import audit
from clearlane.store.database.sql import Statement
from tests.patience import until
from tests.sftp_server.openssh import (
    BY,
    HOST,
    NAME,
    OTHER_KEY,
    SITE,
    add_test_account,
    needs_openssh,
    serve_sftp,
    write_key,
)

PASSWORD = "harbor-birch-27"
RSA_KEY = asyncssh.generate_private_key("ssh-rsa", key_size=2048)


@needs_openssh
async def test_openssh_is_refused_with_a_wrong_key_or_name(sftp):
    write_key(sftp.folder / f"{NAME}.key", OTHER_KEY)
    code, printed = await sftp.sftp("ls")
    assert (code, "Permission denied (publickey)" in printed) == (255, True), printed
    sftp.name, sftp.key = "nobody", sftp.key
    code, unknown = await sftp.sftp("ls")
    assert (code, unknown.replace("nobody", NAME)) == (255, printed)
    rows = await until(lambda: failed_sign_ins(sftp))
    assert all("larkspur" not in detail for (detail,) in rows)


async def failed_sign_ins(place):
    async with place.installation.database.read(SCOPE) as tx:
        rows = await tx.rows(FAILED)
    return rows if len(rows) == 2 else None


FAILED = Statement(select(audit.c.detail).where(audit.c.action == "sign-in.failed"))


async def test_nothing_but_sftp_is_offered(sftp):
    async with await sftp.connect() as connection:
        for command in ("id", "scp -t in", None):
            with pytest.raises(asyncssh.ChannelOpenError):
                await connection.create_process(command)
        with pytest.raises(asyncssh.ChannelOpenError):
            await connection.open_connection(HOST, sftp.server.port)
        with pytest.raises(asyncssh.ChannelListenError):
            await connection.forward_remote_port("", 0, HOST, 1)


async def test_a_key_that_is_added_or_removed_counts_at_once(sftp):
    database = sftp.installation.database
    fingerprint, text = read_public_key(OTHER_KEY.export_public_key().decode())
    with pytest.raises(asyncssh.PermissionDenied):
        await sftp.connect(client_keys=[OTHER_KEY])
    now = sftp.installation.wall.now()
    assert await add_key(database, NAME, fingerprint, text, now=now, actor=BY)
    (await sftp.connect(client_keys=[OTHER_KEY])).close()
    await remove_key(database, NAME, fingerprint, actor=BY)
    with pytest.raises(asyncssh.PermissionDenied):
        await sftp.connect(client_keys=[OTHER_KEY])
    [(account, _)] = await list_accounts(database)
    assert account.signed_in_at is not None


async def test_a_disabled_account_cannot_sign_in_and_its_connections_end(installation, tmp_path):
    async with serve_sftp(installation, tmp_path, watch_seconds=0.05) as place:
        connection = await place.connect()
        await set_account_state(installation.database, NAME, SftpAccountState.DISABLED, actor=BY)
        await asyncio.wait_for(connection.wait_closed(), 60)
        with pytest.raises(asyncssh.PermissionDenied):
            await place.connect()


async def test_a_site_without_an_agreement_cannot_sign_in(sftp):
    await revoke_baa(sftp.installation.database, SITE, actor=BY)
    await sftp.installation.refresh()
    with pytest.raises(asyncssh.PermissionDenied):
        await sftp.connect()


class FewTries(SignInThrottle):
    """A limit that a test sets, and that delays no failure."""

    def __init__(self, **limits):
        super().__init__(**limits)
        self.left = 100
        self.taken = set()

    def take(self, address, name):
        self.taken.add((address, name))
        self.left -= 1
        return 60 if self.left < 0 else 0

    def give_back(self, address, name):
        self.left += 1

    async def delay_failure(self, address, key):
        pass


async def test_passwords_need_the_operator_and_a_network(installation, tmp_path):
    hashed = hash_user_password(PASSWORD, secrets.token_bytes(limits.CONSOLE_PASSWORD_SALT_BYTES))
    here, elsewhere = ("127.0.0.0/8", "::1"), ("203.0.113.0/24",)
    await add_test_account(installation, "here", key=None, password_hash=hashed, networks=here)
    await add_test_account(installation, "away", password_hash=hashed, networks=elsewhere)
    given = {"username": "here", "client_keys": None, "password": PASSWORD}
    async with serve_sftp(installation, tmp_path) as place:
        with pytest.raises(asyncssh.PermissionDenied):
            await place.connect(**given)
    limit = FewTries()
    async with serve_sftp(installation, tmp_path, allows_passwords=True, limit=limit) as place:
        (await place.connect(**given)).close()
        for wrong in ({"password": "wrong"}, {"username": "away"}, {"username": NAME}):
            with pytest.raises(asyncssh.PermissionDenied):
                await place.connect(**given | wrong)
        with pytest.raises(asyncssh.PermissionDenied):  # nor with its key
            await place.connect(username="away")
        limit.left = 0
        with pytest.raises(asyncssh.PermissionDenied):
            await place.connect(**given)
        assert limit.taken == {("127.0.0.1", name) for name in (b"here", b"away", NAME.encode())}
        (await place.connect()).close()


async def test_an_address_that_fails_often_is_refused_before_it_tries(installation, tmp_path):
    limit = FewTries(failures_max=2)
    unknown = asyncssh.generate_private_key("ssh-ed25519")
    async with serve_sftp(installation, tmp_path, limit=limit) as place:
        with capture_logs() as lines:
            (await place.connect(client_keys=[unknown, place.key])).close()  # forgiven
            for _ in range(2):
                with pytest.raises(asyncssh.PermissionDenied):
                    await place.connect(client_keys=[unknown])
        assert [line for line in lines if line["event"] == "sftp address blocked"] == [
            {
                "event": "sftp address blocked",
                "reason": "too many failed sign-ins",
                "address": HOST,
                "log_level": "warning",
            }
        ]
        with pytest.raises((asyncssh.Error, OSError)):
            await place.connect()
        limit.forgive_failure(HOST)
        (await place.connect()).close()


OLDER = {
    "key exchange": {"kex_algs": ["diffie-hellman-group14-sha1"]},
    "cipher": {"encryption_algs": ["aes128-cbc"]},
    "mac": {"encryption_algs": ["aes128-ctr"], "mac_algs": ["hmac-sha1"]},
    "host key": {"server_host_key_algs": ["ssh-rsa"]},
    "signature": {"signature_algs": ["ssh-rsa"], "client_keys": [RSA_KEY]},
}


# Of cryptography, about the exchange that older software needs.
@pytest.mark.filterwarnings("ignore:Diffie-Hellman")
async def test_older_algorithms_are_for_accounts_that_need_them_at_their_own_port(
    installation, tmp_path
):
    await add_test_account(installation, "modern", key=RSA_KEY)
    await add_test_account(installation, "old", key=RSA_KEY, older_algorithms=True)
    async with serve_sftp(installation, tmp_path, with_older=True) as place:
        older_port = place.server.older_port
        for name, options in OLDER.items():
            given = {"client_keys": [RSA_KEY], "username": "old"} | options
            with pytest.raises((asyncssh.KeyExchangeFailed, asyncssh.PermissionDenied)):
                await place.connect(**given)
            (await place.connect(**given, port=older_port)).close()
            with pytest.raises(asyncssh.PermissionDenied):
                await place.connect(**given | {"username": "modern"}, port=older_port)
            assert name
        for username in ("modern", "old"):
            (await place.connect(username=username, client_keys=[RSA_KEY])).close()
