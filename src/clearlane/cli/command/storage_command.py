"""Run commands on the storage: open the database, name the operator, report refusals.

For the commands that work on the storage itself: `db`, `keys`, `audit`, `backup`, `restore`.
"""

import asyncio
import getpass
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import typer

from clearlane.cli.command.client_command import Yes as Yes
from clearlane.cli.command.client_command import confirm as confirm
from clearlane.cli.command.list_options import InstallationData
from clearlane.cli.command.output import show_error
from clearlane.kernel.clock import Clock, SystemClock
from clearlane.settings import InvalidSettings, Settings, load
from clearlane.store.audit.anchor import ANCHOR_NAME, Anchor
from clearlane.store.database import migrate
from clearlane.store.database.database import Actor, Database, StoreFault, open_database
from clearlane.store.vault.keys import MasterKeys, load_master_keys
from clearlane.store.vault.vault import Vault

T = TypeVar("T")

Data = InstallationData

DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be done, and change nothing.")
]

REFUSED, MISUSED = 1, 2


@dataclass(frozen=True, slots=True)
class Store:
    """The open storage of an installation."""

    settings: Settings
    database: Database
    vault: Vault
    keys: MasterKeys
    clock: Clock
    actor: Actor

    @property
    def anchor(self) -> Anchor:
        """The anchor in which this node records the head of the audit chain."""
        return Anchor(anchor_file(self.settings), self.vault.audit_key, self.settings.anchor_copy)


@asynccontextmanager
async def open_store(data: Path | None) -> AsyncIterator[Store]:
    """Open the storage of a data directory. Creates no key and migrates no schema."""
    settings = load(overrides={"data": data})
    migrate.require_existing(url=settings.session_url, sqlite_file=settings.sqlite_file)
    keys, clock = master_keys(settings), SystemClock()
    database = await open_database(
        url=settings.database_url,
        direct_url=settings.database_direct_url,
        sqlite_file=settings.sqlite_file,
        connections=settings.database_connections,
        keys=keys,
        anchor=anchor_file(settings),
        anchor_copy=settings.anchor_copy,
        clock=clock,
    )
    try:
        vault = Vault(database, keys, clock)
        await vault.load()
        yield Store(settings, database, vault, keys, clock, operator())
    finally:
        await database.close()


def with_store(data: Path | None, work: Callable[[Store], Awaitable[T]]) -> T:
    """Run a command's work on the open storage."""

    async def run() -> T:
        async with open_store(data) as store:
            return await work(store)

    return run_to_end(run())


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine; a refusal ends the command with a message and an exit status."""
    with exit_on_refusal():
        return asyncio.run(work)


@contextmanager
def exit_on_refusal() -> Iterator[None]:
    """End the command with a message and an exit status if storage or settings refuse."""
    try:
        yield
    except InvalidSettings as faults:
        refuse(str(faults), MISUSED)
    except StoreFault as fault:
        refuse(str(fault))
    except BrokenPipeError:  # the reader of our output has ended; ``main`` handles it
        raise
    except OSError as fault:
        refuse(f"{fault.filename or 'A file'} cannot be used: {fault.strerror}.")


def refuse(sentence: str, code: int = REFUSED) -> NoReturn:
    """Print a message and end the command."""
    show_error(sentence)
    raise typer.Exit(code)


def load_settings(data: Path | None) -> Settings:
    """Return the effective settings."""
    with exit_on_refusal():
        return load(overrides={"data": data})


def master_keys(settings: Settings) -> MasterKeys:
    """Return the master keys of an installation; never create one."""
    return load_master_keys(
        text=settings.master_key,
        command=settings.master_key_command,
        file=settings.key_file,
        may_create=False,
    )


def anchor_file(settings: Settings) -> Path:
    """Return the path of this node's anchor."""
    return settings.data / ANCHOR_NAME


def operator() -> Actor:
    """Return the actor for the audit: the user of this machine."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        name = str(os.getuid())
    return Actor("operator", name)
