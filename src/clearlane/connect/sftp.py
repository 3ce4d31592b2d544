"""SFTP: a directory of a payer's server for our files, another with theirs.

The server is known by its host key and by nothing else: a key that is not pinned ends the
connection before we log in. Nothing of this machine's own SSH setup is used.
"""

import asyncio
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import PurePosixPath

import asyncssh

from clearlane.connect.address_guard import Lookup, ask_name_server, resolve
from clearlane.connect.connection_test import Check, run_steps
from clearlane.connect.file_names import PART, is_theirs, require_ours, require_theirs
from clearlane.connect.port import Denied, Incoming, Presence, Unreachable
from clearlane.kernel import limits
from clearlane.payers.routes import Route, Secrets

# What a server says when a person must look; anything else may pass by itself.
LASTING = (
    asyncssh.SFTPPermissionDenied,
    asyncssh.SFTPNoSuchFile,
    asyncssh.SFTPNoSuchPath,
    asyncssh.SFTPNotADirectory,
    asyncssh.SFTPWriteProtect,
    asyncssh.SFTPFileIsADirectory,
    asyncssh.SFTPInvalidFilename,
    asyncssh.SFTPOpUnsupported,
)
MISSING = (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath)
LOST = (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection)
CLOSE_SECONDS = 2


class _Never:
    """A timer that was never set."""

    def cancel(self) -> None:
        """There is nothing to cancel."""


_NEVER: "_Never | asyncio.TimerHandle" = _Never()


