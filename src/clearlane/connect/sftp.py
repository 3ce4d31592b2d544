"""A mailbox of two directories on a payer's SFTP server.

The server is identified by its pinned host key alone: any other key ends the connection before
the login. This machine's own SSH configuration is not used.
"""

import asyncio
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import PurePosixPath

import asyncssh

from clearlane.connect.address_guard import Lookup, query_name_server, resolve
from clearlane.connect.connection_check import ConnectionCheck, describe_waiting, run_checks
from clearlane.connect.file_names import (
    escape_incoming_name,
    is_incoming_name,
    is_odd_name,
    require_incoming_name,
    require_outgoing_name,
)
from clearlane.connect.port import (
    BeforeArrival,
    Denied,
    FileChanged,
    IncomingFile,
    Presence,
    Unreachable,
    no_mark,
)
from clearlane.kernel import limits
from clearlane.payers.name_patterns import PARTIAL_SUFFIX, matches_incoming
from clearlane.payers.routes import Route, RouteSecrets

# Silence is counted from block to block, so that a slow transfer that goes on is not cut off. Several blocks are on their
# way at once, and so are several small files: a distant server would else be asked for one at a time.
TRANSFER_BLOCK_BYTES = 64 * 1024
TRANSFER_BLOCKS_AT_ONCE = 16
FILES_AT_ONCE = 16
SMALL_FILE_BYTES_MAX = 32 * 1024 - 1
"""A file that is read by one request: every server answers so much at once."""
NANOS = 1_000_000_000
TIME_STEP_SECONDS = 1
"""The times of most SFTP servers are whole seconds, so a difference may be too large by this."""


# Errors that an operator must fix; any other may pass by itself.
PERMANENT_ERRORS = (
    asyncssh.SFTPPermissionDenied,
    asyncssh.SFTPNoSuchFile,
    asyncssh.SFTPNoSuchPath,
    asyncssh.SFTPNotADirectory,
    asyncssh.SFTPWriteProtect,
    asyncssh.SFTPFileIsADirectory,
    asyncssh.SFTPInvalidFilename,
    asyncssh.SFTPOpUnsupported,
)
NOT_FOUND_ERRORS = (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath)
CONNECTION_LOST_ERRORS = (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection)
CLOSE_SECONDS = 2


class _SftpCall:
    """A call of the mailbox on its SFTP session, with the timers that end the connection if the server does not answer.

    A silent connection is aborted, rather than the call that waits on it canceled: a canceled call would wait again, for
    the server to close its file.
    """

    def __init__(
        self, sftp: asyncssh.SFTPClient, seconds: float, disconnect: Callable[[], None]
    ) -> None:
        self.sftp = sftp
        self._seconds = seconds
        self._disconnect = disconnect
        later = asyncio.get_running_loop().call_later
        self._silence_timer = later(seconds, disconnect)
        self._transfer_timer = later(seconds, disconnect)

    def answered(self) -> None:
        """Count silence from now on."""
        self._silence_timer.cancel()
        self._silence_timer = asyncio.get_running_loop().call_later(self._seconds, self._disconnect)

    def begin_transfer(self, size: int) -> None:
        """Limit the time of a whole transfer, however slowly it trickles."""
        self._transfer_timer.cancel()
        seconds = self._seconds + size / limits.TRANSFER_BYTES_PER_SECOND_MIN
        self._transfer_timer = asyncio.get_running_loop().call_later(seconds, self._disconnect)

    def end(self) -> None:
        """Stop the timers."""
        self._silence_timer.cancel()
        self._transfer_timer.cancel()


