"""Puts the rooms together: the one place that knows everyone.

A house is opened for a role: ``serve`` and ``worker`` are nodes, with a heartbeat, snapshots that follow
the database and a durable engine; ``command`` looks once and goes.
"""

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import structlog

from clearlane.accounts.directory import Accounts
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock, SystemClock
from clearlane.kernel.tasks import end_all
from clearlane.payers.directory import Payers
from clearlane.pipeline.intake_priority import Rush
from clearlane.settings import Settings
from clearlane.store import migrate
from clearlane.store.accounts import load_accounts
from clearlane.store.audit_chain import ANCHOR_NAME
from clearlane.store.database import Database, Refused, open_database
from clearlane.store.keys import MasterKeys, load_master_keys
from clearlane.store.nodes import Nodes
from clearlane.store.payers import ensure_sandbox_payers, load_payers
from clearlane.store.routes import load_routes
from clearlane.store.sandbox import REVISION as SANDBOX_REVISION
from clearlane.store.vault import Vault

if TYPE_CHECKING:
    from clearlane.api.app import Mounted
    from clearlane.claims.write_837 import Party
    from clearlane.connect.loopback import AnsweringPayer
    from clearlane.connect.realtime_routes import Questions
    from clearlane.connect.routes import Lines
    from clearlane.engine.dbos_engine import Engine
    from clearlane.payers.model import Payer
    from clearlane.pipeline.eligibility.inquiry_runner import Asking
    from clearlane.pipeline.intake.submit import Counter
    from clearlane.pipeline.operator.sandbox_control import Steering
    from clearlane.pipeline.work_context import Desk
    from clearlane.sandbox.payer import SandboxPayer

__all__ = ["House", "Refused", "Role", "console", "desk_of", "open_house"]

log = structlog.get_logger()

Role = Literal["serve", "worker", "command"]


class House:
    """An opened installation. The directories are snapshots: ask for them each time."""

    def __init__(
        self, settings: Settings, wall: Clock, database: Database, vault: Vault, *, node: str = ""
    ) -> None:
        self.settings = settings
        self.wall = wall
        """The time outside: certificates, credentials, sessions and heartbeats live by it."""
        self.database = database
        self.vault = vault
        self.rush = Rush()
        self._node = node
        self._playground = Playground(self) if settings.sandbox else None
        self.clock: Clock = self._playground.world.clock if self._playground else wall
        """The time that claims live by and dates are written from. In a sandbox it can be advanced."""
        self._accounts: Accounts | None = None
        self._payers: Payers | None = None
        self._engine: Engine | None = None
        self._lines: Lines | None = None
        self._questions: Questions | None = None
        self._asking: Asking | None = None

    @cached_property
    def counter(self) -> "Counter":
        """Where claims are handed in."""
        from clearlane.pipeline.intake.submit import Counter

        return Counter(self.rush)

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
    def questions(self) -> "Questions":
        """The ways to ask payers as they were when their revision last moved."""
        assert self._questions is not None, "a house is opened with open_house"
        return self._questions

    @property
    def asking(self) -> "Asking":
        """The open questions of a node."""
        assert self._asking is not None, "only nodes ask"
        return self._asking

    @property
    def steering(self) -> "Steering | None":
        """How callers move a sandbox's time and payers; None in production."""
        return None if self._playground is None else self._playground.steering

    @property
    def engine(self) -> "Engine":
        """The durable engine of a node."""
        assert self._engine is not None, "only nodes have an engine"
        return self._engine

    @property
    def submitter(self) -> "Party":
        """Who sends claims, as payers are told."""
        from clearlane.claims.write_837 import Party

        settings = self.settings
        name = settings.submitter_name
        return Party(name=name, id=name, phone=settings.submitter_phone)

    @property
    def pepper(self) -> bytes:
        """The key that hashes vendors' passwords."""
        return self.vault.pepper

    async def refresh(self) -> None:
        """Load every snapshot anew."""
        for load in self.snapshots().values():
            await load()

    async def _load_lines(self) -> None:
        from clearlane.pipeline.realtime_routes import RouteQuestions
        from clearlane.pipeline.routes import RouteLines

        if self._playground is not None:
            # Nothing ever leaves a sandbox, whatever routes it has.
            self._lines = self._playground.lines
            self._questions = self._playground.questions
            return
        routes = await load_routes(self.database, self.vault)
        before = self._questions
        self._lines = RouteLines(routes, self.clock)
        self._questions = RouteQuestions(routes, self.clock)
        if before is not None and self._asking is not None:
            self._asking.retire(before)

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
            **({SANDBOX_REVISION: self._playground.load} if self._playground else {}),
        }


