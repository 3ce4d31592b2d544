"""Work that stopped because the nodes that did it kept dying: list it, let it go on, and discard what is finished.

Node recovery parks it, and discards it once other work has done the same. Needs no running engine, so that a command can release it. Knows work by id.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, delete, select

from clearlane.engine.workflow_client import CANCELLED, WorkflowClient
from clearlane.engine.workflows import NodeContext, Workflow
from clearlane.store.database.database import Actor, Database, Tx, list_rows
from clearlane.store.database.schema import takeovers
from clearlane.store.database.sql import Statement, SystemScope

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
        return await list_rows(tx, ParkedWork, _PARKED)


async def find_finished_work(
    context: NodeContext, workflows: Iterable[Workflow], parked: Sequence[ParkedWork]
) -> list[str]:
    """Return the parked work that nothing is left to do for: other work has finished its batch or file.

    The id of work begins with its name and the number of what it is about.
    """
    found: list[str] = []
    for workflow in workflows:
        if workflow.find_finished is None:
            continue
        work_of: dict[int, list[str]] = defaultdict(list)
        for one in parked:
            if match := re.fullmatch(rf"{re.escape(workflow.name)}-(\d{{1,18}})-.*", one.work):
                work_of[int(match[1])].append(one.work)
        if work_of:
            finished = await workflow.find_finished(context, sorted(work_of))
            found += [work for number in finished for work in work_of[number]]
    return found


async def discard_parked_work(
    database: Database, client: WorkflowClient, works: Sequence[str], *, actor: Actor
) -> None:
    """Delete parked work that is finished. The engine's rows go first: what is listed still can be deleted again."""
    await client.delete(list(works))

    async def job(tx: Tx) -> None:
        gone = [work for work in works if await tx.run(_UNPARK, work_id=work)]
        if gone:
            tx.audit("work.finished", ids=gone)

    await database.write(SCOPE, job, actor=actor)


async def release_parked_work(
    database: Database,
    client: WorkflowClient,
    work: str,
    *,
    queue_of: Mapping[str, str],
    actor: Actor,
) -> bool:
    """Continue parked work at its first unfinished step; return whether there was such work.

    It is put on its queue first and counted as released afterward: a command that dies in between leaves it listed,
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
            return False  # someone else has just released it
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