class SftpMailbox:
    """A mailbox over SFTP. It connects when first used, and again after the connection was lost.

    SFTP does not tell the server's time. The time of the inbox directory is one that the server's clock has passed, since
    the server itself set it when a file last came or went: a file that is older than that by some time is at least so old.
    Nothing is written there to learn more, and this machine's clock is not asked. If the directory tells nothing, a file
    is taken when two visits saw it the same.
    """

    files_are_whole = False
    files_at_once = FILES_AT_ONCE

    def __init__(
        self, route: Route, secrets: RouteSecrets, lookup: Lookup = query_name_server
    ) -> None:
        self._route = route
        self._secrets = secrets
        self._lookup = lookup
        self._outbox = PurePosixPath(route.text("outbox"))
        self._inbox = PurePosixPath(route.text("inbox"))
        self._inbox_names = route.text("inbox_names")
        self._seconds = route.number("seconds_max")
        self._bytes_max = route.number("bytes_max")
        self._connection: asyncssh.SSHClientConnection | None = None
        self._sftp: asyncssh.SFTPClient | None = None
        self.passed_over = 0
        self._listed: dict[str, int] = {}
        """Sizes of the plain files that the last look at those that wait has found, by name."""
        self._taken: dict[str, int] = {}
        self._was_silent = False
        self._connecting = asyncio.Lock()

    async def put(self, name: str, content: bytes, before_arrival: BeforeArrival = no_mark) -> None:
        final = str(self._outbox / require_outgoing_name(name))
        if len(content) > self._bytes_max:
            raise Denied(f"The file is larger than {self._bytes_max} bytes.")
        # The payer collects nothing before the rename, so a failure until then means: not arrived.
        async with self._session(Presence.ABSENT) as call:
            if await self._is_there_already(call, final, content):
                return
            await self._upload(call, final + PARTIAL_SUFFIX, content)
        await before_arrival()
        async with self._session(Presence.UNKNOWN) as call:
            await call.sftp.rename(final + PARTIAL_SUFFIX, final)

    async def look(self, name: str) -> Presence:
        final = str(self._outbox / require_outgoing_name(name))
        async with self._session() as call:
            sftp = call.sftp
            if await sftp.lexists(final):
                return Presence.THERE
            # A file that the payer has collected is missing just like one that never came.
            missed = self._route.flag("uploads_stay") or await sftp.lexists(final + PARTIAL_SUFFIX)
            # Raises if the directory is gone: that proves nothing.
            await sftp.stat(str(self._outbox))
            return Presence.ABSENT if missed else Presence.UNKNOWN

    async def waiting(self) -> list[IncomingFile]:
        found: list[tuple[int, str, int]] = []
        odd = 0
        directory_nanos: int | None = None
        async with self._session() as call:
            async for entry in call.sftp.scandir(str(self._inbox)):
                name, facts = str(entry.filename), entry.attrs
                if name == ".":
                    directory_nanos = _modified_nanos(facts) or None
                if not matches_incoming(self._inbox_names, name):
                    continue
                odd += is_odd_name(name) and _is_plain(facts)
                if is_incoming_name(name) and _is_plain(facts):
                    found.append(
                        (_modified_nanos(facts), escape_incoming_name(name), facts.size or 0)
                    )
                if len(found) >= limits.FILES_WAITING_MAX:
                    break
        self.passed_over = odd
        self._listed = {name: size for _, name, size in found}
        return [
            IncomingFile(name, size, modified, _age_seconds(modified, directory_nanos))
            for modified, name, size in sorted(found)
        ]

    async def take(self, name: str) -> bytes:
        path = str(self._inbox / require_incoming_name(name))
        async with self._session() as call:
            size = self._listed.get(name)
            if size is None:
                size = await self._plain_size(call, path)
            content = await self._download(call, path, size)
        self._taken[name] = len(content)
        return content

    async def drop(self, name: str, seen: IncomingFile | None = None) -> None:
        file = str(self._inbox / require_incoming_name(name))
        size = self._taken.pop(name, None)
        async with self._session() as call:
            try:
                facts = await call.sftp.lstat(file)
                grew = size is not None and facts.size != size
                found = (facts.size or 0, _modified_nanos(facts))
                if grew or (seen is not None and found != (seen.size, seen.modified_nanos)):
                    raise FileChanged("The file has changed since it was read.")
                await call.sftp.remove(file)
            except NOT_FOUND_ERRORS:
                return

    async def close(self) -> None:
        connection, self._connection, self._sftp = self._connection, None, None
        if connection is None:
            return
        connection.close()
        with suppress(TimeoutError, OSError, asyncssh.Error):
            async with asyncio.timeout(CLOSE_SECONDS):
                await connection.wait_closed()
                return
        connection.abort()

    async def check(self) -> list[ConnectionCheck]:
        """Log in and check both directories; nothing is sent."""

        async def login() -> str:
            async with self._session():
                return f"logged in to {self._address_text} as {self._route.text('username')}"

        async def outbox() -> str:
            async with self._session() as call:
                if not await call.sftp.isdir(str(self._outbox)):
                    raise Denied(f"There is no directory {self._outbox}.")
                return f"{self._outbox} is there"

        async def inbox() -> str:
            files = await self.waiting()
            return f"{self._inbox} can be read: {describe_waiting(len(files), self.passed_over)}"

        return await run_checks([("login", login), ("outbox", outbox), ("inbox", inbox)])

    @property
    def _address_text(self) -> str:
        return f"{self._route.text('host')}:{self._route.number('port')}"

    @asynccontextmanager
    async def _session(self, arrival: Presence = Presence.UNKNOWN) -> AsyncIterator[_SftpCall]:
        """Yield a call of the SFTP session; raise Denied or Unreachable for its errors and drop a broken connection."""
        call = _SftpCall(await self._connected(), self._seconds, self._disconnect_silent)
        try:
            yield call
        except PERMANENT_ERRORS as fault:
            raise Denied(f"{self._address_text} refused: {_fault_name(fault)}.") from None
        except (asyncssh.Error, OSError) as fault:
            is_lost = not isinstance(fault, asyncssh.SFTPError)
            is_lost |= isinstance(fault, CONNECTION_LOST_ERRORS)
            if is_lost and call.sftp is self._sftp:  # not one that was made since
                self._abandon()
            message = f"{self._address_text} failed: {_fault_name(fault)}."
            if self._was_silent:
                message = (
                    f"{self._address_text} was silent for {self._seconds} seconds, or too slow."
                )
            raise Unreachable(message, arrival) from None
        finally:
            call.end()

    async def _connected(self) -> asyncssh.SFTPClient:
        """Return the session; calls side by side make one connection."""
        if self._sftp is None:
            async with self._connecting:
                if self._sftp is None:
                    self._was_silent = False
                    return await self._connect()
        return self._sftp

    def _abandon(self) -> None:
        connection, self._connection, self._sftp = self._connection, None, None
        if connection is not None:
            connection.abort()

    async def _connect(self) -> asyncssh.SFTPClient:
        address = await resolve(
            self._route.text("host"),
            self._route.number("port"),
            allow_internal=self._route.flag("allow_internal"),
            seconds=limits.CONNECT_SECONDS_MAX,
            lookup=self._lookup,
        )
        seen = _HostKey(self._route.text("host_key"))
        seconds = min(self._seconds, limits.CONNECT_SECONDS_MAX)
        try:
            async with asyncio.timeout(seconds):
                self._connection = await asyncssh.connect(
                    address,
                    self._route.number("port"),
                    options=self._options(seen),
                )
                self._sftp = await self._connection.start_sftp_client(path_errors="surrogateescape")
        except TimeoutError:
            self._abandon()
            message = f"{self._address_text} did not answer in {seconds} seconds."
            raise Unreachable(message, Presence.ABSENT) from None
        except asyncssh.HostKeyNotVerifiable:
            raise Denied(
                f"{self._address_text} showed the host key {seen.shown or 'of an unknown kind'}, "
                "which is not the pinned one."
            ) from None
        except (asyncssh.PermissionDenied, asyncssh.IllegalUserName):
            raise Denied(f"{self._address_text} refused the login.") from None
        except asyncssh.KeyExchangeFailed:
            raise Denied(f"{self._address_text} offers no acceptable host key or cipher.") from None
        except asyncssh.ChannelOpenError:
            self._abandon()
            raise Denied(f"{self._address_text} accepted the login, but offers no SFTP.") from None
        except (asyncssh.Error, OSError) as fault:
            self._abandon()
            message = f"{self._address_text} cannot be reached: {_fault_name(fault)}."
            raise Unreachable(message, Presence.ABSENT) from None
        return self._sftp

    def _options(self, seen: "_HostKey") -> asyncssh.SSHClientConnectionOptions:
        """Return options from the route alone, none of the user that this process runs as."""
        seconds = limits.CONNECT_SECONDS_MAX
        return asyncssh.SSHClientConnectionOptions(
            username=self._route.text("username"),
            password=self._secrets.password,
            client_keys=self._keys(),
            known_hosts=(seen.keys, [], []),
            client_factory=lambda: _Client(seen),
            config=None,
            agent_path=None,
            x509_trusted_certs=None,
            gss_host=None,
            connect_timeout=seconds,
            login_timeout=seconds,
        )

    def _keys(self) -> list[asyncssh.SSHKey] | None:
        if self._secrets.private_key is None:
            return None
        try:
            key = asyncssh.import_private_key(self._secrets.private_key, self._secrets.passphrase)
        except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError, ValueError):
            raise Denied(
                "The private key of the route cannot be read with its passphrase."
            ) from None
        return [key]

    async def _is_there_already(self, call: _SftpCall, final: str, content: bytes) -> bool:
        """Return whether this very file is there; raise Denied for another file of its name."""
        try:
            size = await self._plain_size(call, final)
        except NOT_FOUND_ERRORS:
            return False
        if size != len(content) or await self._download(call, final, size) != content:
            raise Denied("Another file of this name is there.")
        return True

    async def _upload(self, call: _SftpCall, partial: str, content: bytes) -> None:
        call.begin_transfer(len(content))
        window = TRANSFER_BLOCK_BYTES * TRANSFER_BLOCKS_AT_ONCE
        async with call.sftp.open(partial, "wb", block_size=TRANSFER_BLOCK_BYTES) as file:

            async def write_block(at: int) -> None:
                await file.write(content[at : at + TRANSFER_BLOCK_BYTES], at)
                call.answered()

            for start in range(0, len(content), window):
                blocks = range(start, min(start + window, len(content)), TRANSFER_BLOCK_BYTES)
                await asyncio.gather(*map(write_block, blocks))
            with suppress(asyncssh.SFTPOpUnsupported, asyncssh.SFTPFailure):
                await file.fsync()
        facts = await call.sftp.lstat(partial)
        if facts.size is not None and facts.size != len(content):
            raise Unreachable(f"{self._address_text} stored less than was sent.", Presence.ABSENT)

    async def _plain_size(self, call: _SftpCall, path: str) -> int:
        """Return the size of a plain file; raise Denied for any other entry."""
        facts = await call.sftp.lstat(path)
        if not _is_plain(facts):
            raise Denied("The entry with this name is not a plain file.")
        return facts.size or 0

    async def _download(self, call: _SftpCall, path: str, size: int) -> bytes:
        """Read a file that had a size when it was looked at."""
        if size > self._bytes_max:
            raise Denied(f"The file is larger than {self._bytes_max} bytes.")
        call.begin_transfer(size)
        # One byte more than there is, to notice a file that has grown.
        if size <= SMALL_FILE_BYTES_MAX:
            async with call.sftp.open(path, "rb", block_size=0) as file:
                small: bytes = await file.read(size + 1, 0)
            if len(small) != size:
                raise FileChanged("The file is still being written.")
            return small
        content, count = bytearray(size + 1), 0
        async with call.sftp.open(
            path, "rb", block_size=TRANSFER_BLOCK_BYTES, max_requests=TRANSFER_BLOCKS_AT_ONCE
        ) as file:
            async for at, block in await file.read_parallel(size + 1, 0):
                call.answered()
                content[at : at + len(block)] = block
                count += len(block)
        if count != size:
            raise FileChanged("The file is still being written.")
        return bytes(content[:size])

    def _disconnect_silent(self) -> None:
        self._was_silent = True
        self._abandon()