class Playground:
    """What a sandbox has and an installation with real payers has not: its own time, and payers."""

    def __init__(self, house: House) -> None:
        from clearlane.sandbox.simulator import World
        from clearlane.store.sandbox import NODE, StoredClock, StoredLedger, Turns

        self._house = house
        self._who = NODE
        self._turns = Turns(house.database, house._node)  # noqa: SLF001  (one room)
        self.ledger = StoredLedger(house.database, house.vault)
        self.keeper = StoredClock(house.database)
        self.world = World(house.wall, self.ledger, self.keeper)
        self.steering: Steering | None = None

    async def load(self) -> None:
        """Run on the time that all nodes run on, and learn whom they have sent something."""
        await self.world.load(self._who)
        await self.ledger.load()

    @property
    def lines(self) -> "Lines":
        """Every payer of the directory, reached by loopback."""
        from clearlane.connect.loopback_routes import LoopbackLines

        return LoopbackLines(
            lambda: self._house.payers,
            seat=self._seat,
            ledger=self.ledger,
            used=lambda: self.ledger.payers,
            clock=self.world.clock,
            turn=self._turns.turn,
        )

    @cached_property
    def questions(self) -> "Questions":
        """Every payer of the directory, asked by loopback."""
        from clearlane.connect.loopback_realtime import LoopbackQuestions

        return LoopbackQuestions(
            lambda: self._house.payers, seat=self._answering, clock=self.world.clock
        )

    def _answering(self, payer: "Payer") -> "AnsweringPayer":
        from clearlane.connect.loopback_routes import ledger_name

        books = ledger_name(payer.type, payer.payer_id)
        return self.world.answering(
            books,
            id=payer.payer_id,
            name=payer.name,
            dental=payer.type == "Dental",
        )

    def _seat(self, payer: "Payer", books: str) -> "SandboxPayer":
        return self.world.payer(books, id=payer.payer_id, name=payer.name, ids=payer.ids)

    def steered_at(self, desk: "Desk") -> None:
        """Let callers of this node move time and payers."""
        from clearlane.pipeline.operator.sandbox_control import Steering

        self.steering = Steering(desk, self.world, self.keeper)


@asynccontextmanager
async def open_house(
    settings: Settings, *, role: Role, clock: Clock | None = None
) -> AsyncIterator[House]:
    """Open an installation; what stands in the way is a :class:`Refused` with a sentence."""
    wall = clock or SystemClock()
    _own_directory(settings)
    async with AsyncExitStack() as closing:
        keys = load_master_keys(
            text=settings.master_key, file=settings.key_file, may_create=settings.sandbox
        )
        database = await _open_database(settings, keys, wall)
        closing.push_async_callback(database.close)
        vault = Vault(database, keys, wall)
        # A fresh id for every start, so that a restart is never mistaken for the process that died.
        node = "" if role == "command" else f"{socket.gethostname()}-{secrets.token_hex(4)}"
        house = House(settings, wall, database, vault, node=node)
        await house.vault.load()
        if settings.sandbox:
            await ensure_sandbox_payers(database)
        if role == "command":
            await house.refresh()
        else:
            await _settle_node(house, role, keys, closing)
        yield house


def console(house: House, base_url: str) -> "Mounted":
    """The web console, for the front door to show."""
    from clearlane.api.app import Mounted
    from clearlane.api.auth import Slowdown
    from clearlane.console.app import SEGMENT, Console

    # Whoever fails to sign in waits as a vendor does who fails to log in.
    shown = Console(house, base_url, Slowdown().wait)
    return Mounted("Console", SEGMENT, shown.answer)


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
    nodes = Nodes(
        house.database,
        id=house._node,  # noqa: SLF001  (one room)
        role=role,
        beat_seconds=settings.heartbeat_seconds,
        keys=keys,
    )
    for name, load in house.snapshots().items():
        await nodes.watch(name, load)
    house._asking = asking = _asking(house)  # noqa: SLF001  (one room)
    house._engine = engine = _engine(house, nodes)  # noqa: SLF001
    await engine.start()  # the node lives from here on: the engine keeps its heartbeat
    closing.push_async_callback(engine.stop)
    closing.push_async_callback(asking.stop)
    following = asyncio.create_task(_follow(nodes, house.database))
    closing.push_async_callback(end_all, [following])


def desk_of(house: House, node: str = "command") -> "Desk":
    """What the verbs work with: at a node, or for a command, which asks payers nothing."""
    from clearlane.pipeline.work_context import Desk, Outside

    return Desk(
        database=house.database,
        clock=house.clock,
        data=house.settings.data,
        node=node,
        beyond=Outside(
            vault=house.vault,
            payers=lambda: house.payers,
            lines=lambda: house.lines,
            sandbox=house.settings.sandbox,
            submitter=house.submitter,
            asking=house._asking,  # noqa: SLF001  (one room)
            eligibility_days=house.settings.eligibility_days,
            rush=house.rush,
        ),
    )


def _asking(house: House) -> "Asking":
    from clearlane.pipeline.eligibility.inquiry_runner import Asking, nobody

    return Asking(
        house.database,
        house.vault,
        house.clock,
        lambda: house.questions,
        node=house._node,  # noqa: SLF001  (one room)
        asleep=house._playground.world.sleepers.asleep if house._playground else nobody,  # noqa: SLF001
    )


def _engine(house: House, nodes: Nodes) -> "Engine":
    from clearlane.engine.dbos_engine import Engine
    from clearlane.engine.node_recovery import Pace
    from clearlane.pipeline.schedule import TABLES

    settings = house.settings
    desk = desk_of(house, nodes.id)
    if house._playground is not None:  # noqa: SLF001  (one room)
        house._playground.steered_at(desk)  # noqa: SLF001
    return Engine(
        desk,
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
