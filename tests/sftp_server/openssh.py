"""OpenSSH's own client, and a server of this process that it talks to."""

import asyncio
import shutil
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import asyncssh
import pytest

from clearlane.accounts.sftp_account import SftpAccount
from clearlane.api.frame.auth import SignInThrottle
from clearlane.api.http.server import listen
from clearlane.kernel.client_file import FileDirection
from clearlane.kernel.clock import to_micros
from clearlane.kernel.ids import new_number
from clearlane.settings import load
from clearlane.sftp_server.algorithms import read_public_key
from clearlane.sftp_server.host_keys import choose_host_keys, ensure_host_keys, make_host_keys
from clearlane.sftp_server.listener import SftpServer
from clearlane.store.accounts.accounts import NewSite, add_site, add_vendor
from clearlane.store.accounts.sftp_accounts import add_account
from clearlane.store.database.database import Actor
from clearlane.store.files import client_files
from clearlane.store.files.client_file_query import ClientFileQuery, find_page
from clearlane.store.files.client_files import NewFile
from clearlane.store.files.file_parts import PART_BYTES_MAX, append, read_content, seal_part
from clearlane.store.installation.sftp_host_keys import add_host_keys
from clearlane.wiring import Installation, open_installation

BY = Actor("operator", "a test")
NAME, SITE = "larkspur", "LARK-1"
HOST = "127.0.0.1"
# Of OpenSSH's client; CI installs it with git. Both programs are of one package.
HAS_OPENSSH = bool(shutil.which("sftp") and shutil.which("scp"))
needs_openssh = pytest.mark.skipif(not HAS_OPENSSH, reason="openssh-client is not installed")
CLIENT_KEY = asyncssh.generate_private_key("ssh-ed25519")
OTHER_KEY = asyncssh.generate_private_key("ssh-ed25519")
NOW = datetime(2024, 3, 5, tzinfo=UTC)
HOST_KEYS = make_host_keys(NOW)  # once: an RSA key takes a moment


def write_key(file: Path, key: asyncssh.SSHKey) -> Path:
    """Write a private key as OpenSSH takes it, with its public key beside it."""
    key.write_private_key(file)
    file.chmod(0o600)
    key.write_public_key(f"{file}.pub")
    return file


@dataclass
class SftpPlace:
    """A server with one site, and what a client of it needs."""

    installation: Installation
    server: SftpServer
    folder: Path
    key: asyncssh.SSHKey = CLIENT_KEY
    name: str = NAME
    options: list[str] = field(default_factory=list)

    def site(self, id=SITE):
        return self.installation.accounts.any_site(id)

    @property
    def scope(self):
        return self.site().scope

    async def ssh_options(self) -> list[str]:
        """Options that use this server's keys and nothing of the person who runs the tests."""
        key = self.folder / f"{self.name}.key"
        if not key.exists():
            write_key(key, self.key)
        installation = self.installation
        keys = await ensure_host_keys(
            installation.database, installation.vault, installation.wall.now()
        )
        known = self.folder / "known_hosts"
        proving = choose_host_keys(keys, installation.wall.now()).proving
        known.write_text(
            "".join(f"[{HOST}]:{self.server.port} {each.public_key}\n" for each in proving)
        )
        given = {
            "BatchMode": "yes", "IdentitiesOnly": "yes", "IdentityAgent": "none", "UpdateHostKeys": "no",
            "StrictHostKeyChecking": "yes", "UserKnownHostsFile": known, "GlobalKnownHostsFile": "none",
            "IdentityFile": key, "Port": self.server.port, "LogLevel": "ERROR",
        }  # fmt: skip
        pairs = [part for name, value in given.items() for part in ("-o", f"{name}={value}")]
        return ["-F", "none", *self.options, *pairs]  # the first of two counts

    async def sftp(self, *lines: str) -> tuple[int, str]:
        """Run lines in OpenSSH's sftp; return its exit status and what it printed but the lines themselves."""
        code, printed = await run(
            "sftp", *await self.ssh_options(), "-b", "-", f"{self.name}@{HOST}",
            text="\n".join(lines) + "\n", folder=self.folder,
        )  # fmt: skip
        lines_of_answers = [each for each in printed.splitlines() if not each.startswith("sftp>")]
        return code, "\n".join(lines_of_answers)

    async def scp(self, *paths: str) -> tuple[int, str]:
        """Run OpenSSH's scp with paths, of which a remote one begins with a colon."""
        remote = [f"{self.name}@{HOST}{path}" if path.startswith(":") else path for path in paths]
        return await run("scp", *await self.ssh_options(), *remote, folder=self.folder)

    async def files(self, direction=FileDirection.IN, site=SITE):
        """The listed files of a site, the oldest first."""
        query = ClientFileQuery(
            where={"direction": direction.value}, limit=20_000, oldest_first=True
        )
        async with self.installation.database.read(self.site(site).scope) as tx:
            return await find_page(tx, query)

    async def content(self, file) -> bytes:
        installation = self.installation
        return await read_content(
            installation.database, installation.vault, self.scope, file.file_id
        )

    async def connect(self, port=0, **options) -> asyncssh.SSHClientConnection:
        """Connect by asyncssh's client, for what OpenSSH's does not do."""
        given = {"username": self.name, "client_keys": [self.key], "known_hosts": None}
        return await asyncssh.connect(
            HOST, port or self.server.port, config=None, agent_path=None, **(given | options)
        )


