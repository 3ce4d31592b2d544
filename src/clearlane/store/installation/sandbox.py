"""A sandbox: the ledgers of its payers, a lock per payer, and its clock.

Payers keep whole claims, so every value is sealed for its key; keys hold no patient data. Knows no payer and
no clock: ledger entries and clock state are bytes here.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from sqlalchemy import bindparam, delete, func, select, union_all, update

from clearlane.kernel import limits
from clearlane.kernel.clock import from_micros, to_micros
from clearlane.store.database.database import (
    Actor,
    Database,
    DatabaseUnavailable,
    SystemScope,
    Tx,
    require_row,
)
from clearlane.store.database.empty_tables import empty_tables
from clearlane.store.database.schema import revisions, sandbox_agenda, sandbox_ledger, sandbox_state
from clearlane.store.database.sql import Statement, among, insert_into
from clearlane.store.installation.nodes import bump_revision, live_nodes, wait_until_loaded
from clearlane.store.vault.vault import Vault

SANDBOX_LOCK_SECONDS_MAX = 90

REVISION = "sandbox"
SCOPE = SystemScope("a sandbox's payers and its clock belong to the installation")
OWNER = 0
"""The data key that seals the values is the installation's, which is not a vendor."""
TABLE = "sandbox"
CLOCK = "clock"
ENROLLMENTS = "enrollments"
"""The part of the agenda that belongs to enrollments; the ledger of a payer is named by its type and id."""
PAYER_PREFIX, LOCK_PREFIX = "payer/", "lock/"
"""Prefixes of the names of state that each payer has."""
NODE = Actor("node", "sandbox")


