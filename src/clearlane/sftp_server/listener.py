"""Listen for SFTP connections, limit them, keep host keys up to date, and stop gracefully.

Takes values and sockets; knows no settings and no signals. Off unless the operator names a port.
"""

import asyncio
import logging
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import asyncssh

from clearlane.kernel.log import get_logger
from clearlane.kernel.tasks import cancel_all
from clearlane.pipeline.access.failed_sign_ins import FailedSignIns
from clearlane.pipeline.installation_context import InstallationContext
from clearlane.sftp_server.account_sign_in import SftpSignIn, SignInLimit
from clearlane.sftp_server.algorithms import CURRENT_ALGORITHMS, OLDER_ALGORITHMS, AlgorithmSet
from clearlane.sftp_server.host_keys import HostKeyChoice, choose_host_keys, ensure_host_keys
from clearlane.store.accounts import sftp_accounts
from clearlane.store.database.database import StoreFault
from clearlane.store.installation.sftp_host_keys import load_host_keys

log = get_logger()

LOGIN_SECONDS_MAX = 30
KEEPALIVE_SECONDS = 60
KEEPALIVES_MISSED_MAX = 3
WATCH_SECONDS = 10.0
FLUSH_SECONDS_MAX = 5.0
STOP_LOOK_SECONDS = 0.05
BUSY_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SftpLimits:
    """Limits of connections."""

    connections_max: int = 500
    connections_per_account_max: int = 100
    waiting_per_address_max: int = 250
    """Connections of an address that have not signed in."""
    idle_seconds_max: float = 900
    stop_seconds_max: float = 10