async def run(*command: str, text: str = "", folder: Path) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *map(str, command), cwd=folder, stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    printed, _ = await process.communicate(text.encode())
    assert process.returncode is not None
    return process.returncode, printed.decode()


async def add_test_site(installation, site=SITE, vendor="ACME"):
    now = installation.wall.now()
    await add_vendor(
        installation.database,
        pepper=installation.pepper,
        key=vendor,
        name=vendor,
        now=now,
        actor=BY,
    )
    new = NewSite(vendor_key=vendor, vendor_site_id=site, baa_accepted=True)
    await add_site(installation.database, new, now=now, actor=BY)
    await installation.refresh()


async def add_test_account(installation, name=NAME, site=SITE, key=CLIENT_KEY, **options):
    owner = installation.accounts.any_site(site)
    account = SftpAccount(name=name, vendor_id=owner.vendor_id, site_id=owner.id, **options)
    keys = dict([read_public_key(key.export_public_key().decode())]) if key else {}
    await add_account(installation.database, account, keys, now=installation.wall.now(), actor=BY)


@asynccontextmanager
async def open_node(data: Path, url: str = ""):
    """An installation as a node's server sees it."""
    settings = load(environ={}, overrides={"data": data, "mode": "sandbox", "database_url": url})
    async with open_installation(settings, role="command") as installation:
        yield installation


@asynccontextmanager
async def serve_sftp(installation, folder: Path, *, with_older=False, limit=None, **options):
    await add_host_keys(
        installation.database, installation.vault, HOST_KEYS, only_first=True, now=NOW, actor=BY
    )
    server = SftpServer(installation, limit or SignInThrottle(), **options)
    sockets = [listen(HOST, 0, "SFTP") for _ in range(1 + with_older)]
    async with server.open(*sockets):
        yield SftpPlace(installation, server, folder)


async def add_out_file(installation, name, content=b"ISA*00~", type="999") -> str:
    """Add a file for the site to fetch; return its id."""
    owner, now = installation.accounts.any_site(SITE), installation.clock.now()
    scope, vault = owner.scope, installation.vault
    file_id = new_number(now, letter="F")
    await vault.ensure_key(scope)
    new = NewFile(file_id, FileDirection.OUT.value, name, "system", to_micros(now), type=type)
    starts = range(0, len(content), PART_BYTES_MAX)
    parts = [
        seal_part(vault, scope, file_id, at, content[at : at + PART_BYTES_MAX]) for at in starts
    ]

    async def job(tx):
        await client_files.create(tx, new)
        for part in parts:
            await append(tx, part)
        at, day = to_micros(now), f"{now:%Y-%m-%d}"
        await client_files.publish(
            tx, file_id, response_key=file_id, digest=file_id, at=at, day=day
        )

    await installation.database.write(scope, job, actor=BY)
    return file_id