class StoredLedger:
    """The ledger of simulated payers: survives a crash and is shared by all nodes.

    Keys are one space: an entry is on the agenda from when it was planned until it is put or deleted.
    """

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self._vault = vault
        self.payers: set[str] = set()
        """The registered payers: those that were ever sent a file, or given behavior by an operator."""

    async def load(self) -> None:
        """Load which payers other nodes have sent something; again when the revision changes."""
        async with self._database.read(SCOPE) as tx:
            names = await tx.rows(_PAYERS)
        self.payers |= {name.removeprefix(PAYER_PREFIX) for (name,) in names}

    async def get(self, payer: str, key: str) -> bytes | None:
        """Return the value of a key."""
        async with self._database.read(SCOPE) as tx:
            row = await tx.row(_GET, payer=payer, key=key)
            if row is not None:
                await self._vault.load_keys_of(tx, [row[0]])
        return None if row is None else self._open(payer, key, row[0])

    async def get_many(self, payer: str, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the values of those of these keys that have one."""
        async with self._database.read(SCOPE) as tx:
            rows = await tx.rows(_GET_MANY, payer=payer, keys=list(keys))
            await self._vault.load_keys_of(tx, [value for _, value in rows])
        return {key: self._open(payer, key, value) for key, value in rows}

    async def put(self, payer: str, entries: Mapping[str, bytes | None]) -> None:
        """Write entries, all or none; None deletes."""
        await self._vault.ensure_key(OWNER)
        values = [
            {"payer": payer, "key": key, "value": self._seal(payer, key, value)}
            for key, value in entries.items()
            if value is not None
        ]
        deleted = [key for key, value in entries.items() if value is None]

        async def job(tx: Tx) -> None:
            await tx.run(_DROP_FROM_AGENDA, payer=payer, keys=list(entries))
            if deleted:
                await tx.run(_DROP_FROM_LEDGER, payer=payer, keys=deleted)
            if values:
                await tx.many(_PUT, values)

        await self._database.write(SCOPE, job, actor=NODE)

    async def due(self, payer: str, now: datetime, most: int) -> list[tuple[str, bytes]]:
        """Return entries of the agenda whose time has come, earliest first."""
        async with self._database.read(SCOPE) as tx:
            rows = await tx.rows(_DUE, payer=payer, now=to_micros(now), most=most)
            await self._vault.load_keys_of(tx, [value for _, value in rows])
        return [(key, self._open(payer, key, value)) for key, value in rows]

    async def plan(self, payer: str, key: str, due: datetime, value: bytes) -> None:
        """Put an entry on the agenda; the same key replaces."""
        await self._vault.ensure_key(OWNER)
        sealed = self._seal(payer, key, value)

        async def job(tx: Tx) -> None:
            if payer not in self.payers:
                await _register_payer(tx, payer)
            await tx.run(_DROP_FROM_LEDGER, payer=payer, keys=[key])
            await tx.run(_PLAN, payer=payer, key=key, due=to_micros(due), value=sealed)

        await self._database.write(SCOPE, job, actor=NODE)
        self.payers.add(payer)

    async def register_payer(self, payer: str) -> None:
        """Add a payer to those that something happens with."""
        if payer not in self.payers:
            await self._database.write(SCOPE, lambda tx: _register_payer(tx, payer), actor=NODE)
            self.payers.add(payer)

    async def next_due(self, after: datetime) -> datetime | None:
        """Return the earliest time after this one on any payer's agenda."""
        async with self._database.read(SCOPE) as tx:
            row = await tx.row(_NEXT, after=to_micros(after))
        return None if row is None or row[0] is None else from_micros(row[0])

    def _seal(self, payer: str, key: str, value: bytes) -> bytes:
        return self._vault.seal(OWNER, TABLE, f"{payer}\n{key}", value)

    def _open(self, payer: str, key: str, sealed: bytes) -> bytes:
        return self._vault.open(OWNER, TABLE, f"{payer}\n{key}", sealed)


class StoredEnrollmentAgenda:
    """When simulated payers answer which enrollments, by their calendar: survives a crash, shared by all nodes.

    Planned in the transaction that stores an enrollment, and finished in the one that records the answer.
    """

    def __init__(self, calendar: Callable[[], datetime], wait: timedelta) -> None:
        """``wait`` is the length of the calendar until payers answer."""
        self._calendar = calendar
        self._wait = wait

    async def plan(self, tx: Tx, ids: Sequence[str]) -> None:
        """Plan an answer to enrollments; one that is planned already keeps its day."""
        due = to_micros(self._calendar() + self._wait)
        rows = [
            {"payer": ENROLLMENTS, "key": id, "due": due, "value": b""} for id in sorted({*ids})
        ]
        await tx.many(_PLAN_ONCE, rows)

    async def due(self, tx: Tx, most: int) -> list[str]:
        """Return the ids of enrollments that are to be answered now, the earliest first."""
        now = to_micros(self._calendar())
        return [id for id, _ in await tx.rows(_DUE, payer=ENROLLMENTS, now=now, most=most)]

    async def finish(self, tx: Tx, id: str) -> None:
        """Remove an enrollment that was answered."""
        await tx.run(_DROP_FROM_AGENDA, payer=ENROLLMENTS, keys=[id])


async def _register_payer(tx: Tx, payer: str) -> None:
    """Record a payer: nodes poll the mailboxes of registered payers, and of no others."""
    await bump_revision(tx, REVISION)
    await tx.run(_SET, name=PAYER_PREFIX + payer, value=b"")


class PayerLocks:
    """A lock per payer: one task of one node at a time works for it.

    The nodes of one PostgreSQL record who holds a lock. One held by a dead node, or by this node
    before its restart, is ignored. An installation on SQLite is one process and needs no row.
    """

    def __init__(self, database: Database, node: str) -> None:
        self._database = database
        self._node = node
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @asynccontextmanager
    async def exclusive(self, payer: str) -> AsyncIterator[None]:
        """Hold the lock of a payer."""
        async with self._locks[payer]:
            if self._database.dialect == "sqlite":
                yield
                return
            await self._acquire(payer)
            try:
                yield
            finally:
                await self._set(payer, "")

    async def _acquire(self, payer: str) -> None:
        end = time.monotonic() + SANDBOX_LOCK_SECONDS_MAX
        while not await self._database.write(
            SCOPE, lambda tx: self._try_acquire(tx, payer), actor=Actor("node", self._node)
        ):
            if time.monotonic() > end:
                raise DatabaseUnavailable("another node holds the lock of this sandbox payer")
            await asyncio.sleep(limits.REVISION_WAIT_POLL_SECONDS)

    async def _try_acquire(self, tx: Tx, payer: str) -> bool:
        name = LOCK_PREFIX + payer
        await tx.run(_ENSURE, name=name, value=b"")
        row = require_row(await tx.row(_LOCKED, name=name), "the lock of a sandbox payer")
        holder = bytes(row[0]).decode()
        if holder not in {"", self._node} and holder in {node.id for node in await live_nodes(tx)}:
            return False
        await tx.run(_CHANGE, state=name, content=self._node.encode())
        return True

    async def _set(self, payer: str, holder: str) -> None:
        await self._database.write(
            SCOPE,
            lambda tx: tx.run(_CHANGE, state=LOCK_PREFIX + payer, content=holder.encode()),
            actor=Actor("node", self._node),
        )


class StoredClock:
    """The state of the sandbox clock, shared by all nodes, which watch its revision."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> bytes | None:
        """Return the state, or None in a sandbox that was never started."""
        async with self._database.read(SCOPE) as tx:
            row = await tx.row(_STATE, name=CLOCK)
        return None if row is None else bytes(row[0])

    async def change(
        self, change: Callable[[bytes | None], bytes], description: str, actor: Actor
    ) -> bytes:
        """Replace the state by a function of it. Concurrent changes are serialized."""

        async def job(tx: Tx) -> bytes:
            # The revision first: its row lock makes another change wait until this one is stored.
            await bump_revision(tx, REVISION)
            row = await tx.row(_STATE, name=CLOCK)
            value = change(None if row is None else bytes(row[0]))
            await tx.run(_SET, name=CLOCK, value=value)
            tx.audit("sandbox.clock", detail=description)
            return value

        return await self._database.write(SCOPE, job, actor=actor)

    async def reset(self, state: bytes, actor: Actor) -> dict[str, int]:
        """Empty the sandbox and set the clock, in one transaction; return how many rows of each table there were."""

        async def job(tx: Tx) -> dict[str, int]:
            await bump_revision(tx, REVISION)
            counts = await empty_tables(tx)
            await tx.run(_SET, name=CLOCK, value=state)
            tx.audit("sandbox.reset", detail=f"{counts['claims']} claims")
            return counts

        return await self._database.write(SCOPE, job, actor=actor)

    async def wait_until_loaded(self, seconds: float = limits.NODES_WAIT_SECONDS_MAX) -> list[str]:
        """Wait until every live node has loaded the current state; return the ids of those that have not."""
        async with self._database.read(SCOPE) as tx:
            row = await tx.row(_REVISION)
        return await wait_until_loaded(self._database, REVISION, int(row[0]) if row else 0, seconds)


_GET_MANY = Statement(
    union_all(
        *(
            select(table.c.key, table.c.value).where(
                table.c.payer == bindparam("payer"), among(table.c.key, "keys")
            )
            for table in (sandbox_ledger, sandbox_agenda)
        )
    )
)
_GET = Statement(
    union_all(
        *(
            select(table.c.value).where(
                table.c.payer == bindparam("payer"), table.c.key == bindparam("key")
            )
            for table in (sandbox_ledger, sandbox_agenda)
        )
    )
)
_NEW_VALUE = insert_into(sandbox_ledger, "payer", "key", "value")
_PUT = Statement(
    _NEW_VALUE.on_conflict_do_update(
        index_elements=["payer", "key"], set_={"value": _NEW_VALUE.excluded.value}
    )
)
_NEW_ENTRY = insert_into(sandbox_agenda, "payer", "key", "due", "value")
_PLAN = Statement(
    _NEW_ENTRY.on_conflict_do_update(
        index_elements=["payer", "key"],
        set_={"due": _NEW_ENTRY.excluded.due, "value": _NEW_ENTRY.excluded.value},
    )
)
_PLAN_ONCE = Statement(_NEW_ENTRY.on_conflict_do_nothing())
_DROP_FROM_LEDGER, _DROP_FROM_AGENDA = (
    Statement(delete(table).where(table.c.payer == bindparam("payer"), among(table.c.key, "keys")))
    for table in (sandbox_ledger, sandbox_agenda)
)
_DUE = Statement(
    select(sandbox_agenda.c.key, sandbox_agenda.c.value)
    .where(sandbox_agenda.c.payer == bindparam("payer"), sandbox_agenda.c.due <= bindparam("now"))
    .order_by(sandbox_agenda.c.due, sandbox_agenda.c.key)
    .limit(bindparam("most"))
)
_NEXT = Statement(
    select(func.min(sandbox_agenda.c.due)).where(sandbox_agenda.c.due > bindparam("after"))
)
_STATE = Statement(select(sandbox_state.c.value).where(sandbox_state.c.name == bindparam("name")))
_LOCKED = Statement(
    select(sandbox_state.c.value).where(sandbox_state.c.name == bindparam("name")).with_for_update()
)
_REVISION = Statement(select(revisions.c.revision).where(revisions.c.name == REVISION))
_PAYERS = Statement(
    select(sandbox_state.c.name).where(sandbox_state.c.name.startswith(PAYER_PREFIX))
)
_NEW_STATE = insert_into(sandbox_state, "name", "value")
_ENSURE = Statement(_NEW_STATE.on_conflict_do_nothing())
_SET = Statement(
    _NEW_STATE.on_conflict_do_update(
        index_elements=["name"], set_={"value": _NEW_STATE.excluded.value}
    )
)
_CHANGE = Statement(
    update(sandbox_state)
    .where(sandbox_state.c.name == bindparam("state"))
    .values(value=bindparam("content"))
)
