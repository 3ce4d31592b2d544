"""Who goes on with the work of a node that died, and what is done with work that kills its nodes.

Reads heartbeats, moves begun work back to its queue, counts how often, and parks what was moved too
often until a person releases it. Knows work by id; the engine's library fences the node that was
taken from: should it wake, it can record no further step.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

import structlog
from sqlalchemy import BigInteger, bindparam, delete, select, update

from clearlane.engine.workflow_client import CANCELLED, ENDED, Ledger, Work
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock, SystemClock
from clearlane.store.database import Actor, Database, Tx
from clearlane.store.schema import nodes, takeovers
from clearlane.store.sql import Statement, System, among, database_now, insertion

log = structlog.get_logger()

Changed = TypeVar("Changed")

SWEEP = System("work of dead nodes is taken over, whoever it belongs to")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How soon a node counts as dead, and how long things are kept."""

    heartbeat_seconds: int
    dead_node_seconds: int
    takeovers_max: int
    finished_work_days: int


@dataclass(frozen=True, slots=True)
class Parked:
    """Work that waits for a person."""

    work: str
    takeovers: int
    last_node: str

    @property
    def reason(self) -> str:
        """Why it was parked, as a sentence."""
        return f"{self.takeovers} nodes died while they did it; the last was {self.last_node}."


class Takeover:
    """The rules of taking over, for one node."""

    def __init__(
        self,
        database: Database,
        ledger: Ledger,
        pace: Pace,
        *,
        node: str,
        queue_of: Mapping[str, str],
        ticks: frozenset[str],
        # Not the clock of the desk, which a sandbox moves: a moved clock kills no node.
        clock: Clock | None = None,
    ) -> None:
        self._database, self._ledger, self._pace = database, ledger, pace
        self._node, self._queue_of, self._ticks = node, queue_of, ticks
        self._clock = clock or SystemClock()
        self._actor = Actor("node", node)

    async def sweep(self) -> int:
        """Take over what silent nodes had begun; how much it was.

        A node without a heartbeat row has gone as well: it stopped, or its row was cleared away.
        """
        silent = self._pace.dead_node_seconds * 1_000_000
        # The work first: a node that beats for the first time after this look has none in the list.
        begun = [work for work in await self._ledger.started() if work.node != self._node]
        async with self._database.read(SWEEP) as tx:
            living = {row[0] for row in await tx.rows(_LIVING, silent=silent)}
        orphans = [work for work in begun if work.node not in living]
        for work in orphans:
            await self._take(work, silent=silent)
        return len(orphans)

    async def adopt(self, *, alive: str) -> int:
        """Take over everything begun and bury every other node: for the one node there is, at its start."""
        begun = await self._ledger.started()
        for work in begun:
            await self._take(work, silent=0)
        await self._change(lambda tx: tx.run(_BURY_OTHERS, id=alive))
        return len(begun)

    async def hand_over(self) -> None:
        """Put what this node had begun back on its queue, without counting: it leaves in good order."""
        for work in await self._ledger.started(node=self._node):
            if work.name in self._ticks:
                await self._ledger.cancel(work.id)
            else:
                await self._ledger.resume(work.id, queue=self._queue(work))

    async def parked(self) -> list[Parked]:
        """What waits for a person, in the order it was parked."""
        async with self._database.read(SWEEP) as tx:
            return [Parked(*row) for row in await tx.rows(_PARKED)]

    async def release(self, work: str) -> bool:
        """Let parked work go on from its last finished step; whether there was such work."""
        found = await self._ledger.find(work)

        async def forgive(tx: Tx) -> int:
            touched = await tx.run(_FORGIVE, work_id=work)
            if touched:
                tx.audit("work.release", ids=[work])
            return touched

        if not await self._change(forgive):
            return False
        if found:
            await self._ledger.resume(work, queue=self._queue(found))
        return True

    async def purge(self) -> int:
        """Forget work that ended long ago and ticks that ended lately; how much it was.

        Parked work is kept: it ended for the engine, not for the person who has to look at it.
        """
        kept = timedelta(days=self._pace.finished_work_days)
        now = self._clock.now()
        ticks = min(kept, timedelta(seconds=limits.TICKS_KEPT_SECONDS))
        forgotten = await self._forget(now - ticks, names=self._ticks, states=(*ENDED, CANCELLED))
        forgotten += await self._forget(now - kept, names=None, states=ENDED)
        await self._change(
            lambda tx: tx.run(_BURY, silent=limits.DEAD_NODE_KEPT_SECONDS * 1_000_000)
        )
        return forgotten

    async def _take(self, work: Work, *, silent: int) -> None:
        if work.name in self._ticks:
            # The next tick does the work of this one.
            await self._ledger.cancel(work.id)
            return
        count = await self._change(lambda tx: self._claim(tx, work, silent))
        if count is None:
            return
        if count > self._pace.takeovers_max:
            await self._ledger.cancel(work.id)
        else:
            await self._ledger.resume(work.id, queue=self._queue(work))
        log.warning("work taken over", work=work.id, from_node=work.node, takeovers=count)

    async def _claim(self, tx: Tx, work: Work, silent: int) -> int | None:
        """Count a takeover; None when another node has just taken it.

        Two takeovers of the same work are at least the silence apart that makes a node dead, so a
        younger one is another node's, and taking it again would take it from the living.
        """
        row = await tx.row(
            _CLAIM, work_id=work.id, from_node=work.node, node=self._node, silent=silent
        )
        if row is None:
            return None
        if row[0] > self._pace.takeovers_max:
            await tx.run(_PARK, work_id=work.id)
            tx.audit("work.park", ids=[work.id], count=row[0])
        return int(row[0])

    async def _forget(
        self, before: datetime, *, names: Iterable[str] | None, states: Iterable[str]
    ) -> int:
        forgotten = 0
        while ended := await self._ledger.ended(before, names=names, states=states):
            ids = [work.id for work in ended]
            await self._ledger.forget(ids)
            await self._change(partial(_forget_counts, ids=ids))
            forgotten += len(ids)
        return forgotten

    async def _change(self, job: Callable[[Tx], Awaitable[Changed]]) -> Changed:
        return await self._database.write(SWEEP, job, actor=self._actor)

    def _queue(self, work: Work) -> str:
        return self._queue_of.get(work.name) or work.queue


async def _forget_counts(tx: Tx, ids: list[str]) -> int:
    return await tx.run(_FORGET, ids=ids)


_LIVING = Statement(
    select(nodes.c.id).where(
        nodes.c.seen_at > database_now() - bindparam("silent", type_=BigInteger())
    )
)
_BURY = Statement(
    delete(nodes).where(nodes.c.seen_at < database_now() - bindparam("silent", type_=BigInteger()))
)
_BURY_OTHERS = Statement(delete(nodes).where(nodes.c.id != bindparam("id")))
_COUNT = insertion(takeovers, "work_id", "from_node", "node").values(
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
_FORGIVE = Statement(
    delete(takeovers).where(takeovers.c.work_id == bindparam("work_id"), takeovers.c.parked == 1)
)
_FORGET = Statement(delete(takeovers).where(among(takeovers.c.work_id, "ids")))
_PARKED = Statement(
    select(takeovers.c.work_id, takeovers.c.count, takeovers.c.from_node)
    .where(takeovers.c.parked == 1)
    .order_by(takeovers.c.at)
)
