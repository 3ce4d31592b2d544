"""Live nodes, and the revision of each snapshot that they have loaded.

The database is the channel between nodes and commands: a change bumps a revision in its own
transaction, nodes poll for changed revisions and record what they have loaded. Times are the
database's, so that the clocks of several machines do not matter. Knows no snapshot's content.
"""

import asyncio
import json
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sqlalchemy import BigInteger, bindparam, delete, select

from clearlane.kernel import limits
from clearlane.kernel.clock import Clock, SystemClock, to_micros
from clearlane.store.database.database import (
    Actor,
    Database,
    SystemScope,
    Tx,
    find_row,
    require_row,
)
from clearlane.store.database.schema import nodes, revisions
from clearlane.store.database.sql import Statement, database_now, insert_into
from clearlane.store.vault.keys import MasterKeys

HEARTBEATS_MISSED_MAX = 3

SCOPE = SystemScope("nodes and revisions belong to the installation")

Reload = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Node:
    """A registered node."""

    id: str
    role: str
    host: str
    loaded: dict[str, int]
    master_keys: tuple[str, ...]
    clock_ahead_micros: int = 0
    """By how much its clock is ahead of the database's; below 0 it is behind."""

    @property
    def clock_warning(self) -> str:
        """What is wrong with its clock; empty if it agrees with the database's."""
        seconds = self.clock_ahead_micros / 1_000_000
        if abs(seconds) <= limits.CLOCK_DIFFERENCE_SECONDS_MAX:
            return ""
        where = "ahead of" if seconds > 0 else "behind"
        return f"The clock of node {self.id} is {abs(seconds):.0f} seconds {where} the database's: set it by NTP."


class NodeRegistration:
    """This node's row: its heartbeat, and the revisions it has loaded."""

    def __init__(
        self,
        database: Database,
        *,
        id: str,
        role: str,
        heartbeat_seconds: float,
        keys: MasterKeys,
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self.id = id
        self._database = database
        self._role = role
        self._heartbeat_micros = int(heartbeat_seconds * 1_000_000)
        self._keys = keys
        self._reload: dict[str, Reload] = {}
        self._loaded: dict[str, int] = {}

    async def watch(self, name: str, reload: Reload) -> None:
        """Load a snapshot now, and again whenever its revision changes."""
        # The revision is read before the load: a change in between is loaded once more, never missed.
        before = (await self._revisions()).get(name, 0)
        await reload()
        self._reload[name] = reload
        self._loaded[name] = before

    async def heartbeat(self) -> None:
        """Record that this node is alive, and what it has loaded. The first heartbeat creates the row."""

        async def job(tx: Tx) -> None:
            await tx.run(
                _HEARTBEAT,
                id=self.id,
                role=self._role,
                host=socket.gethostname(),
                heartbeat_micros=self._heartbeat_micros,
                loaded=json.dumps(self._loaded),
                master_keys=",".join(self._keys.ids),
                node_now=to_micros(self._clock.now()),
            )

        await self._database.write(SCOPE, job, actor=Actor("node", self.id))

    async def reload_changed(self) -> list[str]:
        """Reload every snapshot whose revision changed, record that, and return their names."""
        current = await self._revisions()
        moved = [name for name in self._reload if current.get(name, 0) != self._loaded[name]]
        for name in moved:
            await self._reload[name]()
            self._loaded[name] = current.get(name, 0)
        if moved:
            await self.heartbeat()
        return moved

    async def deregister(self) -> None:
        """Delete the row: this node stops."""
        await self._database.write(
            SCOPE, lambda tx: tx.run(_DEREGISTER, id=self.id), actor=Actor("node", self.id)
        )

    async def _revisions(self) -> dict[str, int]:
        async with self._database.read(SCOPE) as tx:
            return dict(await tx.rows(_REVISIONS))


async def bump_revision(tx: Tx, name: str) -> int:
    """Increase a revision, in the transaction that changes its snapshot."""
    return require_row(await find_row(tx, int, _BUMP, name=name), "a revision")


async def live_nodes(tx: Tx) -> list[Node]:
    """Return the nodes whose last heartbeat is younger than three of their intervals."""
    return [
        Node(id, role, host, json.loads(loaded), tuple(filter(None, keys.split(","))), ahead)
        for id, role, host, loaded, keys, ahead in await tx.rows(_LIVE)
    ]


async def wait_until_loaded(
    database: Database, name: str, revision: int, timeout: float
) -> list[str]:
    """Wait until every live node that loads this snapshot has loaded the revision.

    Returns the ids of those that have not in time: an empty list is success.
    """
    return await wait_for_nodes(
        database,
        lambda node: name not in node.loaded or node.loaded[name] >= revision,
        timeout,
    )


async def wait_for_nodes(
    database: Database, ready: Callable[[Node], bool], timeout: float
) -> list[str]:
    """Wait until every live node is ready; return the ids of those that are not in time."""
    end = time.monotonic() + timeout
    while True:
        async with database.read(SCOPE) as tx:
            late = [node.id for node in await live_nodes(tx) if not ready(node)]
        if not late or time.monotonic() >= end:
            return late
        await asyncio.sleep(limits.REVISION_WAIT_POLL_SECONDS)


_REVISIONS = Statement(select(revisions.c.name, revisions.c.revision))
_BUMP = Statement(
    insert_into(revisions, "name")
    .values(revision=1)
    .on_conflict_do_update(index_elements=["name"], set_={"revision": revisions.c.revision + 1})
    .returning(revisions.c.revision)
)
_NEW = insert_into(nodes, "id", "role", "host", "heartbeat_micros", "loaded", "master_keys").values(
    started_at=database_now(),
    seen_at=database_now(),
    clock_ahead_micros=bindparam("node_now", type_=BigInteger) - database_now(),
)
_HEARTBEAT = Statement(
    _NEW.on_conflict_do_update(
        index_elements=["id"],
        set_={
            "seen_at": database_now(),
            "clock_ahead_micros": _NEW.excluded.clock_ahead_micros,
            "loaded": _NEW.excluded.loaded,
            "master_keys": _NEW.excluded.master_keys,
        },
    )
)
_DEREGISTER = Statement(delete(nodes).where(nodes.c.id == bindparam("id")))
_LIVE = Statement(
    select(
        nodes.c.id,
        nodes.c.role,
        nodes.c.host,
        nodes.c.loaded,
        nodes.c.master_keys,
        nodes.c.clock_ahead_micros,
    )
    .where(
        nodes.c.seen_at
        > database_now()
        - nodes.c.heartbeat_micros * bindparam("beats", HEARTBEATS_MISSED_MAX, BigInteger)
    )
    .order_by(nodes.c.id)
)
