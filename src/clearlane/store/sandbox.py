"""A sandbox as rows: what its payers know, whose turn it is to work for one of them, and how time runs.

What payers keep are whole claims, so every value is sealed for its key; keys hold nothing of a patient. Knows no
payer and no clock: the ledger's port and the state are bytes to it.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime

from sqlalchemy import bindparam, delete, func, select, union_all, update

from clearlane.kernel import limits
from clearlane.kernel.clock import micros, moment
from clearlane.store.database import Actor, Database, System, Tx, Unavailable
from clearlane.store.nodes import bump, living, wait_until_seen
from clearlane.store.schema import revisions, sandbox_agenda, sandbox_books, sandbox_state
from clearlane.store.sql import Statement, among, insertion
from clearlane.store.vault import Vault

REVISION = "sandbox"
SCOPE = System("a sandbox's payers and its clock belong to the installation")
OWNER = 0
"""Whose data key seals the values: the installation's, which is no vendor."""
TABLE = "sandbox"
CLOCK = "clock"
PAYER, TURN = "payer/", "turn/"
"""How the names of state begin that there is one of for each payer."""
NODE = Actor("node", "sandbox")


class StoredLedger:
    """What simulated payers know: a ledger that survives kills and is shared by all nodes.

    Keys are one space: an entry stands on the agenda since it was planned, until it is written plainly
    or deleted.
    """

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self._vault = vault
        self.payers: set[str] = set()
        """The payers that something happens with: those that were ever sent a file, or told how to behave."""

    async def load(self) -> None:
        """Learn which payers other nodes have sent something; again when the revision moves."""
        async with self._database.read(SCOPE) as tx:
            names = await tx.rows(_PAYERS)
        self.payers |= {name.removeprefix(PAYER) for (name,) in names}

    async def get(self, payer: str, key: str) -> bytes | None:
        """What stands under a key."""
        async with self._database.read(SCOPE) as tx:
            row = await tx.row(_GET, payer=payer, key=key)
            if row is not None:
                await self._vault.fetch(tx, [row[0]])
        return None if row is None else self._opened(payer, key, row[0])

    async def put(self, payer: str, entries: Mapping[str, bytes | None]) -> None:
        """Write entries, all or nothing; None deletes."""
        await self._vault.ready(OWNER)
        kept = [
            {"payer": payer, "key": key, "value": self._sealed(payer, key, value)}
            for key, value in entries.items()
            if value is not None
        ]
        gone = [key for key, value in entries.items() if value is None]

        async def job(tx: Tx) -> None:
            await tx.run(_OFF_AGENDA, payer=payer, keys=list(entries))
            if gone:
                await tx.run(_OFF_BOOKS, payer=payer, keys=gone)
            if kept:
                await tx.many(_KEEP, kept)

        await self._database.write(SCOPE, job, actor=NODE)

    async def due(self, payer: str, now: datetime, most: int) -> list[tuple[str, bytes]]:
        """Entries of the agenda whose time has come, earliest first."""
        async with self._database.read(SCOPE) as tx:
            rows = await tx.rows(_DUE, payer=payer, now=micros(now), most=most)
            await self._vault.fetch(tx, [value for _, value in rows])
        return [(key, self._opened(payer, key, value)) for key, value in rows]

    async def plan(self, payer: str, key: str, due: datetime, value: bytes) -> None:
        """Put an entry on the agenda; the same key replaces."""
        await self._vault.ready(OWNER)
        sealed = self._sealed(payer, key, value)

        async def job(tx: Tx) -> None:
            if payer not in self.payers:
                await _meet(tx, payer)
            await tx.run(_OFF_BOOKS, payer=payer, keys=[key])
            await tx.run(_PLAN, payer=payer, key=key, due=micros(due), value=sealed)

        await self._database.write(SCOPE, job, actor=NODE)
        self.payers.add(payer)

    async def meet(self, payer: str) -> None:
        """Count a payer among those that something happens with."""
        if payer not in self.payers:
            await self._database.write(SCOPE, lambda tx: _meet(tx, payer), actor=NODE)
            self.payers.add(payer)

    async def next_due(self, after: datetime) -> datetime | None:
        """The earliest moment after this one on any payer's agenda."""
        async with self._database.read(SCOPE) as tx:
            row = await tx.row(_NEXT, after=micros(after))
        return None if row is None or row[0] is None else moment(row[0])

    def _sealed(self, payer: str, key: str, value: bytes) -> bytes:
        return self._vault.seal(OWNER, TABLE, f"{payer}\n{key}", value)

    def _opened(self, payer: str, key: str, sealed: bytes) -> bytes:
        return self._vault.open(OWNER, TABLE, f"{payer}\n{key}", sealed)


