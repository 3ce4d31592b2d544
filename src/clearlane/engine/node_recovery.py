"""Recover the work of nodes that died, and park work that kills its nodes.

Reads heartbeats, puts started work back on its queue, counts how often, and parks what was taken over too often until
a person releases it. Knows work by id. The library fences the node that lost the work: if it wakes, it cannot
record a further step.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from sqlalchemy import BigInteger, bindparam, delete, select, update

from clearlane.engine.parked_work import (
    ParkedWork,
    discard_parked_work,
    list_parked_work,
    release_parked_work,
)
from clearlane.engine.workflow_client import CANCELLED, ENDED, QueuedWork, WorkflowClient
from clearlane.kernel.clock import Clock, SystemClock
from clearlane.kernel.log import get_logger
from clearlane.store.database.database import Actor, Database, Tx
from clearlane.store.database.schema import nodes, takeovers
from clearlane.store.database.sql import Statement, SystemScope, among, database_now, insert_into
from clearlane.store.installation.nodes import live_nodes

log = get_logger()

TICKS_KEPT_SECONDS = 3_600
DEAD_NODE_KEPT_SECONDS = 86_400

Changed = TypeVar("Changed")

FindFinished = Callable[[Sequence[ParkedWork]], Awaitable[list[str]]]
"""Returns the ids of parked work that nothing is left to do for."""

SWEEP = SystemScope("work of dead nodes is taken over, whoever it belongs to")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoverySettings:
    """When a node counts as dead, and how long work is kept."""

    heartbeat_seconds: int
    dead_node_seconds: int
    takeovers_max: int
    finished_work_days: int


class NodeRecovery:
    """Recovers the work of other nodes for one node."""

    def __init__(
        self,
        database: Database,
        client: WorkflowClient,
        settings: RecoverySettings,
        *,
        node: str,
        queue_of: Mapping[str, str],
        ticks: frozenset[str],
        find_finished: FindFinished | None = None,
        # Not the clock of the context: advancing a sandbox must not make nodes look dead.
        clock: Clock | None = None,
    ) -> None:
        self._database, self._client, self._settings = database, client, settings
        self._node, self._queue_of, self._ticks = node, queue_of, ticks
        self._find_finished = find_finished
        self._clock = clock or SystemClock()
        self._actor = Actor("node", node)
        self._wrong_clocks: set[str] = set()

    async def sweep(self) -> int:
        """Take over what nodes without a recent heartbeat had started; return how much it was.

        A node without a row is gone as well: it stopped, or its row was deleted.
        """
        silent = self._settings.dead_node_seconds * 1_000_000
        # Work first, nodes second: a node that registers in between has no work in the list.
        started = [work for work in await self._client.started() if work.node != self._node]
        async with self._database.read(SWEEP) as tx:
            living = {row[0] for row in await tx.rows(_LIVING, silent=silent)}
            clocks = {node.id: node.clock_warning for node in await live_nodes(tx)}
        self._log_clocks(clocks)
        orphans = [work for work in started if work.node not in living]
        for work in orphans:
            await self._take_over(work, silent=silent)
        await self.discard_finished()
        return len(orphans)

    async def discard_finished(self) -> None:
        """Delete parked work whose batch or file other work has finished."""
        parked = await self.parked() if self._find_finished else []
        if self._find_finished and parked and (works := await self._find_finished(parked)):
            await discard_parked_work(self._database, self._client, works, actor=self._actor)
            log.info("parked work finished", count=len(works))

    def _log_clocks(self, clocks: Mapping[str, str]) -> None:
        """Log once that a node's clock differs from the database's, and again after it agreed."""
        for node, warning in clocks.items():
            if warning and node not in self._wrong_clocks:
                log.warning("clock differs", node=node, reason=warning)
        self._wrong_clocks = {node for node, warning in clocks.items() if warning}

    async def adopt(self, *, alive: str) -> int:
        """Take over all started work and delete all other nodes: at the start of the only node."""
        started = await self._client.started()
        for work in started:
            await self._take_over(work, silent=0)
        await self._write(lambda tx: tx.run(_DELETE_OTHER_NODES, id=alive))
        return len(started)

    async def hand_over(self) -> None:
        """Put what this node had started back on its queue. Not counted as a takeover: the node stops in order."""
        for work in await self._client.started(node=self._node):
            if work.name in self._ticks:
                await self._client.cancel(work.id)
            else:
                await self._client.resume(work.id, queue=self._queue(work))

    async def parked(self) -> list[ParkedWork]:
        """Return parked work, in the order in which it was parked."""
        return await list_parked_work(self._database)

    async def release(self, work: str) -> bool:
        """Continue parked work at its first unfinished step; return whether there was such work."""
        return await release_parked_work(
            self._database, self._client, work, queue_of=self._queue_of, actor=self._actor
        )

    async def purge(self) -> int:
        """Delete work that ended long ago and schedule runs that ended lately; return how much it was.

        Parked work is kept: a person has to look at it.
        """
        kept = timedelta(days=self._settings.finished_work_days)
        now = self._clock.now()
        ticks = min(kept, timedelta(seconds=TICKS_KEPT_SECONDS))
        deleted = await self._delete_ended(
            now - ticks, names=self._ticks, states=(*ENDED, CANCELLED)
        )
        deleted += await self._delete_ended(now - kept, names=None, states=ENDED)
        await self._write(
            lambda tx: tx.run(_DELETE_SILENT_NODES, silent=DEAD_NODE_KEPT_SECONDS * 1_000_000)
        )
        return deleted

    async def _take_over(self, work: QueuedWork, *, silent: int) -> None:
        if work.name in self._ticks:
            # The next run of the schedule does the same work.
            await self._client.cancel(work.id)
            return
        count = await self._write(lambda tx: self._count_takeover(tx, work, silent))
        if count is None:
            return
        if count > self._settings.takeovers_max:
            await self._client.cancel(work.id)
        else:
            await self._client.resume(work.id, queue=self._queue(work))
        log.warning("work taken over", work=work.id, from_node=work.node, takeovers=count)

    async def _count_takeover(self, tx: Tx, work: QueuedWork, silent: int) -> int | None:
        """Count a takeover and return the count; return None when another node has just taken over.

        A node must be silent for a while to count as dead, so a takeover younger than that was made by a node that is
        alive.
        """
        row = await tx.row(
            _CLAIM, work_id=work.id, from_node=work.node, node=self._node, silent=silent
        )
        if row is None:
            return None
        if row[0] > self._settings.takeovers_max:
            await tx.run(_PARK, work_id=work.id)
            tx.audit("work.park", ids=[work.id], count=row[0])
        return int(row[0])

    async def _delete_ended(
        self, before: datetime, *, names: Iterable[str] | None, states: Iterable[str]
    ) -> int:
        deleted = 0
        while ended := await self._client.ended(before, names=names, states=states):
            ids = [work.id for work in ended]
            await self._client.delete(ids)
            await self._write(partial(_delete_takeovers, ids=ids))
            deleted += len(ids)
        return deleted

    async def _write(self, job: Callable[[Tx], Awaitable[Changed]]) -> Changed:
        return await self._database.write(SWEEP, job, actor=self._actor)

    def _queue(self, work: QueuedWork) -> str:
        return self._queue_of.get(work.name) or work.queue


async def _delete_takeovers(tx: Tx, ids: list[str]) -> int:
    return await tx.run(_DELETE_TAKEOVERS, ids=ids)


_LIVING = Statement(
    select(nodes.c.id).where(
        nodes.c.seen_at > database_now() - bindparam("silent", type_=BigInteger())
    )
)
_DELETE_SILENT_NODES = Statement(
    delete(nodes).where(nodes.c.seen_at < database_now() - bindparam("silent", type_=BigInteger()))
)
_DELETE_OTHER_NODES = Statement(delete(nodes).where(nodes.c.id != bindparam("id")))
_COUNT = insert_into(takeovers, "work_id", "from_node", "node").values(
    count=1, at=database_now(), parked=0
)
_CLAIM = Statement(
    _COUNT.on_conflict_do_update(
        index_elements=["work_id"],
        set_={
            "count": takeovers.c.count + 1,
            "from_node": _COUNT.excluded.from_node,
            "node": _COUNT.excluded.node,
            "at": database_now(),
        },
        where=takeovers.c.at <= database_now() - bindparam("silent", type_=BigInteger()),
    ).returning(takeovers.c.count)
)
_PARK = Statement(
    update(takeovers).values(parked=1).where(takeovers.c.work_id == bindparam("work_id"))
)
_DELETE_TAKEOVERS = Statement(delete(takeovers).where(among(takeovers.c.work_id, "ids")))
