"""Puts the rooms together: the one place that knows everyone.

A house is opened for a role: ``serve`` and ``worker`` are nodes, with a heartbeat, snapshots that follow
the database and a durable engine; ``command`` looks once and goes.
"""

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Literal

import structlog

from clearlane.accounts.directory import Accounts
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock, SystemClock
from clearlane.payers.directory import Payers
from clearlane.settings import Settings
from clearlane.store import migrate
from clearlane.store.accounts import load_accounts
from clearlane.store.chain import ANCHOR_NAME
from clearlane.store.database import Database, Refused, open_database
from clearlane.store.keys import MasterKeys, load_master_keys
from clearlane.store.nodes import Nodes
from clearlane.store.payers import ensure_sandbox_payers, load_payers
from clearlane.store.routes import load_routes
from clearlane.store.vault import Vault

if TYPE_CHECKING:
    from clearlane.connect.lines import Lines
    from clearlane.pipeline.engine import Engine

__all__ = ["House", "Refused", "Role", "open_house"]

log = structlog.get_logger()

Role = Literal["serve", "worker", "command"]


class House:
    """An opened installation. The directories are snapshots: ask for them each time."""

    def __init__(
        self, settings: Settings, clock: Clock, database: Database, vault: Vault, *, node: bool
    ) -> None:
        self.settings = settings
        self.clock = clock
        self.database = database
        self.vault = vault
        self._node = node
        self._accounts: Accounts | None = None
        self._payers: Payers | None = None
        self._engine: Engine | None = None
        self._lines: Lines | None = None

    @property
    def accounts(self) -> Accounts:
        """Vendors and sites as they were when their revision last moved."""
        assert self._accounts is not None, "a house is opened with open_house"
        return self._accounts

    @property
    def payers(self) -> Payers:
        """The payer directory as it was when its revision last moved."""
        assert self._payers is not None, "a house is opened with open_house"
        return self._payers

    @property
    def lines(self) -> "Lines":
        """The ways to payers as they were when their revision last moved."""
        assert self._lines is not None, "a house is opened with open_house"
        return self._lines

    @property
    def engine(self) -> "Engine":
        """The durable engine of a node."""
        assert self._engine is not None, "only nodes have an engine"
        return self._engine

    @property
    def pepper(self) -> bytes:
        """The key that hashes vendors' passwords."""
        return self.vault.pepper

    async def refresh(self) -> None:
        """Load every snapshot anew."""
        await self.vault.load()
        await self._load_accounts()
        await self._load_payers()
        await self._load_lines()

    async def _load_lines(self) -> None:
        from clearlane.pipeline.lines import RouteLines

        self._lines = RouteLines(await load_routes(self.database, self.vault), self.clock)

    async def _load_accounts(self) -> None:
        self._accounts = await load_accounts(self.database, self.pepper)

    async def _load_payers(self) -> None:
        payers = await load_payers(self.database, self.settings.sandbox)
        if self._node:  # no caller pays for the first compressed answer
            await asyncio.to_thread(payers.compress)
        self._payers = payers

    def snapshots(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """What follows the database: the name of its revision, and how it is loaded."""
        return {
            "keys": self.vault.load,
            "accounts": self._load_accounts,
            "payers": self._load_payers,
            "routes": self._load_lines,
        }


@asynccontextmanager
async def open_house(
    settings: Settings, *, role: Role, clock: Clock | None = None
) -> AsyncIterator[House]:
    """Open an installation; what stands in the way is a :class:`Refused` with a sentence."""
    clock = clock or SystemClock()
    _own_directory(settings)
    async with AsyncExitStack() as closing:
        keys = load_master_keys(
            text=settings.master_key, file=settings.key_file, may_create=settings.sandbox
        )
        database = await _open_database(settings, keys, clock)
        closing.push_async_callback(database.close)
        vault = Vault(database, keys, clock)
        house = House(settings, clock, database, vault, node=role != "command")
        await house.vault.load()
        if settings.sandbox:
            await ensure_sandbox_payers(database)
        if role == "command":
            await house.refresh()
        else:
            await _settle_node(house, role, keys, closing)
        yield house


def _own_directory(settings: Settings) -> None:
    """Make the data directory, readable by us alone."""
    try:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as fault:
        raise Refused(
            f"The data directory {settings.data} cannot be made: {fault.strerror}."
        ) from None


async def _open_database(settings: Settings, keys: MasterKeys, clock: Clock) -> Database:
    if settings.sandbox:
        await migrate.upgrade(url=settings.database_url, sqlite_file=settings.sqlite_file)
    return await open_database(
        url=settings.database_url,
        sqlite_file=settings.sqlite_file,
        connections=settings.database_connections,
        keys=keys,
        anchor=settings.data / ANCHOR_NAME,
        clock=clock,
    )


async def _settle_node(house: House, role: Role, keys: MasterKeys, closing: AsyncExitStack) -> None:
    """Make this process a node: its row, its snapshots, its engine."""
    settings = house.settings
    # A fresh id for every start, so that a restart is never mistaken for the process that died.
    id = f"{socket.gethostname()}-{secrets.token_hex(4)}"
    nodes = Nodes(
        house.database, id=id, role=role, beat_seconds=settings.heartbeat_seconds, keys=keys
    )
    for name, load in house.snapshots().items():
        await nodes.watch(name, load)
    house._engine = engine = _engine(house, nodes)  # noqa: SLF001  (one room)
    await engine.start()  # the node lives from here on: the engine keeps its heartbeat
    closing.push_async_callback(engine.stop)
    following = asyncio.create_task(_follow(nodes, house.database))
    closing.push_async_callback(_ended, following)


def _engine(house: House, nodes: Nodes) -> "Engine":
    from clearlane.pipeline.desk import Desk, Outside
    from clearlane.pipeline.engine import Engine
    from clearlane.pipeline.takeover import Pace
    from clearlane.pipeline.work import TABLES

    settings = house.settings
    return Engine(
        Desk(
            database=house.database,
            clock=house.clock,
            data=settings.data,
            node=nodes.id,
            beyond=Outside(
                vault=house.vault,
                payers=lambda: house.payers,
                lines=lambda: house.lines,
                sandbox=settings.sandbox,
            ),
        ),
        TABLES,
        nodes=nodes,
        url=settings.database_url,
        pace=Pace(
            heartbeat_seconds=settings.heartbeat_seconds,
            dead_node_seconds=settings.dead_node_seconds,
            takeovers_max=settings.takeovers_max,
            finished_work_days=settings.finished_work_days,
        ),
        stop_seconds=settings.stop_seconds_max,
        migrate=settings.sandbox,
    )


async def _follow(nodes: Nodes, database: Database) -> None:
    """Keep the snapshots up to date, whatever happens: the next look may succeed."""
    told = ""
    while True:
        await asyncio.sleep(limits.REVISION_POLL_SECONDS)
        told = _tell_anchor(told, database.anchor_fault)
        try:
            await nodes.poll()
        except Exception as fault:  # noqa: BLE001  (a node outlives a database that is away)
            log.warning("snapshots not refreshed", fault=type(fault).__name__)


def _tell_anchor(told: str, fault: str) -> str:
    """Say once that the audit chain is not anchored, and once that it is again."""
    if fault and not told:
        log.error("audit not anchored", fault=fault)
    elif told and not fault:
        log.info("audit anchored again")
    return fault


async def _ended(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait([task])
