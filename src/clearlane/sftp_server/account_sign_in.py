"""Decide who may sign in: public keys first, passwords only if the operator allows them.

One object for each connection. Accounts are looked up in the database at each sign-in, so that a change holds at once on
every node. A wrong name and a wrong key are answered alike.
"""

import asyncio
import secrets
from typing import Protocol

import asyncssh

from clearlane.accounts.passwords import DUMMY_HASH, verify_user_password
from clearlane.accounts.sftp_account import SftpAccount, SftpAccountState, normalize_account_name
from clearlane.kernel.clock import Clock
from clearlane.kernel.log import get_logger
from clearlane.pipeline.access.failed_sign_ins import FailedSignIns
from clearlane.pipeline.work_context import WorkContext
from clearlane.sftp_server.account_session import AccountSession, find_site
from clearlane.sftp_server.algorithms import AlgorithmSet, public_key_text
from clearlane.sftp_server.packet_stream import SftpStream
from clearlane.sftp_server.site_files import SiteFiles
from clearlane.store.accounts import sftp_accounts
from clearlane.store.database.database import StoreFault, Tx

log = get_logger()

TRIES_PER_CONNECTION_MAX = 12
CHANNELS_PER_CONNECTION_MAX = 10
REQUEST_ID_BYTES = 8
PASSWORD_CHARACTERS_MAX = 256
FAILED_OFTEN = "too many failed sign-ins"


class SignInLimit(Protocol):
    """Limits and slows the tries to sign in, by name and address."""

    def take(self, address: str, name: bytes) -> int:
        """Take one try; return 0, or the seconds to wait if there is none left."""

    def give_back(self, address: str, name: bytes) -> None:
        """Give back the try of a sign-in that succeeded."""

    async def delay_failure(self, address: str, key: bytes | None) -> None:
        """Sleep before a failure is answered."""

    def network(self, address: str) -> str:
        """Return the network that counts as one client."""

    def take_failure(self, address: str) -> bool:
        """Count a connection that failed to sign in; return whether its network has no failure left now."""

    def forgive_failure(self, address: str) -> None:
        """Count a failure no more: the connection signed in after it."""

    def is_blocked(self, address: str) -> bool:
        """Return whether a network has no failure left."""


class ConnectionRegister(Protocol):
    """Counts connections, and says whether there may be one more."""

    def add_connection(self, connection: "SftpSignIn") -> str:
        """Count a connection; return why it is refused, empty if it is not."""

    def add_session(self, connection: "SftpSignIn") -> bool: ...
    def remove_connection(self, connection: "SftpSignIn") -> None: ...