async def _meet(tx: Tx, payer: str) -> None:
    """Nodes look into the mailboxes of the payers they have met, and of no others."""
    await bump(tx, REVISION)
    await tx.run(_SET, name=PAYER + payer, value=b"")


class Turns:
    """Who works for a payer: one task of one node at a time.

    The nodes of one PostgreSQL write down who has the turn. The word of a node that is dead, or this
    node's own from before, binds nobody. An installation on SQLite is one process and needs no row.
    """

    def __init__(self, database: Database, node: str) -> None:
        self._database = database
        self._node = node
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @asynccontextmanager
    async def turn(self, payer: str) -> AsyncIterator[None]:
        """Have a payer for oneself."""
        async with self._locks[payer]:
            if self._database.dialect == "sqlite":
                yield
                return
            await self._take(payer)
            try:
                yield
            finally:
                await self._set(payer, "")

    async def _take(self, payer: str) -> None:
        end = time.monotonic() + limits.SANDBOX_TURN_SECONDS_MAX
        while not await self._database.write(
            SCOPE, lambda tx: self._taken(tx, payer), actor=Actor("node", self._node)
        ):
            if time.monotonic() > end:
                raise Unavailable("another node has the turn of this sandbox payer")
            await asyncio.sleep(limits.REVISION_LOOK_SECONDS)

    async def _taken(self, tx: Tx, payer: str) -> bool:
        name = TURN + payer
        await tx.run(_ENSURE, name=name, value=b"")
        row = await tx.row(_LOCKED, name=name)
        assert row is not None
        holder = bytes(row[0]).decode()
        if holder not in {"", self._node} and holder in {node.id for node in await living(tx)}:
            return False
        await tx.run(_CHANGE, state=name, content=self._node.encode())
        return True

    async def _set(self, payer: str, holder: str) -> None:
        await self._database.write(
            SCOPE,
            lambda tx: tx.run(_CHANGE, state=TURN + payer, content=holder.encode()),
            actor=Actor("node", self._node),
        )


class StoredClock:
    """How time runs, the same for all nodes: they watch its revision."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> bytes | None:
        """The state, or None in a sandbox that was never opened."""
        async with self._database.read(SCOPE) as tx:
            row = await tx.row(_STATE, name=CLOCK)
        return None if row is None else bytes(row[0])

    async def change(
        self, change: Callable[[bytes | None], bytes], words: str, who: Actor
    ) -> bytes:
        """Replace the state by what is made of it. Two nodes change it one after the other."""

        async def job(tx: Tx) -> bytes:
            # The revision first: its row makes another change wait until this one is stored.
            await bump(tx, REVISION)
            row = await tx.row(_STATE, name=CLOCK)
            value = change(None if row is None else bytes(row[0]))
            await tx.run(_SET, name=CLOCK, value=value)
            tx.audit("sandbox.clock", detail=words)
            return value

        return await self._database.write(SCOPE, job, actor=who)

    async def reached(self, seconds: float = limits.NODES_WAIT_SECONDS_MAX) -> list[str]:
        """Wait until every living node runs on the time as it is now; the ids of those that do not."""
        async with self._database.read(SCOPE) as tx:
            row = await tx.row(_REVISION)
        return await wait_until_seen(self._database, REVISION, int(row[0]) if row else 0, seconds)


_GET = Statement(
    union_all(
        *(
            select(table.c.value).where(
                table.c.payer == bindparam("payer"), table.c.key == bindparam("key")
            )
            for table in (sandbox_books, sandbox_agenda)
        )
    )
)
_NEW_BOOK = insertion(sandbox_books, "payer", "key", "value")
_KEEP = Statement(
    _NEW_BOOK.on_conflict_do_update(
        index_elements=["payer", "key"], set_={"value": _NEW_BOOK.excluded.value}
    )
)
_NEW_ENTRY = insertion(sandbox_agenda, "payer", "key", "due", "value")
_PLAN = Statement(
    _NEW_ENTRY.on_conflict_do_update(
        index_elements=["payer", "key"],
        set_={"due": _NEW_ENTRY.excluded.due, "value": _NEW_ENTRY.excluded.value},
    )
)
_OFF_BOOKS, _OFF_AGENDA = (
    Statement(delete(table).where(table.c.payer == bindparam("payer"), among(table.c.key, "keys")))
    for table in (sandbox_books, sandbox_agenda)
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
_PAYERS = Statement(select(sandbox_state.c.name).where(sandbox_state.c.name.startswith(PAYER)))
_NEW_STATE = insertion(sandbox_state, "name", "value")
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