class _HostKey:
    """The pinned host keys of a route, and the key that the server showed."""

    def __init__(self, pins: str) -> None:
        pinned = pins.split(",")
        self.prints = {pin for pin in pinned if pin.startswith("SHA256:")}
        self.shown = ""
        try:
            public_keys = (pin for pin in pinned if pin not in self.prints)
            self.keys = [asyncssh.import_public_key(key) for key in public_keys]
        except asyncssh.KeyImportError:
            raise Denied("The pinned host key of the route cannot be read.") from None


class _Client(asyncssh.SSHClient):
    """SSH client that accepts a host key by its pinned fingerprint."""

    def __init__(self, pinned: _HostKey) -> None:
        self._pinned = pinned

    def validate_host_public_key(
        self, host: str, addr: str, port: int, key: asyncssh.SSHKey
    ) -> bool:
        self._pinned.shown = key.get_fingerprint()
        return self._pinned.shown in self._pinned.prints


def _is_plain(facts: asyncssh.SFTPAttrs) -> bool:
    if facts.permissions is not None and stat.S_IFMT(facts.permissions):
        return stat.S_ISREG(facts.permissions)
    return facts.type in {asyncssh.FILEXFER_TYPE_REGULAR, asyncssh.FILEXFER_TYPE_UNKNOWN}


def _modified_nanos(facts: asyncssh.SFTPAttrs) -> int:
    """Return when a file was last changed, by the server's clock; 0 if the server does not say."""
    return (facts.mtime or 0) * NANOS + (facts.mtime_ns or 0)


def _age_seconds(modified_nanos: int, directory_nanos: int | None) -> float | None:
    """Return how old a file is at least; None if the server does not tell enough."""
    if not modified_nanos or directory_nanos is None:
        return None
    return (directory_nanos - modified_nanos) / NANOS - TIME_STEP_SECONDS


def _fault_name(fault: BaseException) -> str:
    """Return the kind of a failure. The server's own message may quote anything, so it is left out."""
    names: dict[type[BaseException], str] = {
        asyncssh.SFTPPermissionDenied: "no permission",
        asyncssh.SFTPNoSuchFile: "no such file or directory",
        asyncssh.SFTPNoSuchPath: "no such file or directory",
        asyncssh.ConnectionLost: "connection lost",
        ConnectionRefusedError: "connection refused",
        ConnectionResetError: "connection reset",
    }
    return names.get(type(fault), type(fault).__name__)
