"""Work that stopped because the nodes that did it kept dying: list it, and let it go on.

Node recovery parks it. Needs no running engine, so that a command can release it. Knows work by id.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import bindparam, delete, select

from clearlane.engine.workflow_client import CANCELLED, WorkflowClient
from clearlane.store.database import Actor, Database, Tx
from clearlane.store.schema import takeovers
from clearlane.store.sql import Statement, SystemScope

PARKED_LISTED_MAX = 500

SCOPE = SystemScope("parked work is released, whoever it belongs to")


@dataclass(frozen=True, slots=True)
class ParkedWork:
    """Work that waits for a person to release it."""

    work: str
    takeovers: int
    last_node: str
    parked_at: int

    @property
    def reason(self) -> str:
        """The reason, as a sentence."""
        return f"{self.takeovers} nodes died while they did it; the last was {self.last_node}."


async def list_parked_work(database: Database) -> list[ParkedWork]:
    """Return parked work, in the order in which it was parked."""
    async with database.read(SCOPE) as tx:
        return [ParkedWork(*row) for row in await tx.rows(_PARKED)]


async def release_parked_work(
    database: Database,
    client: WorkflowClient,
    work: str,
    *,
    queue_of: Mapping[str, str],
    actor: Actor,
) -> bool:
    """Continue parked work at its first unfinished step; return whether there was such work.

    It is put on its queue first and counted as released afterwards: a command that dies in between leaves it listed,
    and releasing it again does the rest.
    """
    async with database.read(SCOPE) as tx:
        if await tx.row(_IS_PARKED, work_id=work) is None:
            return False
    found = await client.find(work)
    if found is not None and found.state == CANCELLED:
        await client.resume(work, queue=queue_of.get(found.name) or found.queue)

    async def unpark(tx: Tx) -> bool:
        if not await tx.run(_UNPARK, work_id=work):
            return False  # somebody else has just released it
        tx.audit("work.release", ids=[work])
        return True

    return await database.write(SCOPE, unpark, actor=actor)


_PARKED = Statement(
    select(takeovers.c.work_id, takeovers.c.count, takeovers.c.from_node, takeovers.c.at)
    .where(takeovers.c.parked == 1)
    .order_by(takeovers.c.at)
    .limit(PARKED_LISTED_MAX)
)
_IS_PARKED = Statement(
    select(takeovers.c.work_id).where(
        takeovers.c.work_id == bindparam("work_id"), takeovers.c.parked == 1
    )
)
_UNPARK = Statement(
    delete(takeovers).where(takeovers.c.work_id == bindparam("work_id"), takeovers.c.parked == 1)
)