class SftpMailbox:
    """A mailbox behind SSH. It connects when it is first used and again when the line was lost."""

    def __init__(self, route: Route, secrets: Secrets, lookup: Lookup = ask_name_server) -> None:
        self._route = route
        self._secrets = secrets
        self._lookup = lookup
        self._outbox = PurePosixPath(route.text("outbox"))
        self._inbox = PurePosixPath(route.text("inbox"))
        self._seconds = route.number("seconds_max")
        self._bytes_max = route.number("bytes_max")
        self._line: asyncssh.SSHClientConnection | None = None
        self._sftp: asyncssh.SFTPClient | None = None
        self._taken: dict[str, int] = {}
        self._was_silent = False
        self._silence = self._end = _NEVER

    async def put(self, name: str, content: bytes) -> None:
        final = str(self._outbox / require_ours(name))
        if len(content) > self._bytes_max:
            raise Denied(f"The file is larger than {self._bytes_max} bytes.")
        # Until it has its name, nobody takes it for a file: a failure before that is a plain one.
        async with self._talk(Presence.ABSENT) as sftp:
            if await self._same(sftp, final, content):
                return
            await self._upload(sftp, final + PART, content)
        async with self._talk(Presence.UNKNOWN) as sftp:
            await sftp.rename(final + PART, final)

    async def look(self, name: str) -> Presence:
        final = str(self._outbox / require_ours(name))
        async with self._talk() as sftp:
            if await sftp.lexists(final):
                return Presence.THERE
            # A file that the payer has collected is missing just like one that never came.
            missed = self._route.switch("uploads_stay") or await sftp.lexists(final + PART)
            await sftp.stat(str(self._outbox))  # a directory that is gone tells nothing
            return Presence.ABSENT if missed else Presence.UNKNOWN

    async def waiting(self) -> list[Incoming]:
        found: list[tuple[int, str, int]] = []
        async with self._talk() as sftp:
            async for entry in sftp.scandir(str(self._inbox)):
                name, facts = str(entry.filename), entry.attrs
                if is_theirs(name) and _is_plain(facts):
                    found.append((facts.mtime or 0, name, facts.size or 0))
                if len(found) >= limits.FILES_WAITING_MAX:
                    break
        return [Incoming(name, size) for _, name, size in sorted(found)]

    async def take(self, name: str) -> bytes:
        async with self._talk() as sftp:
            content = await self._download(sftp, str(self._inbox / require_theirs(name)))
        self._taken[name] = len(content)
        return content

    async def drop(self, name: str) -> None:
        file = str(self._inbox / require_theirs(name))
        size = self._taken.pop(name, None)
        async with self._talk() as sftp:
            try:
                facts = await sftp.lstat(file)
                if size is not None and facts.size != size:
                    raise Unreachable("The file has changed since it was read.")
                await sftp.remove(file)
            except MISSING:
                return

    async def close(self) -> None:
        line, self._line, self._sftp = self._line, None, None
        if line is None:
            return
        line.close()
        with suppress(TimeoutError, OSError, asyncssh.Error):
            async with asyncio.timeout(CLOSE_SECONDS):
                await line.wait_closed()
                return
        line.abort()

    async def check(self) -> list[Check]:
        """Log in and look at both directories; nothing is sent."""

        async def login() -> str:
            async with self._talk():
                return f"logged in to {self._where} as {self._route.text('username')}"

        async def outbox() -> str:
            async with self._talk() as sftp:
                if not await sftp.isdir(str(self._outbox)):
                    raise Denied(f"There is no directory {self._outbox}.")
                return f"{self._outbox} is there"

        async def inbox() -> str:
            files = await self.waiting()
            return f"{self._inbox} is read: {len(files)} files for us"

        return await run_steps([("login", login), ("outbox", outbox), ("inbox", inbox)])

    @property
    def _where(self) -> str:
        return f"{self._route.text('host')}:{self._route.number('port')}"

    @asynccontextmanager
    async def _talk(
        self, arrival: Presence = Presence.UNKNOWN
    ) -> AsyncIterator[asyncssh.SFTPClient]:
        """The session; whatever goes wrong is told in our words, and a broken line is let go."""
        sftp = self._sftp or await self._connect()
        self._was_silent = False
        self._heard()
        self._allow(0)
        try:
            yield sftp
        except LASTING as fault:
            raise Denied(f"{self._where} refused: {_kind(fault)}.") from None
        except (asyncssh.Error, OSError) as fault:
            if not isinstance(fault, asyncssh.SFTPError) or isinstance(fault, LOST):
                self._abandon()
            words = f"{self._where} failed: {_kind(fault)}."
            if self._was_silent:
                words = f"{self._where} was silent for {self._seconds} seconds, or too slow."
            raise Unreachable(words, arrival) from None
        finally:
            self._silence.cancel()
            self._end.cancel()

    def _abandon(self) -> None:
        line, self._line, self._sftp = self._line, None, None
        if line is not None:
            line.abort()

    async def _connect(self) -> asyncssh.SFTPClient:
        address = await resolve(
            self._route.text("host"),
            self._route.number("port"),
            allow_internal=self._route.switch("allow_internal"),
            seconds=limits.CONNECT_SECONDS_MAX,
            lookup=self._lookup,
        )
        seen = _HostKey(self._route.text("host_key"))
        seconds = min(self._seconds, limits.CONNECT_SECONDS_MAX)
        try:
            async with asyncio.timeout(seconds):
                self._line = await asyncssh.connect(
                    address,
                    self._route.number("port"),
                    options=self._options(seen),
                )
                self._sftp = await self._line.start_sftp_client(path_errors="surrogateescape")
        except TimeoutError:
            self._abandon()
            words = f"{self._where} did not answer in {seconds} seconds."
            raise Unreachable(words, Presence.ABSENT) from None
        except asyncssh.HostKeyNotVerifiable:
            raise Denied(
                f"{self._where} showed the host key {seen.shown or 'of an unknown kind'}, "
                "which is not the pinned one."
            ) from None
        except (asyncssh.PermissionDenied, asyncssh.IllegalUserName):
            raise Denied(f"{self._where} refused the login.") from None
        except asyncssh.KeyExchangeFailed:
            raise Denied(f"{self._where} offers no host key or cipher that we accept.") from None
        except asyncssh.ChannelOpenError:
            self._abandon()
            raise Denied(f"{self._where} let us in, but has no SFTP for us.") from None
        except (asyncssh.Error, OSError) as fault:
            self._abandon()
            words = f"{self._where} cannot be reached: {_kind(fault)}."
            raise Unreachable(words, Presence.ABSENT) from None
        return self._sftp

    def _options(self, seen: "_HostKey") -> asyncssh.SSHClientConnectionOptions:
        """Only what the route says; nothing of the user this process runs as."""
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

    async def _same(self, sftp: asyncssh.SFTPClient, final: str, content: bytes) -> bool:
        """Whether this very file is there; another one of its name is refused."""
        try:
            facts = await sftp.lstat(final)
        except MISSING:
            return False
        if facts.size != len(content) or await self._download(sftp, final) != content:
            raise Denied("Another file of this name is there.")
        return True

    async def _upload(self, sftp: asyncssh.SFTPClient, begun: str, content: bytes) -> None:
        self._allow(len(content))
        async with sftp.open(begun, "wb") as file:
            for at in range(0, len(content), limits.TRANSFER_CHUNK_BYTES):
                await file.write(content[at : at + limits.TRANSFER_CHUNK_BYTES])
                self._heard()
            with suppress(asyncssh.SFTPOpUnsupported, asyncssh.SFTPFailure):
                await file.fsync()
        facts = await sftp.lstat(begun)
        if facts.size is not None and facts.size != len(content):
            raise Unreachable(f"{self._where} kept less than was sent.", Presence.ABSENT)

    async def _download(self, sftp: asyncssh.SFTPClient, path: str) -> bytes:
        facts = await sftp.lstat(path)
        size = facts.size or 0
        if not _is_plain(facts):
            raise Denied("What has this name is no plain file.")
        if size > self._bytes_max:
            raise Denied(f"The file is larger than {self._bytes_max} bytes.")
        self._allow(size)
        content = bytearray()
        async with sftp.open(path, "rb") as file:
            while len(content) <= size:
                chunk: bytes = await file.read(limits.TRANSFER_CHUNK_BYTES)
                self._heard()
                if not chunk:
                    break
                content += chunk
        if len(content) != size:
            raise Unreachable("The file is still being written.")
        return bytes(content)

    # A line that is silent is cut, rather than the call that waits for it: whatever waits then ends by
    # itself. A call that is cut off would wait again, for the other side to close its file.

    def _heard(self) -> None:
        """The other side gave a sign: the silence starts anew."""
        self._silence.cancel()
        self._silence = asyncio.get_running_loop().call_later(self._seconds, self._cut)

    def _allow(self, size: int) -> None:
        """Give a transfer the time it may take as a whole, however it trickles."""
        self._end.cancel()
        seconds = self._seconds + size / limits.TRANSFER_BYTES_PER_SECOND_MIN
        self._end = asyncio.get_running_loop().call_later(seconds, self._cut)

    def _cut(self) -> None:
        self._was_silent = True
        self._abandon()


class _HostKey:
    """The pins of a route, and the key that the server showed."""

    def __init__(self, pins: str) -> None:
        words = pins.split(",")
        self.prints = {word for word in words if word.startswith("SHA256:")}
        self.shown = ""
        try:
            lines = (word for word in words if word not in self.prints)
            self.keys = [asyncssh.import_public_key(line) for line in lines]
        except asyncssh.KeyImportError:
            raise Denied("The pinned host key of the route cannot be read.") from None


class _Client(asyncssh.SSHClient):
    """Asked about host keys that are not among the known ones."""

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


def _kind(fault: BaseException) -> str:
    """What sort of failure it was. The other side's own words may quote anything, so they stay out."""
    words: dict[type[BaseException], str] = {
        asyncssh.SFTPPermissionDenied: "no permission",
        asyncssh.SFTPNoSuchFile: "no such file or directory",
        asyncssh.SFTPNoSuchPath: "no such file or directory",
        asyncssh.ConnectionLost: "connection lost",
        ConnectionRefusedError: "connection refused",
        ConnectionResetError: "connection reset",
    }
    return words.get(type(fault), type(fault).__name__)