class SftpSignIn(asyncssh.SSHServer):
    """One connection, from its first byte to its last."""

    def __init__(
        self,
        context: WorkContext,
        register: ConnectionRegister,
        limit: SignInLimit,
        failures: FailedSignIns,
        *,
        wall: Clock,
        algorithms: AlgorithmSet,
        allows_passwords: bool,
    ) -> None:
        self._context = context
        self._register = register
        self._limit = limit
        self._failures = failures
        self._wall = wall
        self._algorithms = algorithms
        self._allows_passwords = allows_passwords
        self._request_id = secrets.token_hex(REQUEST_ID_BYTES)
        self._address = ""
        self.network = ""
        """The network that it comes from, which counts as one client."""
        self._account: SftpAccount | None = None
        self._tries = 0
        self._proof = ""
        self.connection: asyncssh.SSHServerConnection | None = None
        self.session: AccountSession | None = None

    @property
    def is_open(self) -> bool:
        """Whether a session of the connection has not ended."""
        return self.session is not None and self.session.channels > 0

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Refuse one connection too many."""
        self.connection = conn
        self._address = str((conn.get_extra_info("peername") or ("",))[0])
        self.network = self._limit.network(self._address)
        if refusal := self._register.add_connection(self):
            log.warning("sftp connection refused", reason=refusal, address=self._address)
            conn.abort()
        elif self._limit.is_blocked(self._address):  # was logged when it began
            conn.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Count the connection no more."""
        self._register.remove_connection(self)

    async def begin_auth(self, username: str) -> bool:
        """Look the account up. Everyone must prove who they are, also one who is unknown."""
        self._account = await self._find_account(normalize_account_name(username))
        return True

    async def _find_account(self, name: str) -> SftpAccount | None:
        """Return the account if it may sign in from here at this port."""
        try:
            async with self._context.database.read(sftp_accounts.SCOPE) as tx:
                account = await sftp_accounts.find_account(tx, name)
        except StoreFault as fault:
            log.warning("sftp account not looked up", fault=type(fault).__name__)
            return None
        if (
            account is None
            or account.state is not SftpAccountState.ACTIVE
            or not account.allows_address(self._address)
            or (self._algorithms.allows_sha1_signatures and not account.older_algorithms)
            or find_site(self._context, account) is None
        ):
            return None
        return account

    def public_key_auth_supported(self) -> bool:
        """Offer public keys."""
        return True

    async def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Return whether a key is the account's. The signature is checked after that."""
        if not await self._has_key(key):
            await self._fail(username)
            return False
        self._algorithms.limit_key(key)
        self._proof = f"key {key.get_fingerprint()}"
        return True

    async def _has_key(self, key: asyncssh.SSHKey) -> bool:
        if self._account is None:
            return False
        text = public_key_text(key)
        try:
            async with self._context.database.read(sftp_accounts.SCOPE) as tx:
                return await sftp_accounts.has_key(tx, self._account, key.get_fingerprint(), text)
        except StoreFault as fault:
            log.warning("sftp key not looked up", fault=type(fault).__name__)
            return False

    def password_auth_supported(self) -> bool:
        """Offer passwords if the operator allows them."""
        return self._allows_passwords

    async def validate_password(self, username: str, password: str) -> bool:
        """Return whether a password is the account's. An unknown account takes as long as a known one."""
        name = normalize_account_name(username).encode()
        if len(password) > PASSWORD_CHARACTERS_MAX or self._limit.take(self._address, name):
            await self._fail(username)
            return False
        stored = self._account.password_hash if self._account is not None else ""
        matches = await asyncio.to_thread(verify_user_password, stored or DUMMY_HASH, password)
        # A list of networks is part of the proof: an account without one has no password either.
        if matches and stored and self._account is not None and self._account.networks:
            self._limit.give_back(self._address, name)
            self._proof = "password"
            return True
        await self._fail(username)
        return False

    async def _fail(self, username: str) -> None:
        """Record a failure once for a connection, whose client may offer several keys, and slow down the next."""
        self._tries += 1
        name = normalize_account_name(username).encode()
        if self._tries == 1:
            self._failures.record(name, self._address, self._request_id)
            if self._limit.take_failure(self._address):
                log.warning("sftp address blocked", reason=FAILED_OFTEN, address=self._address)
            await self._limit.delay_failure(self._address, name)
        if self._tries >= TRIES_PER_CONNECTION_MAX and self.connection is not None:
            self.connection.abort()

    def session_requested(self) -> SftpStream:
        """Open a channel for SFTP."""
        session = self.session
        if session is None or session.channels >= CHANNELS_PER_CONNECTION_MAX:
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_RESOURCE_SHORTAGE, "Too many channels")
        session.channels += 1
        return SftpStream(lambda channel: SiteFiles(channel, session))

    async def auth_completed(self) -> None:
        """Begin the session of an account: it is recorded before anything else happens."""
        if self._tries:  # keys that the client tried before the right one
            self._limit.forgive_failure(self._address)
        account, connection = self._account, self.connection
        assert account is not None
        assert connection is not None
        self.session = AccountSession(
            self._context,
            account,
            address=self._address,
            request_id=self._request_id,
            wall=self._wall,
            monotonic=asyncio.get_running_loop().time,
        )
        if not self._register.add_session(self):
            log.warning("sftp connection refused", reason="too many of the account")
            connection.abort()
            return
        session = self.session

        async def job(tx: Tx) -> None:
            await sftp_accounts.record_sign_in(tx, account, self._proof, self._wall.now())

        try:
            await self._context.database.write(account.scope, job, actor=session.actor)
        except StoreFault as fault:
            log.warning("sftp sign-in not recorded", fault=type(fault).__name__)
            connection.abort()
