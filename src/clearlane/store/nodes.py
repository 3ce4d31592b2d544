"""Which nodes live, and which state of the installation each of them has loaded.

The database is the channel between nodes and commands: a change bumps a revision in its own
transaction, nodes look for moved revisions and write down what they have loaded. Times are the
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
from clearlane.store.database import Actor, Database, System, Tx
from clearlane.store.keys import MasterKeys
from clearlane.store.schema import nodes, revisions
from clearlane.store.sql import Statement, database_now, insertion

NODES = System("nodes and revisions belong to the installation")

Reload = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Node:
    """A node as its row tells it."""

    id: str
    role: str
    host: str
    loaded: dict[str, int]
    master_keys: tuple[str, ...]


class Nodes:
    """This node's row: its heartbeat, and the revisions it has loaded."""

    def __init__(
        self, database: Database, *, id: str, role: str, beat_seconds: float, keys: MasterKeys
    ) -> None:
        self.id = id
        self._database = database
        self._role = role
        self._beat_micros = int(beat_seconds * 1_000_000)
        self._keys = keys
        self._reload: dict[str, Reload] = {}
        self._loaded: dict[str, int] = {}

    async def watch(self, name: str, reload: Reload) -> None:
        """Load a snapshot now, and again whenever its revision moves."""
        # The revision is read before the load: a change in between is loaded once more, never missed.
        before = (await self._revisions()).get(name, 0)
        await reload()
        self._reload[name] = reload
        self._loaded[name] = before

    async def beat(self) -> None:
        """Say that this node lives, and what it has loaded. The first beat makes the row."""

        async def job(tx: Tx) -> None:
            await tx.run(
                _BEAT,
                id=self.id,
                role=self._role,
                host=socket.gethostname(),
                beat_micros=self._beat_micros,
                loaded=json.dumps(self._loaded),
                master_keys=",".join(self._keys.ids),
            )

        await self._database.write(NODES, job, actor=Actor("node", self.id))

    async def poll(self) -> list[str]:
        """Reload every snapshot whose revision moved, write that down, and name them."""
        current = await self._revisions()
        moved = [name for name in self._reload if current.get(name, 0) != self._loaded[name]]
        for name in moved:
            await self._reload[name]()
            self._loaded[name] = current.get(name, 0)
        if moved:
            await self.beat()
        return moved

    async def leave(self) -> None:
        """Take the row away: this node stops."""
        await self._database.write(
            NODES, lambda tx: tx.run(_LEAVE, id=self.id), actor=Actor("node", self.id)
        )

    async def _revisions(self) -> dict[str, int]:
        async with self._database.read(NODES) as tx:
            return dict(await tx.rows(_REVISIONS))


async def bump(tx: Tx, name: str) -> int:
    """Move a revision in the transaction that changes what it stands for."""
    row = await tx.row(_BUMP, name=name)
    assert row is not None
    return int(row[0])


async def living(tx: Tx) -> list[Node]:
    """The nodes whose heartbeat is younger than three of their beats."""
    return [
        Node(id, role, host, json.loads(loaded), tuple(filter(None, keys.split(","))))
        for id, role, host, loaded, keys in await tx.rows(_LIVING)
    ]


async def wait_until_seen(
    database: Database, name: str, revision: int, timeout: float
) -> list[str]:
    """Wait until every living node that loads this snapshot has loaded the revision.

    Gives the ids of those that have not in time: an empty list is success.
    """
    return await wait_for_nodes(
        database,
        lambda node: name not in node.loaded or node.loaded[name] >= revision,
        timeout,
    )


async def wait_for_nodes(
    database: Database, ready: Callable[[Node], bool], timeout: float
) -> list[str]:
    """Wait until every living node is ready; give the ids of those that are not in time."""
    end = time.monotonic() + timeout
    while True:
        async with database.read(NODES) as tx:
            late = [node.id for node in await living(tx) if not ready(node)]
        if not late or time.monotonic() >= end:
            return late
        await asyncio.sleep(limits.REVISION_LOOK_SECONDS)


_REVISIONS = Statement(select(revisions.c.name, revisions.c.revision))
_BUMP = Statement(
    insertion(revisions, "name")
    .values(revision=1)
    .on_conflict_do_update(index_elements=["name"], set_={"revision": revisions.c.revision + 1})
    .returning(revisions.c.revision)
)
_NEW = insertion(nodes, "id", "role", "host", "beat_micros", "loaded", "master_keys").values(
    started_at=database_now(), seen_at=database_now()
)
_BEAT = Statement(
    _NEW.on_conflict_do_update(
        index_elements=["id"],
        set_={
            "seen_at": database_now(),
            "loaded": _NEW.excluded.loaded,
            "master_keys": _NEW.excluded.master_keys,
        },
    )
)
_LEAVE = Statement(delete(nodes).where(nodes.c.id == bindparam("id")))
_LIVING = Statement(
    select(nodes.c.id, nodes.c.role, nodes.c.host, nodes.c.loaded, nodes.c.master_keys)
    .where(
        nodes.c.seen_at
        > database_now()
        - nodes.c.beat_micros * bindparam("beats", limits.BEATS_MISSED_MAX, BigInteger)
    )
    .order_by(nodes.c.id)
)
