"""Open an installation, for a command, a helper or a node."""

import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from clearlane.kernel.clock import Clock, SystemClock
from clearlane.settings import Settings
from clearlane.store.audit.anchor import ANCHOR_NAME
from clearlane.store.database import migrate
from clearlane.store.database.database import Database, OperationRefused, open_database
from clearlane.store.delivery.payers import ensure_sandbox_payers
from clearlane.store.vault.keys import MasterKeys, load_master_keys
from clearlane.store.vault.vault import Vault
from clearlane.wiring.installation import NODES, Installation, Role


@asynccontextmanager
async def open_installation(
    settings: Settings, *, role: Role, clock: Clock | None = None, node: str = ""
) -> AsyncIterator[Installation]:
    """Open an installation. :class:`OperationRefused` explains in a sentence why it cannot be opened.

    ``node`` is the node that a helper works for.
    """
    wall = clock or SystemClock()
    _make_data_directory(settings)
    async with AsyncExitStack() as closing:
        keys = load_master_keys(
            text=settings.master_key,
            command=settings.master_key_command,
            file=settings.key_file,
            may_create=settings.sandbox,
        )
        database = await _open_database(settings, keys, wall, is_helper=role == "helper")
        closing.push_async_callback(database.close)
        vault = Vault(database, keys, wall)
        # A new id for every start, so that a restart is never mistaken for the process that died.
        if role in NODES:
            node = f"{socket.gethostname()}-{secrets.token_hex(4)}"
        installation = Installation(settings, wall, database, vault, node=node, role=role)
        closing.callback(installation.close)
        await installation.vault.load()
        if settings.sandbox:
            await ensure_sandbox_payers(database)
        if role not in NODES:
            await installation.refresh()
        else:
            from clearlane.wiring.node import start_node

            database.keep_reserve()
            await start_node(installation, role, keys, closing)
        yield installation


def _make_data_directory(settings: Settings) -> None:
    """Make the data directory, readable by this user alone."""
    try:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as fault:
        raise OperationRefused(
            f"The data directory {settings.data} cannot be made: {fault.strerror}."
        ) from None


async def _open_database(
    settings: Settings, keys: MasterKeys, clock: Clock, *, is_helper: bool
) -> Database:
    if settings.sandbox and not is_helper:
        await migrate.upgrade(url=settings.session_url, sqlite_file=settings.sqlite_file)
    return await open_database(
        url=settings.database_url,
        direct_url=settings.database_direct_url,
        sqlite_file=settings.sqlite_file,
        connections=settings.database_connections,
        keys=keys,
        anchor=settings.data / ANCHOR_NAME,
        anchor_copy=settings.anchor_copy,
        clock=clock,
        is_helper=is_helper,
    )