class SftpServer:
    """The SFTP server of a node."""

    def __init__(
        self,
        installation: InstallationContext,
        sign_in_limit: SignInLimit,
        *,
        allows_passwords: bool = False,
        limits: SftpLimits = SftpLimits(),  # noqa: B008  (frozen)
        watch_seconds: float = WATCH_SECONDS,
    ) -> None:
        self._installation = installation
        self._sign_in_limit = sign_in_limit
        self._failures = FailedSignIns(installation.database, installation.vault, "sftp")
        self._allows_passwords = allows_passwords
        self._limits = limits
        self._watch_seconds = watch_seconds
        self._connections: set[SftpSignIn] = set()
        self._of_account: Counter[int] = Counter()
        self._waiting: Counter[str] = Counter()
        """Connections that have not signed in, by network."""
        self._host_keys = HostKeyChoice((), ())
        self._acceptors: dict[AlgorithmSet, asyncssh.SSHAcceptor] = {}

    @asynccontextmanager
    async def open(
        self, listener: socket.socket, older_listener: socket.socket | None = None
    ) -> AsyncIterator["SftpServer"]:
        """Serve on sockets, the second for older algorithms; on exit let transfers finish and stop."""
        # Its lines at lower levels name files, and people put patients' names into those.
        asyncssh.set_log_level(logging.ERROR)
        installation = self._installation
        keys = await ensure_host_keys(
            installation.database, installation.vault, installation.wall.now()
        )
        self._host_keys = choose_host_keys(keys, installation.wall.now())
        await self._listen(listener, CURRENT_ALGORITHMS)
        if older_listener is not None:
            await self._listen(older_listener, OLDER_ALGORITHMS)
        watching = asyncio.create_task(self._watch())
        try:
            yield self
        finally:
            await cancel_all([watching])
            await self._stop()

    @property
    def port(self) -> int:
        """The port for the algorithms of today."""
        return int(self._acceptors[CURRENT_ALGORITHMS].get_port())

    @property
    def older_port(self) -> int:
        """The port for older algorithms."""
        return int(self._acceptors[OLDER_ALGORITHMS].get_port())

    @property
    def connections(self) -> int:
        """Connections that are open."""
        return len(self._connections)

    async def _listen(self, listener: socket.socket, algorithms: AlgorithmSet) -> None:
        self._acceptors[algorithms] = await asyncssh.listen(
            sock=listener,
            server_factory=self._connection_factory(algorithms),
            config=None,
            server_host_keys=self._host_keys.pairs(algorithms),
            send_server_host_keys=True,
            allow_pty=False,
            agent_forwarding=False,
            x11_forwarding=False,
            gss_host=None,
            host_based_auth=False,
            line_editor=False,
            encoding=None,
            server_version="Clearlane",
            kex_algs=algorithms.key_exchanges,
            encryption_algs=algorithms.ciphers,
            mac_algs=algorithms.macs,
            signature_algs=algorithms.signatures,
            compression_algs=None,
            login_timeout=LOGIN_SECONDS_MAX,
            keepalive_interval=KEEPALIVE_SECONDS,
            keepalive_count_max=KEEPALIVES_MISSED_MAX,
        )

    def _connection_factory(self, algorithms: AlgorithmSet) -> Callable[[], SftpSignIn]:
        return partial(
            SftpSignIn,
            self._installation.work_context,
            self,
            self._sign_in_limit,
            self._failures,
            wall=self._installation.wall,
            algorithms=algorithms,
            allows_passwords=self._allows_passwords,
        )

    # ---- counting connections --------------------------------------------------------------------

    def add_connection(self, connection: SftpSignIn) -> str:
        """Count a connection; return why it is refused, empty if it is not."""
        self._connections.add(connection)
        self._waiting[connection.network] += 1
        if len(self._connections) > self._limits.connections_max:
            return "too many"
        if self._waiting[connection.network] > self._limits.waiting_per_address_max:
            return "too many of the address that have not signed in"
        return ""

    def add_session(self, connection: SftpSignIn) -> bool:
        """Count a connection of an account; return whether it may have one more."""
        assert connection.session is not None
        self._end_waiting(connection)
        account = connection.session.account.id
        self._of_account[account] += 1
        return self._of_account[account] <= self._limits.connections_per_account_max

    def remove_connection(self, connection: SftpSignIn) -> None:
        """Count a connection no more."""
        self._connections.discard(connection)
        if connection.session is None:
            self._end_waiting(connection)
        else:
            self._of_account[connection.session.account.id] -= 1

    def _end_waiting(self, connection: SftpSignIn) -> None:
        self._waiting[connection.network] -= 1
        if not self._waiting[connection.network]:
            del self._waiting[connection.network]

    # ---- while it runs ---------------------------------------------------------------------------

    async def _watch(self) -> None:
        """Follow new host keys, and end connections that are idle or whose account was disabled."""
        while True:
            await asyncio.sleep(self._watch_seconds)
            try:
                await self._follow_host_keys()
                await self._end_connections()
            except StoreFault as fault:  # the next look may succeed
                log.warning("sftp server not refreshed", fault=type(fault).__name__)

    async def _follow_host_keys(self) -> None:
        installation = self._installation
        keys = await load_host_keys(installation.database, installation.vault)
        chosen = choose_host_keys(keys, installation.wall.now())
        if chosen == self._host_keys:
            return
        self._host_keys = chosen
        for algorithms, acceptor in self._acceptors.items():
            acceptor.update(server_host_keys=chosen.pairs(algorithms), send_server_host_keys=True)
        log.info("sftp host keys changed", keys=len(chosen.proving), next=len(chosen.announced))

    async def _end_connections(self) -> None:
        signed_in = [each for each in self._connections if each.session is not None]
        ids = sorted({each.session.account.id for each in signed_in if each.session})
        async with self._installation.database.read(sftp_accounts.SCOPE) as tx:
            active = await sftp_accounts.active_accounts(tx, ids) if ids else set()
        for each in signed_in:
            assert each.session is not None
            assert each.connection is not None
            if each.session.account.id not in active:
                each.connection.abort()
            elif each.session.idle_seconds > self._limits.idle_seconds_max:
                each.connection.close()

    async def _stop(self) -> None:
        """Accept no more connections, let those that are open finish for a while, then end them."""
        for acceptor in self._acceptors.values():
            acceptor.close()
        loop = asyncio.get_running_loop()
        end = loop.time() + self._limits.stop_seconds_max
        while self._busy() and loop.time() < end:  # noqa: ASYNC110  (transfers end by themselves)
            await asyncio.sleep(STOP_LOOK_SECONDS)
        left = list(self._connections)
        for each in left:
            if each.connection is not None:
                each.connection.abort()
        # What came of an unfinished file is stored before the database is closed.
        end = loop.time() + FLUSH_SECONDS_MAX
        while any(each.is_open for each in left) and loop.time() < end:  # noqa: ASYNC110
            await asyncio.sleep(STOP_LOOK_SECONDS)

    def _busy(self) -> bool:
        """Return whether a session did something just now."""
        return any(
            each.session is not None and each.session.idle_seconds < BUSY_SECONDS
            for each in self._connections
        )
