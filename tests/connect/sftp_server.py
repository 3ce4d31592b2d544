"""A real SFTP server on this machine, that can be slow, be restarted and break off."""

import asyncio
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncssh

USER, PASSWORD = "clearlane", "harbor"
HOST_KEY = asyncssh.generate_private_key("ssh-ed25519")
OTHER_KEY = asyncssh.generate_private_key("ssh-ed25519")
CLIENT_KEY = asyncssh.generate_private_key("ssh-ed25519")


class Login(asyncssh.SSHServer):
    def password_auth_supported(self):
        return True

    def validate_password(self, username, password):
        return (username, password) == (USER, PASSWORD)

    def public_key_auth_supported(self):
        return True

    def validate_public_key(self, username, key):
        return username == USER and key == CLIENT_KEY.convert_to_public()


class SftpPayer:
    """The payer's server: its root has the directories in and out."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.delay = 0.0
        self.break_after: int | None = None  # bytes of an upload after which the server goes away
        self.at_rename: str | None = None  # "before" or "after" it: when the server goes away
        self.watch: Callable[[str], object] | None = (
            None  # called with what happens: "written", "before" or "after" a rename
        )
        self.port = 0
        self.connections: list[asyncssh.SSHServerConnection] = []
        self.files: list[Any] = []  # as the library opens them
        self._listener: asyncssh.SSHAcceptor | None = None
        for name in ("in", "out"):
            (root / name).mkdir(exist_ok=True)

    async def start(self, host_key=HOST_KEY):
        payer = self

        class Files(asyncssh.SFTPServer):
            def __init__(self, channel):
                payer.connections.append(channel.get_connection())
                super().__init__(channel, chroot=str(payer.root).encode())

            def open(self, path, pflags, attrs):
                payer.files.append(super().open(path, pflags, attrs))
                return payer.files[-1]

            async def write(self, file, offset, data):
                await asyncio.sleep(payer.delay)
                if payer.break_after is not None and offset + len(data) > payer.break_after:
                    super().write(file, offset, data[: payer.break_after - offset])
                    await payer.stop()
                    raise asyncssh.SFTPFailure("gone")
                written = super().write(file, offset, data)
                payer.seen("written")
                return written

            async def rename(self, oldpath, newpath):
                await payer.passes("before")
                super().rename(oldpath, newpath)
                await payer.passes("after")

            async def posix_rename(self, oldpath, newpath):
                await self.rename(oldpath, newpath)

            async def read(self, file, offset, size):
                await asyncio.sleep(payer.delay)
                return super().read(file, offset, size)

        self._listener = await asyncssh.create_server(
            Login,
            "127.0.0.1",
            self.port,
            server_host_keys=[host_key],
            sftp_factory=Files,
            reuse_address=True,
        )
        self.port = self._listener.get_port()
        return self

    def seen(self, what):
        if self.watch:
            self.watch(what)

    async def passes(self, what):
        self.seen(what)
        if self.at_rename == what:
            await self.stop()
            raise asyncssh.SFTPFailure("gone")

    async def stop(self):
        listener, self._listener = self._listener, None
        for connection in self.connections:
            connection.abort()
        self.connections.clear()
        for file in self.files:
            file.close()
        self.files.clear()
        if listener:
            listener.close()
            await listener.wait_closed()


@asynccontextmanager
async def sftp_payer(root: Path):
    payer = await SftpPayer(root).start()
    try:
        yield payer
    finally:
        await payer.stop()


@asynccontextmanager
async def black_hole():
    """A port that accepts and never says a word."""
    held = []

    async def swallow(reader, writer):
        held.append(writer)
        try:
            while await reader.read(65_536):
                pass
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(swallow, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for writer in held:
            writer.close()
        await asyncio.sleep(0)
